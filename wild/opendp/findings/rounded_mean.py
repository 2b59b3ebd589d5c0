import opendp.prelude as dp

dp.enable_features("contrib")
lower, size = 2.0**50, 1024
bounded = dp.vector_domain(dp.atom_domain(bounds=(lower, lower + 1), nan=False), size)
variance = dp.t.make_variance(bounded, dp.symmetric_distance())
left = [lower + 0.25] * size
right = [lower + 0.5, *left[1:]]
moved, allowed = abs(variance(left) - variance(right)), variance.map(2)
print("the variance moves by", moved, "where the map allows", allowed)
assert moved > 1.5 * allowed
