"""Random programs of three other libraries, with their noise frozen, held to the epsilon that each is asked for.

`python -m benchmarks.stability.other_queries LIBRARY [--seconds 60] [--seed 0] [--python PYTHON] [--causes FILE...]`
prints what it found; LIBRARY is `diffprivlib`, `pipeline_dp` or `smartnoise_sql`, and PYTHON has it. A library's
mechanisms return what they are given, and note the scale of the noise that they would have added: a release breaks its
claim when the differences over these scales add up to more. Limits of contributions are those of the pair.
"""

from __future__ import annotations

import argparse
import importlib
import random
import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from benchmarks.stability.programs import Case, Query, RefusedError, tabulate, work

EPSILON = 1.0
KEYS = ("a", "b", "c")
NUMBERS = (0.0, 1.0, -1.0, 0.5, 3.0, 10.0, -10.0, 100.0, 1e6)
BOUNDS = ((0.0, 1.0), (-1.0, 1.0), (-10.0, 10.0), (0.0, 10.0), (2.0, 5.0), (-5.0, -2.0))


class Program(NamedTuple):
    """Name what is asked for, within which bounds, and settings."""

    asked: tuple[str, ...]
    bounds: tuple[float, float]
    settings: tuple[tuple[str, Any], ...] = ()


class Frozen:
    """A library of queries whose noise is frozen: rows are (user, key, number)."""

    module = ""

    def __init__(self) -> None:
        warnings.simplefilter("ignore")
        self.library = importlib.import_module(self.module)
        self.noted: list[tuple[float, float]] = []  # of a release: values as given to mechanisms, and scales

    def note(self, value: Any, scale: float) -> Any:
        """Note what a mechanism is given, and return it."""
        self.noted.append((float(value), float(scale)))
        return value

    def pair(self, source: random.Random, *, replaced: bool, numbers: tuple[float | None, ...] = NUMBERS) -> Any:
        """Return two datasets: a user is added, or a row replaced."""
        rows = tuple(
            (source.randrange(3), source.choice(KEYS), source.choice(numbers)) for _ in range(source.randint(1, 5))
        )
        if replaced:
            at, new = source.randrange(len(rows)), (9, source.choice(KEYS), source.choice(numbers))
            return rows, (*rows[:at], new, *rows[at + 1 :])
        user = source.choice(rows)[0]
        return rows, tuple(row for row in rows if row[0] != user)

    def smaller(self, program: Program) -> Iterator[Program]:
        """Yield programs that ask for less, or with a setting less."""
        for at in range(len(program.asked)):
            if len(program.asked) > 1:
                yield program._replace(asked=program.asked[:at] + program.asked[at + 1 :])
        for at in range(len(program.settings)):
            yield program._replace(settings=program.settings[:at] + program.settings[at + 1 :])

    def signature(self, program: Program) -> tuple[str, ...]:
        """Return what is asked for, and the settings."""
        settings = (f"{name}={value}".replace(" ", "") for name, value in program.settings)
        return tuple(sorted({*(each.replace(" ", "") for each in program.asked), *settings}))

    def script(self, case: Case) -> str:
        """Return the case as Python."""
        return f"{self.module}: {case.program}\nx = {list(case.left)}\ny = {list(case.right)}"

    def query(self, run: Callable[[Any], Mapping[str, float]], claim: float = EPSILON, grouped: bool = False) -> Query:
        """Return a query whose scales are those that its last run noted."""
        return Query(claim, run, lambda: {str(at): scale for at, (_, scale) in enumerate(self.noted)}, 1, grouped)

    def numbered(self) -> dict[str, float]:
        """Return what was noted, by its place."""
        return {str(at): value for at, (value, _) in enumerate(self.noted)}


