"""The sequential mode: the guess game as a test that may stop at any time."""

from audit.game.sequential.game import SequentialOutcome, play_sequentially, time_uniform_lower_bound

__all__ = [
    "SequentialOutcome", "play_sequentially", "time_uniform_lower_bound",
]  # fmt: skip
