"""A part of a module."""

from benchmarks.enumeration.zoo.holder.inner import deeper as deeper

x = 0
LOG: list[int] = []
