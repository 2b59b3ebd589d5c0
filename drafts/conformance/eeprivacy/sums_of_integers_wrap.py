from eeprivacy.operations import PrivateClampedSum

upper = 2**56
noisy = PrivateClampedSum(lower_bound=0, upper_bound=upper)
a, b = ([noisy.execute(values=[upper] * 127 + [last], epsilon=1.0) for _ in range(500)] for last in (upper, 0))
negative = [sum(x < 0 for x in outputs) for outputs in (a, b)]
print("of 500 noisy sums of 128 numbers at the upper bound, below 0:", negative[0], "and with one at 0:", negative[1])
assert negative[0] > 490
assert negative[1] < 10
