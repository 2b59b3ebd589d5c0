"""Call the subject: in blocks, on workers, with every kind of output."""

from audit.subjects.blocks import BLOCK, Block, Side, Stream, blocks, map_blocks
from audit.subjects.outputs import BadBatch, BadLength, Outputs, Raised, Symbols, concatenate, encode
from audit.subjects.subject import PerCall, Subject, SubjectFailed, per_call

__all__ = [
    "BLOCK",
    "BadBatch",
    "BadLength",
    "Block",
    "Outputs",
    "PerCall",
    "Raised",
    "Side",
    "Stream",
    "Subject",
    "SubjectFailed",
    "Symbols",
    "blocks",
    "concatenate",
    "encode",
    "map_blocks",
    "per_call",
]
