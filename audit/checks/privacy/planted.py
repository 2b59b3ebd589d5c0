"""Plant violations in the training outputs of a privacy check, at the sizes that its claim and its outputs set."""

from __future__ import annotations

import math
from dataclasses import replace

from audit.checks.privacy.scope import claimed
from audit.checks.privacy.session import PLANT, Choice, Session, Trained
from audit.game.planting import plant
from audit.game.plants import COUNTED, UNREADABLE, Plants, event_size, training_for
from audit.game.tuning import SCAN_MOST


def plants_of(session: Session, trained: Trained, choice: Choice) -> Plants:
    """Return what was found on the pair that was chosen."""
    scanned, training = choice.interval, trained.split.training
    if scanned is not None and scanned.rows is not None:
        training = len(scanned.rows[0])
    test = claimed(choice.point, training, choice.runs, session.allowance.significance)
    plants = plant(scanned, choice.events.complete, test, session.allowance.stream.child(PLANT).seed())
    if plants.kind in (UNREADABLE, COUNTED) or event_size(test, plants.columns) is not None:
        return plants
    return replace(plants, budget=math.ceil(len(session.pairs) * training_for(test, plants.columns) / SCAN_MOST))
