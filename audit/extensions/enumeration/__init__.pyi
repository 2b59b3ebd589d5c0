"""The names of this extension, each imported from its module when it is first used."""

from audit.extensions.enumeration.enumerate import enumerate_law as enumerate_law
