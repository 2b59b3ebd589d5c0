from pydp.algorithms.laplacian import BoundedMean


def positive(records):
    mean = lambda: BoundedMean(epsilon=2.0, lower_bound=0, upper_bound=2**28).quick_result(records)
    return sum(mean() > 0 for _ in range(500))


left, right = positive([2**28] * 7), positive([2**28] * 8)
print(left, "and", right, "of 500 means are above 0")
assert left > 250
assert right == 0
