import numpy as np
from flwr.supercore.differential_privacy import add_gaussian_noise_inplace, clip_inputs_inplace

left, right = [np.array([np.nan])], [np.array([0.5])]
for update in (left, right):
    clip_inputs_inplace(update, clipping_norm=0.5)
    add_gaussian_noise_inplace(update, 4.2)
print(left, "and", right)
assert np.isnan(left[0][0])
assert np.isfinite(right[0][0])
