from math import erf, exp, sqrt

from eeprivacy.mechanisms import GaussianMechanism

epsilon, delta = 16.0, 1e-3
sigma = GaussianMechanism.scale(sensitivity=1.0, epsilon=epsilon, delta=delta)
cdf = lambda x: (1 + erf(x / sqrt(2))) / 2
true = cdf(0.5 / sigma - epsilon * sigma) - exp(epsilon) * cdf(-0.5 / sigma - epsilon * sigma)
print("delta is", true, "where", delta, "is claimed at epsilon", epsilon)
assert true > 1.5 * delta
