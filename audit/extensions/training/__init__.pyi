"""The names of this extension, each imported from its module when it is first used."""

from audit.extensions.training.runs.recorder import Recorder as Recorder
