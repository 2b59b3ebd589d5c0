from diffprivlib.tools import histogram


def above(values, weights):
    found = [histogram(values, weights=weights, epsilon=1.0, bins=1, range=(0, 1))[0][0] for _ in range(2000)]
    return sum(count > 6 for count in found)


left, right = above([0.5], [1.0]), above([0.5, 0.5], [1.0, 10.0])
print(left, "and", right, "of 2000 counts are above 6")
assert right > 20 * max(left, 1)
