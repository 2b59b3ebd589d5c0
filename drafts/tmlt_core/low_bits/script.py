from tmlt.core.domains.numpy_domains import NumpyFloatDomain
from tmlt.core.measurements.noise_mechanisms import AddGaussianNoise

noisy = AddGaussianNoise(NumpyFloatDomain(), 4)
left, right = ([float(noisy(count)) for _ in range(8000)] for count in (0.0, 1.0))
small = lambda outputs: [output for output in outputs if abs(output) < 0.25]
fine = lambda outputs: sum(not (output * 2**53).is_integer() for output in small(outputs))
print(fine(left), "of", len(small(left)), "and", fine(right), "of", len(small(right)), "have bits beyond 2^-53")
assert fine(left) > 50
assert fine(right) == 0
