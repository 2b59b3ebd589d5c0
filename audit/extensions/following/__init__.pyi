"""The names of this extension, each imported from its module when it is first used."""

from .engine import follow as follow
from .evidence import Followed as Followed
from .ledger import Ledger as Ledger
from .ledger import explain as explain
