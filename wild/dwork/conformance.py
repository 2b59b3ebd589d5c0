"""dwork's answers to the queries that every library is asked, on a table of one column."""

import pandas as pd
from dwork.dataschema import DataSchema
from dwork.dataset.pandas import PandasDataset
from dwork.language.types import Float, Integer
from dwork.mechanisms import geometric_noise, laplace_noise

from audit.extensions.conformance import Library
from audit.extensions.conformance.library import once

library = Library("dwork", distribution="dwork",  # a sum has noise for upper - lower: records are replaced
                  quote='summary: "A Python toolkit for differentially private data science & analytics"')  # fmt: skip
library.typed('docstrings of Integer and Float: "Represents integer data", "Represents floating point data"')


def table(ask):
    def build(p):
        column = Integer(min=p.lower, max=p.upper) if p.whole else Float(min=p.lower, max=p.upper)
        schema = type("Schema", (DataSchema,), {"v": column})
        asked = once(lambda data: ask(PandasDataset(schema, pd.DataFrame({"v": pd.Series(data, dtype=column.type)}))))
        return lambda data: float(asked(data).dp(p.epsilon))

    return build


library.answer({
    "count": table(lambda data: data.len()),
    "geometric noise": lambda p: lambda value: value + geometric_noise(p.epsilon),
})  # fmt: skip
library.answer({
    "sum": table(lambda data: data["v"].sum()),
    "laplace noise": lambda p: lambda value: value + laplace_noise(p.epsilon) * p.sensitivity,
}, law="usual")  # fmt: skip
