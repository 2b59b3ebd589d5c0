"""The public names, each imported from its module when it is first used; those of checks are listed with the kinds."""

from . import conformance as conformance
from . import training as training
from .base.errors import AuditError as AuditError
from .base.verdict import Verdict as Verdict
from .checks.base import Result as Result
from .checks.interactive.conversation import Moves as Moves
from .checks.interactive.conversation import Refusal as Refusal
from .checks.privacy.enumerated import Enumeration as Enumeration
from .checks.stability.domains import Domain as Domain
from .checks.stability.metrics import PerPartition as PerPartition
from .checks.stability.strategies import columns as columns
from .checks.stability.strategies import numbers as numbers
from .claims import AddRemove as AddRemove
from .claims import Distance as Distance
from .claims import GaussianClaim as GaussianClaim
from .claims import Group as Group
from .claims import Labeled as Labeled
from .claims import LabelFlip as LabelFlip
from .claims import Local as Local
from .claims import Neighbors as Neighbors
from .claims import PiecewiseLinear as PiecewiseLinear
from .claims import PrivacyClaim as PrivacyClaim
from .claims import RenyiClaim as RenyiClaim
from .claims import Substitution as Substitution
from .claims import TradeOffClaim as TradeOffClaim
from .claims import ZeroConcentratedClaim as ZeroConcentratedClaim
from .claims import ZeroOut as ZeroOut
from .enumeration.enumerate import enumerate_law as enumerate_law
from .faces.compare.comparison import Comparison as Comparison
from .faces.compare.comparison import Implementation as Implementation
from .faces.runs.suite import run as run
from .game.guesses import delta_lower_bound as delta_lower_bound
from .game.intervals import EpsilonInterval as EpsilonInterval
from .game.intervals import epsilon_interval as epsilon_interval
from .game.packing import packing_epsilon_lower_bound as packing_epsilon_lower_bound
from .report.kinds import *
from .report.report import Report as Report
from .subjects import per_call as per_call
from .training.canaries.retrained import canary_epsilon_lower_bound as canary_epsilon_lower_bound
from .training.runs.claim import TrainingClaim as TrainingClaim

__version__: str
