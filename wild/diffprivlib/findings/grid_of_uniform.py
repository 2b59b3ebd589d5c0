from diffprivlib.mechanisms import Uniform

noisy = Uniform(delta=0.05, sensitivity=0.1)
left, right = (sum((noisy.randomise(value) * 2**52).is_integer() for _ in range(2000)) for value in (0.0, 0.1))
print(left, "and", right, "of 2000 outputs are multiples of 2^-52")
assert left == 2000
assert right < 1500
