import pandas as pd
from dwork.dataschema import DataSchema
from dwork.dataset.pandas import PandasDataset
from dwork.language.types import Float


class Schema(DataSchema):
    v = Float(min=0.0, max=1.0)


common = [0.5, 0.25, 0.75]
a, b = (PandasDataset(Schema, pd.DataFrame({"v": [*common, last]}))["v"].sum() for last in (101.0, 1.0))
seen = [[sum_.dp(1.0) for _ in range(200)] for sum_ in (a, b)]
print("smallest and largest of 200 noisy sums with a value of 101, and of 1:", *[(min(x), max(x)) for x in seen])
assert min(seen[0]) > max(seen[1]) or len(set(seen[0])) == 1
