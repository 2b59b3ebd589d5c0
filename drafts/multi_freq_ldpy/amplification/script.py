from multi_freq_ldpy.mdim_freq_est.RSpFD_solution import RSpFD_GRR_Client


def zeros(record):
    return sum(list(RSpFD_GRR_Client(record, [2, 2], 2, 1.0)) == [0, 0] for _ in range(100_000))


left, right = zeros([0, 0]), zeros([1, 1])
print("odds of", left / right, "where e = 2.72 is claimed")
assert left > 3.5 * right
