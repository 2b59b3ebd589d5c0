"""Call the subject: in blocks, on workers, with every kind of output."""

from audit.subjects.blocks import BLOCK, Block, Side, Stream, map_blocks
from audit.subjects.outputs import BadBatch, BadLength, Outputs, Raised, Symbols, concatenate, encode
from audit.subjects.subject import PerCall, Subject, SubjectFailed, per_call
