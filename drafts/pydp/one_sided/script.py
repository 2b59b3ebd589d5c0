from pydp.ml.mechanisms.geometric import Geometric

noisy = Geometric().set_epsilon(2.0).set_sensitivity(1)
noisy.set_probability(0.5)
left, right = (min(noisy.randomise(count) for _ in range(2000)) for count in (0, 1))
print("smallest outputs:", left, "and", right)
assert left == 0 < right
