import numpy as np
from pure_ldp.core import generate_hash
from pure_ldp.frequency_oracles.rappor import RAPPORClient

client = RAPPORClient(0.5, 8, [[generate_hash(8, 0)]], num_of_cohorts=1)


def always(value):
    reports = np.array([np.hstack(client.privatise(value))[:8] for _ in range(2000)])
    return [int(place) for place in np.flatnonzero(reports.all(axis=0))]


found = [always(value) for value in range(1, 6)]
print("bits that are 1 in all of 2000 reports of the values 1 to 5:", found)
assert all(len(bits) == 1 for bits in found)
assert len({bits[0] for bits in found}) > 1
