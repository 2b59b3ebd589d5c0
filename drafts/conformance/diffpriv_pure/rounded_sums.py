from diffpriv_pure import private_sum

low = 2.0**30
high = low + 2.0**-22  # the next double
left, right = [high] * 16, [high] * 15 + [low]
a, b = (sum(private_sum(data, (low, high), 1.0) >= sum(left) for _ in range(2000)) for data in (left, right))
print("of 2000 noisy sums, at least the sum of the first column:", a, "and, with one record replaced,", b)
assert max(a, b) > 10 * (min(a, b) + 10)
