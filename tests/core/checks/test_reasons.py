"""A verdict points: at the place in the output, at the call, at what to type. One odd mechanism a row.

Runs are seeded. Where a leak is convicted, the other side has more than 10 standard deviations of it in one number.
"""

import base64
import itertools
import struct

import numpy as np
import pytest

import audit
from audit import PrivacyCheck, PrivacyClaim, Verdict, per_call, plugins
from audit.certificate.render import RENDERERS
from audit.certificate.summary import find_view
from audit.errors import AuditError, InvalidArgument, MissingExtension
from audit.outputs.encode import encode
from audit.statistics.independence import find_counters
from tests.core.mechanisms import PAIR, laplace
from tests.offenders import refused

CLAIM, NUMBERS = PrivacyClaim(1.0), itertools.count()


def audited(mechanism, **settings):
    settings = {"budget": 20_000, "tolerance": 1.5, "workers": 0, **settings}
    return audit.check_privacy(mechanism, CLAIM, [PAIR], **settings)


def private(rng):
    return float(rng.laplace(scale=4))


def raises_on_one_side(data, size, rng):
    outputs = laplace(data, size, rng)
    if data[0] == 0 and (outputs > 3).any():
        raise OverflowError("too big")
    return outputs


def nan_on_one_side(data, size, rng):
    outputs = laplace(data, size, rng)
    if data[0] == 1:
        outputs[rng.random(size) < 0.05] = np.nan
    return outputs


def mutates_call_by_call(data, rng):
    data += 1
    return data.sum() + rng.laplace()


def unseeded(data, size, rng):
    return laplace(data, size, np.random.default_rng())


class CountsItsCalls:
    calls = 0

    def __call__(self, data, size, rng):
        self.calls += 1
        return laplace(data, size, rng) + self.calls


class RaisesInItsLaw:
    def __call__(self, data, size, rng):
        return laplace(data, size, rng)

    def law(self, data):
        raise RuntimeError("no law")


def hist(data, rng):
    """Many numbers, one of which is not private, beside a private one."""
    bins = {f"bin {place}": noise for place, noise in enumerate(rng.laplace(scale=0.3, size=100).tolist())}
    return {"total": private(rng), "hist": {**bins, "bin 7": bins["bin 7"] + float(data.sum())}}


def unread(data, rng):
    """A number in a text of one length."""
    packed = struct.pack("<d", data.sum() + rng.laplace(scale=0.3))
    return {"total": private(rng), "log": base64.b64encode(packed).decode()}


def text_now_and_then(data, rng):
    """What a text says in one of twenty outputs is planted nowhere: a leak of it must not pass."""
    said = f"about {data.sum() + rng.laplace(scale=0.9):.3f}"
    return said if rng.random() < 0.05 else private(rng)


LONG, GAME = {"budget": 40_000, "tolerance": 1.0}, {"method": "fixed"}
ROWS = {
    "honest": (laplace, LONG, "PASS", "floating point: not audited"),
    "raises on one side": (raises_on_one_side, LONG, "FAIL", "guesses were right"),
    "NaN on one side": (nan_on_one_side, LONG, "FAIL", "guesses were right"),
    "wrong length": (lambda data, size, rng: np.zeros(size + (size > 100)), LONG, "INCONCLUSIVE", "outputs, expected"),
    "mutates": (
        per_call(mutates_call_by_call),
        LONG,
        "INCONCLUSIVE",
        "later calls of a block saw: copy it first",
    ),
    "no generator": (unseeded, LONG, "INCONCLUSIVE", "the same seed gave different outputs"),
    "counts its calls": (CountsItsCalls(), LONG, "INCONCLUSIVE", "depend on earlier calls"),
    "one noise for all": (
        lambda data, size, rng: np.full(size, private(rng)),
        LONG,
        "INCONCLUSIVE",
        "rng.laplace(size=size)",
    ),
    "raises in its law": (RaisesInItsLaw(), LONG, "INCONCLUSIVE", "cannot be evaluated: RuntimeError: no law"),
    "a counter": (
        per_call(lambda data, rng: {"n": next(NUMBERS), "x": private(rng)}),
        {"budget": 8_000},
        "INCONCLUSIVE",
        'output["n"] counts the calls',
    ),
    "many numbers": (per_call(hist), {"budget": 8_000}, "FAIL", ""),
    "a place that nothing reads": (per_call(unread), {}, "INCONCLUSIVE", 'no score reads output["log"]:'),
    "without it": (per_call(lambda data, rng: {"total": private(rng), "log": "done"}), {}, "PASS", ""),
    "a text now and then": (per_call(text_now_and_then), GAME, "INCONCLUSIVE", "no score reads output:"),
    "a text that repeats": (
        per_call(lambda data, rng: "none" if rng.random() < 0.05 else private(rng)),
        {},
        "PASS",
        "",
    ),
}


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.false_alarm(1e-9)
def test_each_gets_its_verdict_and_its_cause(name):
    mechanism, settings, verdict, words = ROWS[name]
    result = audited(mechanism, **settings)
    assert (result.verdict.value, words in result.reason) == (verdict, True), result.reason


