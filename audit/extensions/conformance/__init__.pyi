"""The names of this extension, each imported from its module when it is first used."""

from .usual import discrete_gaussian as discrete_gaussian
from .library import Library as Library
from .library import once as once
from .queries import Parameters as Parameters
from .running import conform as conform
from .running import parametrize as parametrize
