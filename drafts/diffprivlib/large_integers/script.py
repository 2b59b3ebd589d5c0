from diffprivlib.mechanisms import Geometric

noisy = Geometric(epsilon=1.0, sensitivity=1)
left, right = ({noisy.randomise(count) for _ in range(2000)} for count in (2**60 + 128, 2**60 + 129))
print(sorted(left)[:2], "and", sorted(right)[:2])
assert not left & right
