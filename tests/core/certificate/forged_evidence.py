"""Forge evidence, so that it contradicts itself, its check or its run."""

import numpy as np

from audit.checks.privacy_record import ways_of
from tests.core.certificate.forging import refused


@refused("counts more outputs than were drawn")
def _(c):
    """more guesses than outputs"""
    c.game("leak")["counts"]["left_abstain"] += 10**6


@refused("counts more outputs than its budget has")
def _(c):
    """a budget of 5 under thousands of guesses"""
    c.check("good")["settings"]["budget"] = c.planned("good")["budget"] = 5


@refused("counts more outputs than were drawn")
def _(c):
    """a billion training outputs"""
    c.game("good")["training"] = 10**9


@refused("counts more outputs than were drawn")
def _(c):
    """no outputs at all under a game"""
    c.check("good")["evidence"]["samples"] = 0


@refused("counts more outputs than were drawn")
def _(c):
    """10^12 guesses, so that a judge would ask for all memory"""
    c.game("leak")["counts"] = dict.fromkeys(c.game("leak")["counts"], 10**12)
    c.check("leak")["claim"]["delta"] = 0.5


@refused("fits more outputs than were drawn")
def _(c):
    """a law that was fitted on more outputs than were drawn"""
    for part in c.laws():
        part.update(fit_outputs=10**6, fit_resolution=(np.log(4 * 9 / 0.05) / 2e6) ** 0.5)


@refused("not tested as finely as it says")
def _(c):
    """a finer test of a law than its outputs allow"""
    c.laws()[0]["fit_resolution"] /= 10


@refused("not tested as finely as it says")
def _(c):
    """a law that was never fitted, with a p-value"""
    for part in c.laws():
        part.update(fit_outputs=0, fit_resolution=None, fit_pvalue=1.0)


@refused("fits more outputs than were drawn")
def _(c):
    """an invented law in place of a game, with no outputs"""
    law = {**c.laws()[0], "fit_outputs": 1, "fit_resolution": 1.8}
    c.check("leak")["evidence"].update(samples=0, ways=[{"way": "stated law", "laws": [law], "curve": None}])


@refused("looked twice in one way")
def _(c):
    """a second game beside the first"""
    c.check("good")["evidence"]["ways"].append({**c.game("good"), "training": 10})


@refused("does not state the law of each pair")
def _(c):
    """the law of the worst pair left out"""
    del c.laws()[1]


@refused("has a delta beyond its own bound")
def _(c):
    """a law whose delta is at most less than it is at least"""
    c.laws()[0].update(delta_lower_bound=0.5)


@refused("no game is planned to have its share")
def _(c):
    """more of the significance than the checkpoint has at which the time ended the game"""
    c.game("leak")["share"] = 0.9


@refused("coins are not those")
def _(c):
    """coins that no seed gives"""
    c.game("leak")["coins"] = [77, 5, 5]


@refused("coins are not those")
def _(c):
    """coins of another check"""
    c.game("leak")["coins"] = c.game("good")["coins"]


@refused("coins are not those")
def _(c):
    """coins of another stage of the same check"""
    c.game("leak")["coins"][-1] += 1


@refused("coins are not those")
def _(c):
    """another seed of the run"""
    c["settings"]["seed"] = 1


@refused("events are not those")
def _(c):
    """a game called two-sided, which doubles the delta that it may use"""
    assert c.game("one way")["one_sided"]
    c.game("one way")["one_sided"] = False


@refused("events are not those")
def _(c):
    """a game called one-sided"""
    c.game("good")["one_sided"] = True


@refused("events are not those")
def _(c):
    """an event called empty that was counted"""
    c.game("leak").update(plus="never", one_sided=True)


@refused("is not the event by which a game refuted it")
def _(c):
    """a witness of the other direction"""
    witness = c.check("leak")["witness"]
    witness["direction"] = {"left": "right", "right": "left"}[witness["direction"]]


@refused("is not the event by which a game refuted it")
def _(c):
    """a witness beside a PASS"""
    c.check("good")["witness"] = c.check("leak")["witness"]


@refused("speaks of a pair that is not listed")
def _(c):
    """a game on a pair that is not listed"""
    c.game("good")["pair"] = 7


@refused("its method brings no such evidence")
def _(c):
    """a game under the method that plays none"""
    c.check("good")["settings"]["method"] = "exact"


@refused("more anomalies than outputs")
def _(c):
    """more exceptions than outputs, which bars a FAIL by a law"""
    c.check("exact")["evidence"]["anomalies"] = {"raised": 10**9}


@refused("took more steps than outputs were drawn")
def _(c):
    """more steps of a sequential game than outputs"""
    c.way("early", "sequential game")["outcome"].update(steps=15_000, log_wealth=0.0, stopped="budget")


@refused("wealth is not the one against its claim")
def _(c):
    """a wealth too small to refute, beside a grid that says more"""
    c.way("early", "sequential game")["outcome"].update(log_wealth=0.0)


@refused("wealth is not the one against its claim")
def _(c):
    """epsilons that end before the claim's"""
    outcome = c.way("early", "sequential game")["outcome"]
    outcome.update(grid=outcome["grid"][:2], grid_log_wealth=[0.0, 0.0], log_wealth=0.0)


@refused("'much' is not a number")
def _(c):
    """words where a wealth is due"""
    c.way("early", "sequential game")["outcome"].update(grid_log_wealth=["much"])


@refused("does not follow from")
def _(c):
    """a point that the claimed curve does not imply"""
    c.check("curve")["evidence"]["tested"] = {"epsilon": 0.0, "delta": 0.0}


@refused("compares more outputs than were drawn")
def _(c):
    """more comparisons of outputs than outputs"""
    c.check("fresh")["evidence"]["comparisons"][0].update(lost=10**6)


@refused("drew more than its budget has")
def _(c):
    """more outputs than a budget"""
    c.check("fresh")["evidence"]["samples"] = 10**6


@refused("took more steps than its budget has")
def _(c):
    """a budget of 5 under hundreds of steps"""
    c.check("early")["settings"]["budget"] = c.planned("early")["budget"] = 5


@refused("its confirmation is not its share of the run's")
def _(c):
    """a refuted claim that is to be confirmed at a level that nothing reaches"""
    c.check("leak")["settings"]["confirmation"] = 1e-300


@refused("on fresh outputs, its game counts more outputs than were drawn")
def _(c):
    """more fresh guesses than fresh outputs"""
    ways_of(c.check("leak")["evidence"]["confirmation"])["guess game"]["counts"]["right_abstain"] += 10**6


@refused("on fresh outputs, its coins are not those of its seed and its name")
def _(c):
    """the coins of the first outputs for the fresh ones"""
    ways_of(c.check("leak")["evidence"]["confirmation"])["guess game"]["coins"] = c.game("leak")["coins"]


@refused("on fresh outputs, its coins are not those of its seed and its name")
def _(c):
    """fresh outputs for a claim that nothing refutes"""
    c.check("good")["evidence"]["confirmation"] = c.check("leak")["evidence"]["confirmation"]
