from pydp.ml.mechanisms.laplace import LaplaceBoundedDomain

noisy = LaplaceBoundedDomain().set_epsilon(2.0).set_sensitivity(1.0).set_bounds(0.0, 1.0)
left, right = ([noisy.randomise(count) for _ in range(5000)] for count in (0.0, 1.0))
small = lambda outputs: [output for output in outputs if abs(output) < 0.25]
fine = lambda outputs: sum(not (output * 2**53).is_integer() for output in small(outputs))
print(fine(left), "of", len(small(left)), "and", fine(right), "of", len(small(right)), "have bits beyond 2^-53")
assert fine(left) > 100
assert fine(right) == 0 < len(small(right))