class Diffprivlib(Frozen):
    """The tools of diffprivlib on arrays: a record is replaced; of histograms, added or removed."""

    module = "diffprivlib"
    METHOD = "randomise"
    TOOLS = ("sum", "nansum", "mean", "nanmean", "var", "nanvar", "std", "count_nonzero", "histogram")

    def __init__(self) -> None:
        super().__init__()
        library = self

        def frozen(mechanism: Any, value: Any) -> Any:
            mechanism._check_all(value)
            return library.note(value, float(mechanism.sensitivity) / mechanism.epsilon)

        for name in ("LaplaceTruncated", "GeometricTruncated", "LaplaceBoundedDomain"):
            setattr(getattr(importlib.import_module("diffprivlib.mechanisms"), name), self.METHOD, frozen)

    def draw(self, source: random.Random) -> Case:
        """Return a tool with settings, and a pair of columns."""
        tool = source.choice(self.TOOLS)
        choices = {"columns": 2, "dtype": source.choice(("int", "float32")), "data": source.choice(("int", "float32"))}
        if tool == "histogram":
            choices = {"density": True, "weights": source.choice((0.5, 2)), "bins": source.choice((2, 3))}
        settings = tuple((name, value) for name, value in choices.items() if source.random() < 0.25)
        numbers = (*NUMBERS, float("nan")) if tool.startswith("nan") or source.random() < 0.1 else NUMBERS
        pair = self.pair(source, replaced=True, numbers=numbers)
        if tool == "histogram":
            pair = (pair[0], tuple(row for row in pair[1] if row in pair[0]))  # without the row that was replaced
        return Case(Program((tool,), source.choice(BOUNDS), settings), *pair)

    def build(self, case: Case) -> Query:
        """Build a call of a tool."""
        import numpy as np

        (tool,), bounds, settings = case.program[0], case.program.bounds, dict(case.program.settings)
        if tool != "histogram" and len(case.left) != len(case.right):
            raise RefusedError("of two sizes")
        call = getattr(self.library.tools, tool)

        def run(rows: Any) -> Mapping[str, float]:
            self.noted = []
            array = np.array([row[2] for row in rows], dtype=settings.get("data", "float64"))
            if tool == "histogram":
                given = {name: settings[name] for name in ("density", "bins") if name in settings}
                if "weights" in settings:
                    given["weights"] = np.full(len(array), settings["weights"])
                call(array, epsilon=EPSILON, range=bounds, **given)
                return self.numbered()
            given = {"dtype": np.dtype(settings["dtype"]).type} if "dtype" in settings else {}
            if "columns" in settings:
                array, given["axis"] = np.stack([array, array[::-1] * 0]).T, 0
            if tool == "count_nonzero":
                call(array, epsilon=EPSILON, **{name: value for name, value in given.items() if name == "axis"})
            else:
                call(array, epsilon=EPSILON, bounds=bounds, **given)
            return self.numbered()

        return self.query(run)


