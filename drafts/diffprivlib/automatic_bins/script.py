from diffprivlib.tools import histogram


def edges(data):
    return {len(histogram(data, epsilon=1.0, bins="auto", range=(0, 1))[1]) for _ in range(200)}


left, right = edges([0.0]), edges([0.0, 0.25])
print("numbers of edges:", left, "and", right)
assert not left & right
