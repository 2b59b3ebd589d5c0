"""The names of this extension, each imported from its module when it is first used."""

from .engine import follow as follow
from .evidence import Bound as Bound
from .evidence import Followed as Followed
from .explain import explain as explain
from .ledger import NoiseLedger as NoiseLedger
from .method import Following as Following
