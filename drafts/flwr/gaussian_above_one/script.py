from math import erf, exp, sqrt

import numpy as np
from flwr.common import ndarrays_to_parameters, parameters_to_ndarrays
from flwr.supercore.differential_privacy import add_localdp_gaussian_noise_to_params

epsilon, delta = 16.0, 1e-3
noisy = ndarrays_to_parameters([np.zeros(1_000_000)])
noisy = add_localdp_gaussian_noise_to_params(noisy, 1.0, epsilon, delta)
sigma = float(np.std(parameters_to_ndarrays(noisy)[0]))
cdf = lambda x: (1 + erf(x / sqrt(2))) / 2
true = cdf(0.5 / sigma - epsilon * sigma) - exp(epsilon) * cdf(-0.5 / sigma - epsilon * sigma)
print("delta is", true, "where", delta, "is claimed at epsilon", epsilon)
assert true > 1.5 * delta
