from pipeline_dp.dp_computations import ExponentialMechanism as Mechanism


def choice(records):
    score = lambda self, candidate: float(records.count(candidate))
    own = {"global_sensitivity": 1.0, "is_monotonic": True, "score": score}
    return Mechanism(type("Count", (Mechanism.ScoringFunction,), own)()).apply(5.0, [0, 1])


print(choice([0] * 141))
try:
    choice([0] * 142)
    raise SystemExit("no error")
except ValueError as error:
    print(repr(error))
