from diffpriv_pure import laplace_noise

a, b = ([value + laplace_noise(1e308, 1.0) for _ in range(2000)] for value in (1e308, 0.0))
a, b = (sum(-1.7e308 < x < -9e307 for x in outputs) for outputs in (a, b))
print("of 2000 noisy values, between -1.7e308 and -9e307: at 1e308", a, "and at 0", b)
assert a == 0
assert b > 100
