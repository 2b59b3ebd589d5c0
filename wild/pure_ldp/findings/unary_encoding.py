from pure_ldp.frequency_oracles.unary_encoding import UEClient

client = UEClient(1.0, 4)


def first_and_not_second(value):
    reports = (client.privatise(value) for _ in range(100_000))
    return sum(report[0] == 1 and report[1] == 0 for report in reports)


left, right = first_and_not_second(1), first_and_not_second(2)
print("odds of", left / right, "where e = 2.72 is claimed")
assert left > 4 * right
