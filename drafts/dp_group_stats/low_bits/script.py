import random

from dp_group_stats import laplace_noise

draw = random.Random(0)
left, right = ([total + laplace_noise(0.8, 120.0, draw) for _ in range(20_000)] for total in (0.0, 120.0))
small = lambda outputs: [output for output in outputs if abs(output) < 16]
fine = lambda outputs: sum(not (output * 2**47).is_integer() for output in small(outputs))
print(fine(left), "of", len(small(left)), "and", fine(right), "of", len(small(right)), "have bits beyond 2^-47")
assert fine(left) > 100
assert fine(right) == 0
