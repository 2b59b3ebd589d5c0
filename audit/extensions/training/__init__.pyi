"""The names of this extension, each imported from its module when it is first used."""

from .runs.recorder import Recorder as Recorder
from .runs.strategy import Strategy as Strategy
