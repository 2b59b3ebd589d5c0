"""The names of this extension, each imported from its module when it is first used."""

from audit.extensions.following.engine import follow as follow
from audit.extensions.following.evidence import Bound as Bound
from audit.extensions.following.evidence import Followed as Followed
from audit.extensions.following.engine import explain as explain
from audit.extensions.following.ledger import NoiseLedger as NoiseLedger
from audit.extensions.following.method import Following as Following