def test_a_number_that_rises_on_one_dataset_alone_is_no_counter():
    """It may be what tells the datasets apart."""
    rising, noise = np.arange(100.0), np.random.default_rng(0).laplace(size=100)
    for sides, found in (((rising, rising + 100), ["output"]), ((rising, noise), []), ((noise, rising), [])):
        assert list(find_counters([[encode(side, 100)] for side in sides])) == found


def test_outputs_that_are_filled_anew_are_read_at_once():
    held = {}

    def refill(data, size, rng):
        buffer = held.setdefault(size, np.zeros(size))
        buffer[:] = data.sum() + rng.laplace(size=size)
        return buffer

    one = per_call(lambda data, rng: refill(data, 1, rng))
    assert len({float(value[0]) for value in one(PAIR[0], 5, np.random.default_rng(0))}) == 5
    assert [audited(each).verdict.value for each in (one, refill)] == ["PASS"] * 2


class Remote:
    async def __call__(self, data):
        return 1.0


async def remote_batch(data, size, rng):
    return np.zeros(size)


def test_coroutines_of_every_kind_are_refused_with_what_to_type(recwarn):
    with pytest.raises(InvalidArgument, match=r"asyncio.run"):
        per_call(Remote())
    with pytest.raises(InvalidArgument, match=r"asyncio.run\(remote_batch\(data\)\)"):
        audited(remote_batch)
    assert "await it" in audited(per_call(lambda data: Remote()(data)), budget=100).reason
    assert not [each for each in recwarn.list if issubclass(each.category, RuntimeWarning)]  # never awaited


def of_dataset(data):
    return data.sum()


def of_dataset_and_rng(data, rng):
    return data.sum() + rng.laplace()


def swapped(data, rng, size):
    return data.sum() + rng.laplace(size=size)


class Method:
    def release(self, data, size):
        return data.sum()


def check(mechanism=laplace, claim=CLAIM, pairs=(PAIR,)):
    return audit.check_privacy(mechanism, claim, pairs)


test_an_argument_in_an_awkward_form_names_what_to_type = refused(
    [
        (lambda: check(of_dataset), r"got of_dataset\(data\); .* give audit.per_call\(of_dataset\)"),
        (lambda: check(of_dataset_and_rng), r"got of_dataset_and_rng\(data, rng\); .* give audit.per_call"),
        (lambda: check(Method().release), r"got release\(data, size\); add a third parameter rng"),
        (lambda: check(swapped), "the size comes before the generator"),
        (lambda: check(3.0), "must be callable as"),
        (lambda: check(claim=(1.0, 1e-5)), r"write audit.PrivacyClaim\(1.0, 1e-05\)"),
        (lambda: check(pairs=PAIR), r"write pairs=\[\(left, right\)\]"),
        (lambda: check(pairs=[({"age": [1], "id": [1]}, {"age": [2], "id": [2]})]), r"give pandas.DataFrame\(dict\)"),
        *(
            (lambda relation=relation: PrivacyClaim(1.0, relation=relation), r"AddRemove\(\), Substitution\(\)")
            for relation in ("add-remove", audit.AddRemove)
        ),
    ],
    error=AuditError,
)


