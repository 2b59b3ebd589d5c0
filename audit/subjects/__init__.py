"""Call the subject: in blocks, on workers, with every kind of output."""

from audit.subjects.blocks import BLOCK, Block, Calls, Side, Stream, map_blocks
from audit.subjects.columns import Texts
from audit.subjects.identity import Raised
from audit.subjects.outputs import BadBatch, BadLength, Outputs, encode
from audit.subjects.reading import Reading, concatenate
from audit.subjects.subject import PerCall, Subject, SubjectFailed, per_call

__all__ = [
    "BLOCK", "BadBatch", "BadLength", "Block", "Calls", "Outputs", "PerCall", "Raised", "Reading", "Side",
    "Stream", "Subject", "SubjectFailed", "Texts", "concatenate", "encode", "map_blocks", "per_call",
]  # fmt: skip
