from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Client


def later(value):
    return sum(0 in list(SS_Client(value, 8, 1.0))[1:] for _ in range(2000))


left, right = later(0), later(1)
print("of 2000 subsets", left, "and", right, "have 0 in a place after the first")
assert left == 0
assert right > 100