class PipelineDP(Frozen):
    """PipelineDP on its local backend, with Laplace noise and public partitions: a privacy unit is added."""

    module = "pipeline_dp"
    METRICS = ("COUNT", "PRIVACY_ID_COUNT", "SUM", "MEAN", "VARIANCE")

    def __init__(self) -> None:
        super().__init__()
        computations = importlib.import_module("pipeline_dp.dp_computations")

        def frozen(mechanism: Any, value: Any) -> Any:
            return self.note(value, mechanism.noise_parameter)

        def applied(value: Any, eps: float, l1_sensitivity: float) -> Any:
            return self.note(value, l1_sensitivity / eps)

        computations.LaplaceMechanism.add_noise = frozen
        computations.apply_laplace_mechanism = applied

    def draw(self, source: random.Random) -> Case:
        """Return metrics with limits, and a pair."""
        asked = tuple(sorted(source.sample(self.METRICS, source.choice((1, 1, 2, 3)))))
        choices = {"per partition": True, "total": True}
        settings = tuple((name, value) for name, value in choices.items() if source.random() < 0.25)
        return Case(Program(asked, source.choice(BOUNDS), settings), *self.pair(source, replaced=False))

    def build(self, case: Case) -> Query:
        """Build an aggregation whose limits hold of both datasets."""
        library, settings, rows = self.library, dict(case.program.settings), (*case.left, *case.right)
        if not rows:
            raise RefusedError("no rows")
        sides = [[row for row in side if row[0] == user] for side in (case.left, case.right) for user, *_ in rows]
        partitions = max(len({row[1] for row in side}) for side in sides)
        most = max(sum(row[1] == key for row in side) for side in sides for key in KEYS)
        lower, upper = case.program.bounds
        bounds = {"min_value": lower, "max_value": upper}
        if "per partition" in settings:
            bounds = {"min_sum_per_partition": lower, "max_sum_per_partition": upper}
        limits = {"max_partitions_contributed": partitions, "max_contributions_per_partition": most}
        if "total" in settings:
            limits = {"max_contributions": max(len(side) for side in sides)}
        metrics = [getattr(library.Metrics, name) for name in case.program.asked]
        extractors = library.DataExtractors(*(lambda row, at=at: row[at] for at in range(3)))

        def run(data: Any) -> Mapping[str, float]:
            accountant = library.NaiveBudgetAccountant(total_epsilon=EPSILON, total_delta=0.0)
            engine = library.DPEngine(accountant, library.LocalBackend())
            laplace = library.NoiseKind.LAPLACE
            params = library.AggregateParams(metrics=metrics, noise_kind=laplace, **limits, **bounds)
            released = engine.aggregate(list(data), params, extractors, public_partitions=list(KEYS))
            accountant.compute_budgets()
            self.noted = []
            keys = [key for key, _ in released]
            each = len(self.noted) // len(keys)  # mechanisms of a partition
            return {f"{at % each}:{keys[at // each]}": value for at, (value, _) in enumerate(self.noted)}

        try:
            run(case.left or case.right)
        except (ValueError, NotImplementedError) as error:
            raise RefusedError(str(error)) from None
        return self.query(run, grouped=True)


