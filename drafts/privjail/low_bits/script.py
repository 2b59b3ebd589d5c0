import tempfile
from pathlib import Path

import privjail as pj


def fine(rows):
    data, schema = (Path(tempfile.mkdtemp()) / name for name in ("data.csv", "schema.json"))
    data.write_text("v\n" + rows)
    schema.write_text('{"v": {"type": "float64", "range": [0.0, 1.0]}}')
    total = pj.pandas.read_csv(str(data), str(schema), accountant="pure")["v"].sum()
    small = [x for x in (float(pj.laplace_mechanism(total, eps=1.0)) for _ in range(4000)) if abs(x) < 0.25]
    return sum(not (x * 2**53).is_integer() for x in small), len(small)


left, right = fine("0.0\n"), fine("0.0\n1.0\n")
print(left, "and", right, "of the small outputs have bits beyond 2^-53")
assert left[0] > 50 > right[0] == 0 < right[1]
