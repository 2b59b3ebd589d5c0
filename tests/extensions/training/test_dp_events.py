"""Events of dp_accounting: exact losses against the library's own accountant, and what is refused.

The accountant's epsilon is an upper bound on a grid of 1e-4, computed by another implementation: it may lie above the
exact one by no more than a few grid steps, and below by the rounding of its convolutions (1e-6).
"""

from __future__ import annotations

import numpy as np
import pytest
from dp_accounting import dp_event
from dp_accounting.pld import PLDAccountant
from dp_accounting.privacy_accountant import NeighboringRelation

from audit import AddRemove, LabelFlip, Local, Substitution
from audit.errors import InvalidArgument
from audit.extensions.training.accountants.dp_events import event_loss

ADD, REPLACE = NeighboringRelation.ADD_OR_REMOVE_ONE, NeighboringRelation.REPLACE_ONE
GAUSSIAN, LAPLACE = dp_event.GaussianDpEvent(2.0), dp_event.LaplaceDpEvent(2.0)
CASES = [
    (GAUSSIAN, AddRemove(), ADD),
    (GAUSSIAN, Substitution(), REPLACE),
    (dp_event.SelfComposedDpEvent(GAUSSIAN, 5), AddRemove(), ADD),
    (LAPLACE, AddRemove(), ADD),
    (dp_event.SelfComposedDpEvent(LAPLACE, 3), AddRemove(), ADD),
    (dp_event.DiscreteLaplaceDpEvent(0.5, 2), AddRemove(), ADD),
    (dp_event.ComposedDpEvent([GAUSSIAN, LAPLACE, dp_event.NoOpDpEvent()]), AddRemove(), ADD),
    (dp_event.RandomizedResponseDpEvent(0.5, 4), Substitution(), REPLACE),
    (dp_event.RandomizedResponseDpEvent(0.5, 2), Local(), REPLACE),
]


@pytest.mark.parametrize(("event", "relation", "theirs"), CASES, ids=lambda case: type(case).__name__)
def test_exact_epsilon_agrees_with_the_accountant(event, relation, theirs):
    for delta in (1e-5, 0.01):
        accounted = PLDAccountant(theirs).compose(event).get_epsilon(delta)
        assert accounted - 5e-4 <= event_loss(event, relation).epsilon(delta) <= accounted + 1e-6


def test_randomized_response_in_closed_form():
    """p = 1/2 among 4: the truth with 1/2 + 1/8, each other value with 1/8; log(5), without a grid."""
    loss = event_loss(dp_event.RandomizedResponseDpEvent(0.5, 4), Local())
    assert loss.epsilon(0.0) == pytest.approx(np.log(5), rel=1e-12)
    assert event_loss(dp_event.RandomizedResponseDpEvent(0.5, 1), Local()).epsilon(0.0) == 0
    assert event_loss(dp_event.RandomizedResponseDpEvent(0.0, 2), Local()).epsilon(0.5) == np.inf


def test_replacing_a_record_moves_a_sum_twice_as_far():
    assert event_loss(LAPLACE, AddRemove()).epsilon(0.0) == pytest.approx(0.5, rel=1e-12)
    assert event_loss(LAPLACE, Substitution()).epsilon(0.0) == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize(
    ("event", "relation", "message"),
    [
        (dp_event.PoissonSampledDpEvent(0.1, GAUSSIAN), AddRemove(), "exact loss, got PoissonSampledDpEvent"),
        (dp_event.ZCDpEvent(0.1), AddRemove(), "ZCDpEvent: it states no law"),
        (dp_event.UnsupportedDpEvent(), AddRemove(), "UnsupportedDpEvent"),
        (GAUSSIAN, LabelFlip(), "`relation` must be AddRemove"),
        (dp_event.RandomizedResponseDpEvent(0.5, 4), AddRemove(), "`relation` must be Substitution"),
    ],
    ids=lambda case: type(case).__name__,
)
def test_refusals_say_why(event, relation, message):
    with pytest.raises(InvalidArgument, match=message):
        event_loss(event, relation)


def test_without_noise_no_epsilon_suffices():
    for event in (dp_event.NonPrivateDpEvent(), dp_event.GaussianDpEvent(0.0), dp_event.DiscreteLaplaceDpEvent(0.0, 1)):
        assert event_loss(event, AddRemove()).epsilon(1e-5) == np.inf
