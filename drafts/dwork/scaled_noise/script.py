import pandas as pd
from dwork.dataschema import DataSchema
from dwork.dataset.pandas import PandasDataset
from dwork.language.types import Integer

Whole = type("Whole", (DataSchema,), {"v": Integer(min=0, max=10)})


def remainders(values):
    total = PandasDataset(Whole, pd.DataFrame({"v": values}))["v"].sum()
    return {int(total.dp(1.0)) % 10 for _ in range(500)}


print("sums modulo 10:", remainders([0, 3]), "and", remainders([0, 3, 1]))
assert remainders([0, 3]) == {3}
assert remainders([0, 3, 1]) == {4}
