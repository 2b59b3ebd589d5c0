import pandas as pd
from dwork.dataschema import DataSchema
from dwork.dataset.pandas import PandasDataset
from dwork.language.types import Float

Real = type("Real", (DataSchema,), {"v": Float(min=0.0, max=10.0)})


def fine(values):
    total = PandasDataset(Real, pd.DataFrame({"v": values}))["v"].sum()
    small = [output for output in (float(total.dp(1.0)) for _ in range(20_000)) if abs(output) < 1]
    return sum(not (output * 2**50).is_integer() for output in small), len(small)


left, right = fine([0.0]), fine([0.0, 10.0])
print(left, "and", right, "of the small outputs have bits beyond 2^-50")
assert left[0] > 100 > right[0] == 0 < right[1]
