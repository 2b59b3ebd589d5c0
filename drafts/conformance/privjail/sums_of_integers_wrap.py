import json
import pathlib
import tempfile

import pandas as pd
import privjail as pj


def is_negative(last, upper=2**56):
    data, schema = (pathlib.Path(tempfile.mkdtemp()) / name for name in ("data.csv", "schema.json"))
    schema.write_text(json.dumps({"v": {"type": "int64"}}))
    pd.DataFrame({"v": [upper] * 127 + [last]}).to_csv(data, index=False)
    held = pj.pandas.read_csv(str(data), str(schema), accountant="pure")["v"].clip(0, upper).sum()
    return sum(pj.laplace_mechanism(held, eps=1.0) < 0 for _ in range(100))


a, b = is_negative(2**56), is_negative(0)
print("of 100 noisy sums of 128 numbers at the upper bound, below 0:", a, "and with one at 0:", b)
assert a > 50 > 10 > b
