"""Forge what was decided before the run: tolerance, method, mechanism, pairs; and what surrounds the evidence."""

from audit.execution.batches import BLOCK
from tests.core.certificate.forging import left_alone, refused

# Terms that are not those of the plan


@refused("its terms is not the planned one")
def _(c):
    """a tolerance that a coarse resolution keeps"""
    c.check("curve")["settings"]["tolerance"] = 5.0


@refused("its terms is not the planned one")
def _(c):
    """another method, under which the law need not be stated"""
    c.check("exact")["settings"]["method"] = "auto"


@refused("its mechanism is not the planned one")
def _(c):
    """a mechanism that was not audited"""
    c.check("good")["mechanism"] = "opendp.measurements.make_laplace"


@refused("its pairs is not the planned one")
def _(c):
    """pairs that stand for all others"""
    c.check("good")["pairs"] = [{"left": "all datasets", "right": "all their neighbors"}]


@refused("its pairs is not the planned one")
def _(c):
    """one of two pairs dropped"""
    del c.check("exact")["pairs"][1], c.laws()[1]


@refused("its pairs is not the planned one")
def _(c):
    """a pair that nothing was drawn on"""
    c.check("exact")["pairs"].append(c.check("exact")["pairs"][0])


@refused("its pairs is not the planned one")
def _(c):
    """a search that nobody made, so that no pair was planned"""
    searched = {"settings": 1, "setting": {}, "budget": 20_000, "tolerance": 1.0, "cases": 600}
    c.check("good")["evidence"]["ways"].append({"way": "search", **searched})


@refused("its confirmation is not the planned one")
def _(c):
    """a confirmation that is left to each check"""
    c["settings"]["confirmation"] = 1e-3
    for check in c["checks"]:
        check["settings"]["confirmation"] = 1e-4


@left_alone
def _(c):
    """a larger tolerance, in the plan too"""
    c.check("curve")["settings"]["tolerance"] = 5.0
    c.plan_again()


@left_alone
def _(c):
    """another mechanism, in the plan too"""
    c.check("good")["mechanism"] = "opendp.measurements.make_laplace"
    c.plan_again()


@left_alone
def _(c):
    """other pairs, in the plan too"""
    c.check("good")["pairs"] = [{"left": "all datasets", "right": "all their neighbors"}]
    c.plan_again()


# Calls that are not those of the runs


@refused("schema: $.checks[0]")
def _(c):
    """no word of the calls, which show shared noise"""
    c.game("good")["calls"] = None


@refused("statistics of the calls contradict each other")
def _(c):
    """calls of one output, which cannot share noise"""
    c.game("good")["calls"]["size"] = 1


@refused("calls are not those of the runs")
def _(c):
    """calls of which nobody can hold the outputs"""
    c.game("good")["calls"]["size"] = 2**40


@refused("statistics of the calls contradict each other")
def _(c):
    """fewer calls than the runs need"""
    side = c.game("good")["calls"]["left"]
    side["calls"] //= 2


@refused("statistics of the calls contradict each other")
def _(c):
    """more guesses in the calls than in the game"""
    c.game("good")["calls"]["left"]["plus"] += 10**4


@refused("calls are not those of the runs")
def _(c):
    """calls that differ less than counts of one sum can"""
    c.game("good")["calls"]["left"]["plus_squares"] //= 100


@refused("calls are not those of the runs")
def _(c):
    """a product of guesses beyond their squares, which hides a variance"""
    c.game("good")["calls"]["right"]["products"] = 10**9


@refused("calls are not those of the runs")
def _(c):
    """parts of a thousand runs each, in which nothing drifts"""
    calls = c.game("good")["calls"]
    calls["parts"] = [[1000, 300, 300, 1000, 300, 300]] * len(calls["parts"])


@refused("calls are not those of the runs")
def _(c):
    """no parts at all"""
    c.game("good")["calls"]["parts"] = []


@refused("long call is not one that was drawn")
def _(c):
    """a long call beyond the outputs that were drawn"""
    c.game("good")["calls"]["long"] = [0, BLOCK, 5000, 5000]


@refused("long call is not one that was drawn")
def _(c):
    """a long call of a million outputs"""
    c.game("good")["calls"]["long"] = [0, 10**6, 300_000, 300_000]


# Words


@refused("looked for what no score looks for")
def _(c):
    """a claim to have looked for everything"""
    c.game("good")["looked_for"] = ["every leak that there is"]


@refused("looked for what no score looks for")
def _(c):
    """a known word with a promise behind it"""
    c.game("good")["looked_for"][0] += " and everything else"


@refused("ended early, and has a game all the same")
def _(c):
    """a failure beside a game that refutes the claim"""
    c.check("leak")["evidence"]["failure"] = "the machine was restarted"


# What surrounds the checks


@refused("isolation: no check is called 'other'")
def _(c):
    """the process of a check that nobody ran"""
    c["isolation"]["other"] = "process"


@refused("printed: no check is called 'other'")
def _(c):
    """what a check that nobody ran has printed"""
    c["printed"]["other"] = "PASS"


@refused("sources: no check is called 'other'")
def _(c):
    """the source of a check that nobody ran"""
    c["sources"]["other"] = {}


@refused("good: its source is not below a folder of the run")
def _(c):
    """a source outside of the folders of the run"""
    c["sources"]["good"]["file"] = "../../../etc/passwd"


@refused("good: its source is not below a folder of the run")
def _(c):
    """a source at the root"""
    c["sources"]["good"]["file"] = "/etc/passwd"


@left_alone
def _(c):
    """the process of a check called one of its own"""
    c["isolation"]["good"] = "process"


@left_alone
def _(c):
    """a source with another digest"""
    c["sources"]["good"]["digest"] = "0" * 64


@left_alone
def _(c):
    """fewer false alarms in the calibration of the package"""
    c["calibration"]["worst"]["alarms"] = 0


@left_alone
def _(c):
    """an oddity taken out, such as a dataset that was changed"""
    c.check("good")["evidence"]["anomalies"] = {}
    c.check("leak")["evidence"]["failure"] = None


@left_alone
def _(c):
    """fewer words than were looked for"""
    c.game("good")["looked_for"] = []