class SmartnoiseSQL(Frozen):
    """Queries of smartnoise-sql on a table, with Laplace noise: a user is removed.

    Rows have a user, a key and a number. The grammar has what the library's parser reads; what it disables it refuses.
    """

    module = "snsql"
    COUNTED = ("*", "v", "k", "DISTINCT u", "DISTINCT k", "DISTINCT v")
    FROM = (
        "(SELECT u, k, v FROM T.T WHERE v > 0) AS s",
        "(SELECT * FROM T.T) AS s",
        "T.T AS a JOIN T.T AS b USING (u)",
    )
    TABLE: ClassVar = {
        "sample_max_ids": False,
        "row_privacy": True,
        "missing_value": 1.0,
        "int": True,
    }  # of its metadata
    KEYS_OF: ClassVar = {  # groups, all of which are public here
        "k": KEYS,
        "UPPER(k)": ("A", "B", "C"),
        "k, u": tuple(f"{key}, {user}" for key in KEYS for user in range(3)),
    }

    def __init__(self) -> None:
        super().__init__()
        laplace = importlib.import_module("snsql.sql._mechanisms").Laplace
        laplace.release = lambda mechanism, values: [float(value) for value in values]
        search, scales = laplace._compute_noise_scale, {}

        def scaled(mechanism: Any) -> None:  # the search for a scale takes most of the time of a query
            key = (mechanism.epsilon, mechanism.delta, mechanism.lower, mechanism.upper, mechanism.max_contrib)
            if key not in scales:
                search(mechanism)
                scales[key] = mechanism.scale
            mechanism.scale = scales[key]

        laplace._compute_noise_scale = scaled
        self.pandas = importlib.import_module("pandas")

    def draw(self, source: random.Random) -> Case:
        """Return a query, and a pair."""
        asked = tuple(self._aggregate(source) for _ in range(source.choice((1, 1, 2))))
        clauses = {
            "by": (0.5, source.choice(("k", "k", *self.KEYS_OF))),
            "where": (0.4, self._condition(source, 2)),
            "from": (0.06, source.choice(self.FROM)),
            "having": (0.15, f"{self._aggregate(source)} > 1"),
            "order": (0.1, "c0"),
            "limit": (0.1, "1"),
        }
        settings = [(name, text) for name, (share, text) in clauses.items() if source.random() < share]
        settings += [(name, value) for name, value in self.TABLE.items() if source.random() < 0.15]
        numbers = (*NUMBERS, None)
        pair = self.pair(source, replaced=False, numbers=numbers)
        return Case(Program(asked, source.choice(BOUNDS), tuple(settings)), *pair)

    def _number(self, source: random.Random) -> str:
        constant, operator = source.choice((2, 0.5, 10)), source.choice("+-*/%")
        texts = ("v", "v", f"v {operator} {constant}", f"{constant} * v", "v * v", "ABS(v)", "v - v", "SQRT(v)")
        return source.choice((*texts, f"CASE WHEN v > 1 THEN {constant} ELSE v END", f"-{constant} * v"))

    def _condition(self, source: random.Random, depth: int) -> str:
        """Return a condition of rows; one that asks for a statistic of the table among them."""
        draw, compared = source.random(), source.choice(("<", "=", ">=", "<>"))
        if depth and draw < 0.3:
            return f"{self._condition(source, depth - 1)} {source.choice(('AND', 'OR'))} {self._condition(source, 0)}"
        if draw < 0.4:
            return f"v {compared} (SELECT {source.choice(('AVG', 'MAX', 'COUNT'))}(v) FROM T.T)"
        plain = ("k IN ('a', 'b')", "v BETWEEN 0 AND 3", "v IS NOT NULL", "v IS NULL", "NOT v > 1", "k = 'a'")
        return source.choice((*plain, *[f"{self._number(source)} {compared} 1"] * 6))

    def _aggregate(self, source: random.Random) -> str:
        draw, what = source.random(), source.choice(("SUM", "AVG", "VAR", "STDDEV"))
        if draw < 0.3:
            return f"COUNT({source.choice(self.COUNTED)})"
        if draw < 0.35:
            return f"{what}({self._number(source)})"
        if draw < 0.5:
            return source.choice(("SUM(v) / COUNT(*)", "2 * SUM(v)", "SQRT(COUNT(v))", f"{what}(DISTINCT v)", "MAX(v)"))
        return f"{what}(v)"

    def signature(self, program: Program) -> tuple[str, ...]:
        """Return the words of SQL in a query, and the settings of its table."""
        settings = dict(program.settings)
        words = re.findall(r"[A-Z]{2,}", " ".join((*program.asked, *map(str, settings.values()))))
        return tuple(sorted({*words, *settings}))

    def _text(self, program: Program) -> str:
        settings = dict(program.settings)
        asked = [f"{each} AS c{at}" for at, each in enumerate(program.asked)]
        asked = [*([settings["by"]] if "by" in settings else []), *asked]
        clauses = {"where": "WHERE", "by": "GROUP BY", "having": "HAVING", "order": "ORDER BY", "limit": "LIMIT"}
        rest = [f" {word} {settings[name]}" for name, word in clauses.items() if name in settings]
        return f"SELECT {', '.join(asked)} FROM {settings.get('from', 'T.T')}{''.join(rest)}"

    def _table(self, case: Case) -> tuple[dict[str, Any], int]:
        """Return metadata that hold of both datasets, and the distance of the pair."""
        settings, (lower, upper) = dict(case.program.settings), case.program.bounds
        users = {row[0] for row in (*case.left, *case.right)}
        sides = [[row for row in side if row[0] == user] for side in (case.left, case.right) for user in users]
        own = {name: settings[name] for name in ("sample_max_ids", "row_privacy") if name in settings}
        column = {"type": "int" if "int" in settings else "float", "lower": lower, "upper": upper}
        if "missing_value" in settings:
            column["missing_value"] = settings["missing_value"]
        table = {**own, "max_ids": max((len(side) for side in sides), default=1) or 1, "censor_dims": False}
        table |= {"u": {"type": "int", "private_id": "row_privacy" not in own}, "k": {"type": "string"}, "v": column}
        one, other = Counter(map(repr, case.left)), Counter(map(repr, case.right))
        changed = [row[0] for row in (*case.left, *case.right) if one[repr(row)] != other[repr(row)]]
        rows = ((one - other) + (other - one)).total()
        return table, rows if "row_privacy" in own else len(set(changed))

    def build(self, case: Case) -> Query:
        """Build a query whose limit of rows of a user holds of both datasets."""
        text, (table, distance) = self._text(case.program), self._table(case)
        by = dict(case.program.settings).get("by")
        keys = self.KEYS_OF[by] if by else ("",)
        try:
            privacy = self.library.Privacy(epsilon=EPSILON, delta=0.01)
            metadata = {"": {"T": {"T": table}}}
            asked = self.library.from_df(self._frame(case.left), privacy=privacy, metadata=metadata)
            query, rewritten = asked.parse_query_string(text), asked._rewrite(text)
            asked._rewrite = asked._rewrite_ast = lambda _: rewritten  # once: parsing takes most of the time
            scales = [self._scale(symbol) for symbol in rewritten[0]._select_symbols]
            claim = asked.get_privacy_cost(text)[0] * distance
        except Exception as error:
            raise RefusedError(str(error)) from None
        answers = [at for at, scale in enumerate(scales) if scale is not None]

        def run(rows: Any) -> Mapping[str, float]:
            self._frame(rows).to_sql("T_T", con=asked.reader.db_engine, if_exists="replace", index=False)
            self.noted = [(0.0, scale or 0.0) for scale in scales]
            found = {f"{at}:{key}": 0.0 for at in answers for key in keys}
            for row in asked._execute_ast(query, postprocess=False):
                key = ", ".join(str(value) for value, scale in zip(row, scales, strict=True) if scale is None)
                found.update({f"{at}:{key}": row[at] or 0.0 for at in answers})
            return found

        return self.query(run, claim, bool(by))

    def _scale(self, symbol: Any) -> float | None:
        """Return the scale of a column's noise, 0 for an aggregate without any, and None for a group."""
        if symbol.mechanism:
            return float(symbol.mechanism.scale)
        return 0.0 if symbol.expression.xpath_first("//AggFunction") else None

    def _frame(self, rows: Any) -> Any:
        return self.pandas.DataFrame(list(rows), columns=["u", "k", "v"])

    def script(self, case: Case) -> str:
        """Return the query with the metadata and the pair."""
        return f"{self._text(case.program)}\n{self._table(case)[0]}\nx = {list(case.left)}\ny = {list(case.right)}"


LIBRARIES = {"diffprivlib": Diffprivlib, "pipeline_dp": PipelineDP, "smartnoise_sql": SmartnoiseSQL}


def main() -> None:
    """Hunt in a library, or do a part of it."""
    if sys.argv[1:2] == ["work"]:
        name, seed, state, journal, seconds, *known = sys.argv[2:]
        work(LIBRARIES[name](), int(seed), Path(state), Path(journal), float(seconds), known)
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library", choices=LIBRARIES)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--causes", type=Path, nargs="*", default=[], help="tables of causes that are known")
    asked = parser.parse_args()
    command = [asked.python, "-m", "benchmarks.stability.other_queries", "work", asked.library]
    sys.exit(bool(tabulate(command, asked.seed, asked.seconds, asked.causes, False)))


if __name__ == "__main__":
    main()
