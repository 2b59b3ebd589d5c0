"""Enumerate the output law of code: follow every random choice that it can make."""

from audit.subjects.enumeration.answers import Answer
from audit.subjects.enumeration.enumerate import enumerate_law
