from pydp.algorithms.laplacian import BoundedVariance

lower = 2.0**50
settings = dict(epsilon=1.0, lower_bound=lower, upper_bound=lower + 1, dtype="float")


def above(size):
    variances = (BoundedVariance(**settings).quick_result([lower + 0.25] * size) for _ in range(2000))
    return sum(variance > 0 for variance in variances)


left, right = above(1024), above(1023)
print(left, "and", right, "of 2000 variances are above 0")
assert left < 10
assert right > 150
