"""The subject: what it did to its dataset is written down, and only that."""

import numpy as np
import pytest

from audit.subjects import Block, Subject


@pytest.mark.parametrize("dataset", [np.full(4, 0.2)[::2], np.full(1, 0.2)[1:], np.arange(6.0).reshape(2, 3).T])
def test_a_view_that_nobody_touched_has_not_changed(dataset):
    """A strided or empty view hashes unlike its own copy; that is not a mutation."""
    subject = Subject(lambda data, size, rng: np.zeros(size) + data.sum())
    _, odd = subject.draw(Block(dataset, 3, np.random.SeedSequence(0)))
    assert not odd


def test_a_view_that_is_written_to_has_changed():
    def writes(data, size, rng):
        data += 1
        return np.zeros(size)

    _, odd = Subject(writes).draw(Block(np.full(4, 0.2)[::2], 3, np.random.SeedSequence(0)))
    assert odd["mutated its dataset"] == 1
