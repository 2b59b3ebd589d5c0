"""diffpriv-pure 0.1.0 on lists of numbers in [0, 1]."""

from __future__ import annotations

from diffpriv_pure import gaussian_noise, gaussian_sigma, laplace_noise, private_mean, private_sum

UNIT = (0.0, 1.0)
DELTA = 0.05

MECHANISMS = {
    "laplace_noise": lambda data: sum(data) + laplace_noise(1.0, 1.0),
    "gaussian_noise": lambda data: sum(data) + gaussian_noise(gaussian_sigma(1.0, 0.9, DELTA)),
    "private_sum": lambda data: private_sum(data, UNIT, 1.0),
    "private_sum gaussian": lambda data: private_sum(data, UNIT, 0.9, DELTA),
    "private_mean": lambda data: private_mean(data, UNIT, 1.0),
}
