"""Packings from a dense sequence pack and cover; distances are those of the 2-adic numbers."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import pytest

from audit.errors import InvalidArgument
from mechanisms.consistency.dense_sequence import (
    ROOT_LINE,
    TWO_ADIC,
    DenseSequence,
    _centers,
    dyadic_distance,
    fraction,
)


@pytest.mark.parametrize("space", [TWO_ADIC, ROOT_LINE], ids=["2-adic", "roots"])
@pytest.mark.parametrize("radius", [1.0, 0.4])
def test_centers_are_apart_and_every_place_has_one_within_the_radius(space, radius):
    places = [space.place(i) for i in range(300)]
    cells = [key[0] for key in space.keys_of(space.points(places), radius)]
    centers = [_centers(space, radius).numbered(i)[0] for i in range(max(cells) + 1)]
    assert min(space.distance(a, b) for a, b in combinations(centers, 2)) >= radius
    for place, cell in zip(places, cells, strict=True):
        near = [number for number, center in enumerate(centers) if space.distance(place, center) <= radius]
        assert near[0] == cell


def test_the_number_of_a_cell_depends_on_no_other_record():
    alone = ROOT_LINE.keys_of(ROOT_LINE.points([Fraction(9, 2)]), 0.5)
    crowd = ROOT_LINE.keys_of(ROOT_LINE.points([Fraction(k, 3) for k in range(-9, 9)] + [Fraction(9, 2)]), 0.5)
    assert alone[0] == crowd[-1]


def test_dyadic_distances():
    assert dyadic_distance(Fraction(0), Fraction(8)) == 1 / 8
    assert dyadic_distance(Fraction(3, 4), Fraction(1, 4)) == 2
    assert dyadic_distance(Fraction(5), Fraction(5)) == 0
    points = [fraction(i) for i in range(40)]
    for a, b in combinations(points, 2):
        assert all(dyadic_distance(a, b) <= max(dyadic_distance(a, c), dyadic_distance(c, b)) for c in points[:10])


def test_a_sequence_that_is_not_dense_is_noticed():
    whole = DenseSequence(lambda i: i, lambda a, b: abs(a - b), 1.0, most=50)
    with pytest.raises(InvalidArgument, match=r"hold points within 0\.1 of the first 50 of the sequence"):
        whole.keys_of(whole.points([0.5]), 0.1)
