import numpy as np
import opendp.prelude as dp

dp.enable_features("contrib")
response = dp.m.make_randomized_response_bitvec(dp.bitvector_domain(max_weight=1), dp.discrete_distance(), f=0.5)


def frequencies(bits):
    reports = (response(np.packbits(bits).tobytes()) for _ in range(1000))
    return np.mean([np.unpackbits(np.frombuffer(report, dtype=np.uint8)) for report in reports], axis=0)


left, right = frequencies([1] + [0] * 7), frequencies([0] * 7 + [1])
print("bit 0 is 1 with frequency", left[0], "and", right[0])
assert (left[0], right[0]) == (1, 0)