def passing_on(*arguments):
    return of_dataset_and_rng(*arguments)


def spent(data):
    raise RuntimeError("budget exhausted")


def mixed_types(data):
    return int(data.sum()) if np.random.default_rng().random() < 0.5 else np.random.default_rng().integers(2)


def raising(data, rng):
    if (output := data.sum() + rng.laplace()) < 0:
        raise ValueError("negative")
    return output


@pytest.mark.parametrize(
    ("function", "verdict", "said"),
    [
        (mixed_types, "FAIL", "its outputs are of several types, int, numpy.int64: convert them, if callers do"),
        (raising, "INCONCLUSIVE", "catch the exception, and return the value that callers see instead"),
        (lambda data: (number for number in data), "INCONCLUSIVE", "return list"),
        (lambda data: None, "INCONCLUSIVE", "does it return a value?"),
        (passing_on, "INCONCLUSIVE", "passing_on hides its parameters: put @functools.wraps(function) on it"),
        (spent, "INCONCLUSIVE", "audit.per_call(lambda data: make().release(data))"),
    ],
)
def test_an_output_in_an_awkward_form_names_what_to_type(function, verdict, said):
    result = audit.check_privacy(
        per_call(function), PrivacyClaim(1.1), [PAIR], budget=20_000, method="fixed", workers=0
    )
    assert result.verdict == verdict
    assert said in result.reason


def refusing(data, rng):
    if data.sum() and rng.random() < 0.3:
        raise ValueError("too many")
    return private(rng)


def silent(data, rng):
    return None if data.sum() and rng.random() < 0.3 else private(rng)


@pytest.mark.parametrize(
    ("function", "kind", "event"),
    [
        (refusing, "raised ValueError", "output in {raised ValueError: too many}"),
        (silent, "NoneType", "output in {None}"),
    ],
)
@pytest.mark.parametrize("budget", [20_000, "auto"])
def test_an_error_or_none_on_one_side_is_named(function, kind, event, budget):
    result = audit.check_privacy(per_call(function), PrivacyClaim(1.0), [PAIR], budget=budget, workers=0)
    assert (result.verdict, result.witness.text) == ("FAIL", event)
    assert kind in result.reason
    assert "convert them" not in result.reason


def test_a_pass_says_that_numbers_count_as_real_ones():
    result = audit.check_privacy(laplace, CLAIM, [PAIR], workers=0)
    assert result.verdict is Verdict.PASS
    assert result.reason.endswith("; floating point: not audited")
    assert "read as real numbers; set floats='audit'" in result.scope[1]
    assert "low bits" not in result.reason
    assert find_view(result.record()).floats == "not audited"
    assert "floating point: not audited" in find_view(result.record()).reason


def test_outputs_that_are_whole_have_no_bits_to_audit():
    whole = lambda data, size, rng: data.sum() + rng.geometric(0.5, size) - rng.geometric(0.5, size)  # noqa: E731
    report = audit.run([PrivacyCheck(name="x", mechanism=whole, claim=CLAIM, pairs=[PAIR])], workers=0)
    assert find_view(report["x"].record()).floats == ""
    assert "real numbers" not in "; ".join(report["x"].scope)
    assert "floating point" not in RENDERERS["badge.svg"](report.certificate)


def test_bits_are_audited_by_an_extension_only(monkeypatch):
    monkeypatch.setattr(plugins, "list_plugins", lambda: {"core": plugins.CORE})
    with pytest.raises(MissingExtension, match="needs the extension precision"):
        PrivacyCheck(name="x", mechanism=laplace, claim=CLAIM, pairs=[PAIR], floats="audit")
