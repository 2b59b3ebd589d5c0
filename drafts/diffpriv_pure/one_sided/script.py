from diffpriv_pure import private_count

left, right = (min(private_count(count, 1.0) for _ in range(2000)) for count in (3, 4))
print("smallest of 2000 noisy counts of 3 and of 4 records:", left, "and", right)
assert left == 3
assert right == 4
