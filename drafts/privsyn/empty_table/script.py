import pandas as pd
from privsyn import PrivSynModel


def fits(records):
    frame = pd.DataFrame(records, columns=["a", "b"]).astype(int)
    steps = {"update_iterations": 2, "consist_iterations": 2}
    try:
        PrivSynModel(epsilon=1.0, delta=1e-6, extra_params=steps).fit(frame, {"a": 2, "b": 2}).sample(3)
        return True
    except ValueError:
        return False


left, right = (sum(fits(records) for _ in range(20)) for records in ([], [[0, 0]]))
print(left, "and", right, "of 20 fits give a table")
assert left == 0 < right
