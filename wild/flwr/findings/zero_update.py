import numpy as np
from flwr.supercore.differential_privacy import clip_inputs_inplace

clip_inputs_inplace([np.array([0.5])], clipping_norm=0.5)
try:
    clip_inputs_inplace([np.array([0.0])], clipping_norm=0.5)
    raised = None
except ZeroDivisionError as error:
    raised = error
print("an update of 0.5 is clipped; one of 0 raises", repr(raised))
assert raised
