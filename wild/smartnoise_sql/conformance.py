"""smartnoise-sql's answers to the queries that every library is asked, at the privacy cost that it computes itself."""

import pandas as pd
import snsql
from snsql.sql._mechanisms import Gaussian, Laplace

import wild.smartnoise_sql.served  # noqa: F401  keeps the scale of public parameters, whose search takes most of the time
from audit import PrivacyClaim
from audit.extensions.conformance import Library

library = Library("smartnoise_sql", relation="add/remove", distribution="smartnoise-sql", draws=60,
                  quote='Options: "row_privacy: boolean, True if each row is a separate individual"')  # fmt: skip
library.exclude_types('docstring of Float: "A column with a floating point value"')


def reader(p, rows):
    """Return a reader of a table with one row per person, number v and key k."""
    v = {"type": "int" if p.whole else "float", "lower": p.lower, "upper": p.upper}
    table = {"row_privacy": True, "rows": p.size, "v": v, "k": {"type": "string"}, "censor_dims": p.delta > 0}
    frame, privacy = pd.DataFrame(rows, columns=["v", "k"]), snsql.Privacy(epsilon=p.epsilon, delta=p.delta)
    return snsql.from_df(frame, privacy=privacy, metadata={"": {"T": {"T": table}}})


def sql(name, text, row=lambda record: (record, "a")):
    def build(p):
        return lambda data: [list(found) for found in reader(p, [row(each) for each in data]).execute(text)[1:]]

    library.query(name, claim=lambda p: PrivacyClaim(*reader(p, [(0.5, "a")]).get_privacy_cost(text)))(build)


def noise(make):
    def build(p):
        made = make(p)
        return lambda value: made.release([value])[0]

    return build


for _name, _asked in {"count": "COUNT(v)", "sum": "SUM(v)", "mean": "AVG(v)", "variance": "VAR(v)",
                      "standard deviation": "STDDEV(v)"}.items():  # fmt: skip
    sql(_name, f"SELECT {_asked} AS r FROM T.T")
sql("histogram of discovered keys", "SELECT k, COUNT(v) AS r FROM T.T GROUP BY k", lambda key: (0.5, key))
library.answer({
    "laplace noise": noise(lambda p: Laplace(p.epsilon, sensitivity=p.sensitivity)),
    "gaussian noise": noise(lambda p: Gaussian(p.epsilon, delta=p.delta, sensitivity=p.sensitivity)),
}, law="usual", draws=60_000,
    quote='docstring of AdditiveNoiseMechanism: "epsilon, the total privacy budget to use per-release"')  # fmt: skip
