from pydp.algorithms.numerical_mechanisms import LaplaceMechanism

noise = LaplaceMechanism(epsilon=1.0, sensitivity=1.0)
kinds = [{type(noise.add_noise(value)).__name__ for _ in range(100)} for value in (2**63 - 1, 2**63)]
print("types of noisy 2^63 - 1 and 2^63:", *kinds)
assert not kinds[0] & kinds[1]
