from eeprivacy.operations import PrivateClampedMean

mean = PrivateClampedMean(lower_bound=0.0, upper_bound=1.0)
ones = lambda values: sum(mean.execute(values=values, epsilon=1.0) == 1.0 for _ in range(2000))
left, right = ones([0.0, 0.0]), ones([0.0, 30.0])
print(left, "and", right, "of 2000 means are 1")
assert right > 5 * left
