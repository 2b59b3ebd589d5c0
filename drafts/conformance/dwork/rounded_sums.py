import pandas as pd
from dwork.dataschema import DataSchema
from dwork.dataset.pandas import PandasDataset
from dwork.language.types import Float

low = 2.0**30
high = low + 2.0**-22  # the next double
Schema = type("Schema", (DataSchema,), {"v": Float(min=low, max=high)})
columns = [high] * 16, [high] * 15 + [low]
sums = [PandasDataset(Schema, pd.DataFrame({"v": column}))["v"].sum() for column in columns]
seen = [{float(each.dp(1.0)) for _ in range(500)} for each in sums]
print("outputs of 500 noisy sums of 16 records, and with one replaced:", *seen)
assert seen[0] != seen[1]
