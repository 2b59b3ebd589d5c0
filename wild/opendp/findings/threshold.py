import opendp.prelude as dp

dp.enable_features("contrib")
integers = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
release = integers >> dp.t.then_count_by() >> dp.m.then_laplace_threshold(scale=1.0, threshold=3)
kept = sum(bool(release([1])) for _ in range(20_000)) / 20_000
epsilon, delta = release.map(1)
print("a key of one record is released with probability", kept, "where delta is", delta)
assert kept > 2 * delta
