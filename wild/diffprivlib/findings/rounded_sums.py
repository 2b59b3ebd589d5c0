from diffprivlib.mechanisms import Laplace

noisy = Laplace(epsilon=1.0, sensitivity=1.0)
left, right = ([noisy.randomise(count) for _ in range(5000)] for count in (0, 1))
left, right = ([output for output in outputs if abs(output) < 0.25] for outputs in (left, right))
fine = [sum(not (output * 2**53).is_integer() for output in outputs) for outputs in (left, right)]
print(fine[0], "of", len(left), "and", fine[1], "of", len(right), "outputs have bits beyond 2^-53")
assert fine[0] > 500
assert fine[1] == 0
