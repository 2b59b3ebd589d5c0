"""Forge the plan, the form, the verdicts or the digests; the last ones agree with themselves and are left alone."""

import json

import numpy as np

from audit.checks.allowance import name_key
from tests.core.certificate.forging import left_alone, refused

# Checks that are not those of the plan


@refused("was planned where")
def _(c):
    """a failing check deleted"""
    c.drop("leak")


@refused("not equal parts of the significance")
def _(c):
    """a failing check deleted, from the plan too"""
    c.drop("leak")
    c["plan"]["checks"].remove(c.planned("leak"))


@refused("add up to")
def _(c):
    """a failing check deleted, and the plan called one of tests"""
    c.drop("leak")
    c.plan_again()
    c["plan"]["unspent"] = 0.0


@refused("not tested as finely as it says")
def _(c):
    """a failing check deleted, its share given to the others"""
    c.drop("leak")
    for check in c["checks"]:
        check["settings"]["significance"] = 0.05 / len(c["checks"])
    c.plan_again()


@refused("its expected is not the planned one")
def _(c):
    """a refuted claim that is now expected to FAIL"""
    c.check("leak")["expected"] = "FAIL"


@refused("its claim is not the planned one")
def _(c):
    """a weaker claim than was planned"""
    c.check("leak")["claim"]["epsilon"] = 9.0


@refused("its share is not the planned one")
def _(c):
    """a smaller significance for the check that fails"""
    c.check("leak")["settings"]["significance"] = 1e-12


@refused("its budget is not the planned one")
def _(c):
    """a budget of 10^12 for the run"""
    c["settings"]["budget"] = 10**12


@refused("add up to")
def _(c):
    """a larger significance of the run"""
    c["settings"]["significance"] = 0.5


@refused("listed 2 times")
def _(c):
    """a passing check in place of a failing one"""
    c["checks"][1] = c.check("good")
    c.plan_again()


@refused("was planned where")
def _(c):
    """checks in another order"""
    c["checks"].reverse()


@refused("no known relation is called 'os.system'")
def _(c):
    """a relation that nobody defines"""
    c.check("good")["claim"]["relation"] = "os.system"
    c.plan_again()


# Documents that contradict their own form, verdicts or digests


@refused("replay: leak: verdict", judged=False)
def _(c):
    """a verdict edited"""
    c.check("leak").update(verdict="PASS", witness=None)


@refused("replay: leak: epsilon_lower_bound", judged=False)
def _(c):
    """a bound edited"""
    c.check("leak")["epsilon_lower_bound"] = 0.1


@refused("verdict: says", judged=False)
def _(c):
    """the verdict of the run edited"""
    c["verdict"] = "PASS"


@refused("counts: says", judged=False)
def _(c):
    """the number of failing checks edited"""
    c["counts"]["FAIL"] = 0


@refused("significance_spent", judged=False)
def _(c):
    """the list of what was spent edited"""
    c["significance_spent"][0]["allotted"] /= 2


@refused("timing: names other checks", judged=False)
def _(c):
    """durations of other checks"""
    c["timing"] = {"other": 1.0}


@refused("schema: $: lacks chain, seal")
def _(c):
    """the digests removed"""
    del c["chain"], c["seal"]


@refused("schema: $.checks[0]")
def _(c):
    """a count beyond 2^53"""
    c.game("good")["counts"]["left_plus"] = 10**30


@refused("an integer has 40")
def _(c):
    """an integer of hundreds of digits"""
    return json.dumps(c).replace('"left_plus": ', f'"left_plus": {10**400 // 10}', 1)


@refused("a key is repeated")
def _(c):
    """a verdict stated twice, of which readers take one or the other"""
    return json.dumps(c).replace('{"name"', '{"verdict": "PASS", "name"', 1)


@refused("is not a number of JSON")
def _(c):
    """numbers that JSON does not have"""
    return json.dumps(c).replace('"left_plus": ', '"left_plus": NaN, "left_minus": ', 1)


MALFORMED = {
    "a number": 1,
    "a list as a name": {"name": ["good"]},
    "a list as a kind": {"kind": ["privacy"]},
    "no coins": ("guess game", {"coins": []}),
    "settings that are null": {"settings": None},
    "an expected verdict of no kind": {"expected": "MAYBE"},
    "evidence that is text": {"evidence": "samples"},
    "a pair that is a number": {"pairs": [7]},
}


@refused("schema: ", judged=False)
def _(c):
    """records that do not have their form"""
    c.check("good")["settings"] = None


# What agrees with itself


@left_alone
def _(c):
    """counts of a passing check in place of those of a failing one"""
    for part in ("counts", "calls", "training"):
        c.game("leak")[part] = c.game("good")[part]
    c.check("leak")["evidence"]["samples"] = c.check("good")["evidence"]["samples"]
    c.check("leak")["settings"]["budget"] = c.check("good")["settings"]["budget"]
    c.check("leak")["witness"] = None
    c.plan_again()


@left_alone
def _(c):
    """counts of 10^12, with a budget to match"""
    c.enlarge("leak", 10**8)
    c.check("leak")["evidence"]["samples"] = c.check("leak")["settings"]["budget"] = 10**13
    c.check("leak")["witness"] = None
    c.plan_again()


@left_alone
def _(c):
    """a law that is not the mechanism's, with a p-value to match"""
    part = c.laws()[0]
    part.update(epsilon_upper_bound=0.5, epsilon_lower_bound=0.5, fit_pvalue=0.9)


@left_alone
def _(c):
    """a refuted claim that is expected to FAIL, in the plan too"""
    c.check("leak")["expected"] = "FAIL"
    c.plan_again()


@left_alone
def _(c):
    """a failing check deleted, in a plan of tests that leaves its share unspent"""
    c.drop("leak")
    c.plan_again()


@left_alone
def _(c):
    """a failing check deleted, and all evidence that names a share computed again"""
    c.drop("leak")
    share = 0.05 / len(c["checks"])
    for check in c["checks"]:
        check["settings"].update(significance=share, confirmation=c["settings"]["confirmation"] * share / 0.05)
    for part in c.laws():
        part["fit_resolution"] = (np.log(4 / share) / 2 / part["fit_outputs"]) ** 0.5
    c.check("early")["witness"] = None
    c.plan_again()


@left_alone
def _(c):
    """a seed of its own that makes the virtual guesses come out well"""
    c.check("good")["settings"]["seed"] = 7
    c.game("good")["coins"] = [7 + name_key("good"), 3]


@left_alone
def _(c):
    """another time, another machine, other versions"""
    c["provenance"].update(time="2001-01-01T00:00:00+00:00", platform="abacus", packages={})
