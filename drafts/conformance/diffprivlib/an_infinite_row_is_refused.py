import warnings

from diffprivlib.models import KMeans

warnings.simplefilter("ignore")
common, seen = [[0.1, 0.2]] * 7, []
for row in ([0.6, 0.8], [float("inf"), 0.0]):
    try:
        KMeans(n_clusters=2, epsilon=1.0, bounds=([-1, -1], [1, 1])).fit([*common, row])
        seen.append("a model")
    except ValueError as error:
        seen.append(f"ValueError: {str(error).splitlines()[0]}")
print(seen)
assert seen[0] == "a model" != seen[1]
