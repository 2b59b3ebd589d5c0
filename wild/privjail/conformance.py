"""privjail's answers to the queries that every library is asked, on a file with its schema, as its users read it."""

import json
import tempfile
from pathlib import Path

import pandas as pd
import privjail as pj

from audit.extensions.conformance import Library
from audit.extensions.conformance.library import once

library = Library("privjail", relation="add/remove", distribution="privjail",
                  quote='README: "enforces differential privacy in Python"')  # fmt: skip
library.typed('value_counts: "must be of a categorical type"')


def read(p, data, column):
    schema = {"v": {"type": "int64" if p.whole else "float64"},
              "k": {"type": "category", "categories": list(p.categories)}}  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        file, described = Path(folder) / "data.csv", Path(folder) / "schema.json"
        pd.DataFrame({column: data}).to_csv(file, index=False)
        described.write_text(json.dumps(schema))
        return pj.pandas.read_csv(str(file), str(described), accountant="pure")[column]


def asked(statistic, release, column="v"):
    """Release a statistic of a column, which is read and computed once."""

    def build(p):
        held = once(lambda data: statistic(read(p, data, column), p))
        return lambda data: release(held(data), p)

    return build


def laplace(sensitive, p):
    return pj.laplace_mechanism(sensitive, eps=p.epsilon)


def listed(sensitive, p):
    return laplace(sensitive, p).tolist()


def counts(column, p):
    return column.value_counts(sort=False)


library.settings["top-k", "*"] = {"k": 1}  # argmax is of one
library.answer({
    "count": asked(lambda column, p: column.shape[0], laplace),
    "sum": asked(lambda column, p: column.clip(*p.bounds).sum(), laplace),
    "histogram of public keys": asked(counts, listed, "k"),
}, law="usual")  # fmt: skip
library.answer({
    "histogram of numbers": asked(lambda column, p: counts(pj.pandas.cut(column, bins=list(p.edges)), p), listed),
    "mean": asked(lambda column, p: column.clip(*p.bounds), lambda column, p: column.mean(eps=p.epsilon)),
    "top-k": asked(counts, lambda found, p: pj.argmax([found[key] for key in p.categories], eps=p.epsilon), "k"),
})  # fmt: skip
