"""Follow the noise of unmodified code: an upper confidence bound of its privacy loss, and the lines that spend it."""

from audit.extensions.following.engine import follow
from audit.extensions.following.evidence import Followed
from audit.extensions.following.ledger import Ledger, explain

__all__ = ["Followed", "Ledger", "explain", "follow"]
