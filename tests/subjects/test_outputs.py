"""The codec: every kind of output becomes numbers or symbols, equal outputs alike, different ones apart."""

import decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.game.scorers.cells import atom_keys
from audit.subjects import BadBatch, BadLength, Raised, concatenate, encode

SCALARS = [
    1.5,
    -0.0,
    3,
    True,
    None,
    float("nan"),
    float("inf"),
    "yes",
    b"x",
    (1, 2),
    [1, [2]],
    {"b": 1, "a": 2},
    {3, 1},
    2**80,
    decimal.Decimal("1.1"),
    Raised(ValueError("no")),
    object,
    np.float32(0.1),
    "nan",
    "None",
    np.zeros(2),
]


@pytest.mark.parametrize("value", SCALARS, ids=repr)
def test_each_kind_of_output_is_accepted_and_known_again(value):
    batch = encode([value, "other", value], 3)
    keys = atom_keys(batch)
    assert len(batch) == 3
    assert keys[0] == keys[2] != keys[1]


def test_kinds_do_not_collide():
    batch = encode(SCALARS, len(SCALARS))
    assert len(set(atom_keys(batch).tolist())) == len(SCALARS)


def test_order_in_sets_and_dicts_means_nothing():
    keys = atom_keys(encode([{"a": 1, "b": 2}, {"b": 2, "a": 1}, {1, 2, 3}, {3, 2, 1}], 4))
    assert keys[0] == keys[1]
    assert keys[2] == keys[3]


def test_memory_addresses_are_not_outputs():
    class Thing:
        pass

    keys = atom_keys(encode([Thing(), Thing()], 2))
    assert keys[0] == keys[1]


@pytest.mark.parametrize("make", [str, lambda text: [text], lambda text: Raised(ValueError(text))])
def test_long_outputs_that_differ_only_at_their_end_are_different(make):
    same, other = "x" * 10_000 + "left", "x" * 10_000 + "right"
    batch = encode([make(same), make(other), make(same)], 3)
    keys = atom_keys(batch)
    assert keys[0] == keys[2] != keys[1]
    assert all(len(text) < 300 for text in batch.symbols.table)


def test_an_output_whose_repr_fails_is_an_output():
    class Rude:
        def __repr__(self):
            raise RuntimeError("no")

    assert "repr raised RuntimeError" in encode([Rude()], 1).symbols.at(0)


@pytest.mark.parametrize(
    ("raw", "shape"),
    [
        (np.arange(3), (3,)),
        (np.zeros((3, 1)), (3,)),
        (np.zeros((3, 4)), (3, 4)),
        (np.zeros((3, 2, 2)), (3, 4)),
        (np.array([1j, 2, 3]), (3, 2)),
        ([1, 2.5, True], (3,)),
        ([(1, 2), (3, 4), (5, 6)], (3, 2)),
        ([np.zeros(2), np.ones(2), np.ones(2)], (3, 2)),
    ],
)
def test_numbers_stay_numbers(raw, shape):
    batch = encode(raw, 3)
    assert batch.numbers.shape == shape
    assert batch.symbols is None


def test_nan_is_a_symbol_and_its_place_in_a_vector_too():
    assert encode(np.array([1.0, np.nan]), 2).symbols.table == ("nan",)
    batch = encode(np.array([[1.0, np.nan], [np.nan, 1.0], [1.0, 1.0]]), 3)
    assert batch.symbols.at(0) == "nan: in coordinates 1"
    assert batch.symbols.at(1) == "nan: in coordinates 0"
    assert batch.symbols.at(2) is None


def test_large_integers_keep_their_last_digit():
    keys = atom_keys(encode(np.array([2**60, 2**60 + 1]), 2))
    assert keys[0] != keys[1]


def test_ragged_rows_are_symbols():
    batch = encode([[1], [1, 2], []], 3)
    assert [batch.symbols.at(i) for i in range(3)] == ["list: [1]", "list: [1, 2]", "list: []"]


def test_mixed_numbers_and_symbols():
    batch = encode([1.0, None, 2], 3)
    assert batch.numbers[[0, 2]].tolist() == [1.0, 2.0]
    assert batch.symbols.codes.tolist() == [-1, 0, -1]


@pytest.mark.parametrize("raw", [None, 3.0, "abc", {1, 2, 3}, np.float64(1), (x for x in range(3))])
def test_what_has_no_rows_is_no_batch(raw):
    with pytest.raises(BadBatch) as caught:
        encode(raw, 3)
    assert not isinstance(caught.value, BadLength)


@pytest.mark.parametrize("raw", [[1, 2], np.zeros(4), np.zeros((2, 3)), []])
def test_the_wrong_length_is_said(raw):
    with pytest.raises(BadLength, match=f"returned {len(raw)} outputs where 3"):
        encode(raw, 3)


rows = st.one_of(
    st.floats(),
    st.integers(-5, 5),
    st.none(),
    st.text(max_size=3),
    st.booleans(),
    st.lists(st.integers(0, 2), max_size=3),
)


@given(st.lists(rows, min_size=1, max_size=12), st.integers(0, 12))
def test_joining_parts_is_encoding_the_whole(values, cut):
    cut = min(max(cut, 0), len(values))
    parts = [part for part in (values[:cut], values[cut:]) if part]
    joined = concatenate([encode(part, len(part)) for part in parts])
    whole = encode(values, len(values))
    if joined.numbers.shape == whole.numbers.shape and joined.is_scalar:
        mixed = any(isinstance(v, list) for v in values)
        if not mixed:
            assert atom_keys(joined).tolist() == atom_keys(whole).tolist()
    assert len(joined) == len(whole)


def test_batches_that_disagree_in_shape_become_symbols():
    joined = concatenate([encode(np.zeros(2), 2), encode(np.zeros((2, 3)), 2)])
    assert joined.is_scalar
    assert joined.symbolic.all()
