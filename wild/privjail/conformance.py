"""privjail's answers to the queries that every library is asked, on a file with its schema, as its users read it."""

import json
import tempfile
from pathlib import Path

import pandas as pd
import privjail as pj

from audit.conformance import Library
from audit.conformance.library import once

library = Library("privjail", relation="add/remove", distribution="privjail",
                  quote='README: "enforces differential privacy in Python"')  # fmt: skip
library.typed('value_counts: "must be of a categorical type"')


def read(p, data, column):
    schema = {"v": {"type": "int64" if p.whole else "float64", "range": list(p.bounds)},
              "k": {"type": "category", "categories": list(p.categories)}}  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        file, described = Path(folder) / "data.csv", Path(folder) / "schema.json"
        pd.DataFrame({column: data}).to_csv(file, index=False)
        described.write_text(json.dumps(schema))
        return pj.pandas.read_csv(str(file), str(described), accountant="pure")[column]


def asked(release, column="v"):
    """Answer from a column that is read once."""

    def build(p):
        held = once(lambda data: read(p, data, column))
        return lambda data: release(held(data), p)

    return build


def laplace(sensitive, p):
    return pj.laplace_mechanism(sensitive, eps=p.epsilon)


def histogram(column, p):
    return laplace(pj.pandas.cut(column, bins=list(p.edges)).value_counts(sort=False), p).tolist()


def top(column, p):
    counts = column.value_counts(sort=False)
    return pj.argmax([counts[key] for key in p.categories], eps=p.epsilon)


library.settings["top-k", "*"] = {"k": 1}  # argmax is of one
library.answer({
    "count": asked(lambda column, p: laplace(column.shape[0], p)),
    "sum": asked(lambda column, p: laplace(column.sum(), p)),
    "mean": asked(lambda column, p: column.mean(eps=p.epsilon)),
    "histogram of numbers": asked(histogram),
    "histogram of public keys": asked(
        lambda column, p: laplace(column.value_counts(sort=False), p).tolist(), "k"
    ),
    "top-k": asked(top, "k"),
})  # fmt: skip
