"""OpenDP's answers to the queries that every library is asked, each at the claim of its own map; in its environment."""

import opendp.prelude as dp

from audit.claims import PrivacyClaim
from audit.conformance import Library

dp.enable_features("contrib", "honest-but-curious")
library = Library(
    "opendp",
    relation="add/remove",
    quote="symmetric_distance: the number of records that are added or removed",
    distribution="opendp",
)
_SIZED = "make_mean: of a vector of known size"


def _floats(p, size=None):
    kind = int if p.whole else float
    domain = dp.atom_domain(T=int) if p.whole else dp.atom_domain(T=float, nan=False)
    bounds = (kind(p.lower), kind(p.upper))
    return (dp.vector_domain(domain, size), dp.symmetric_distance()) >> dp.t.then_clamp(bounds)


def _noisy(chain, p, d_in):
    """Add Laplace noise at the smallest scale whose map is within epsilon."""
    return dp.binary_search_chain(lambda scale: chain >> dp.m.then_laplace(scale), d_in, p.epsilon)


def _claim(p):
    return PrivacyClaim(p.epsilon * (1 + 1e-9))  # the search ends where the map is within a rounding of it


def _statistic(name, then, sized):
    relation, d_in = ("substitution", 2) if sized else ("add/remove", 1)

    @library.query(name, relation=relation, claim=_claim, quote=_SIZED if sized else "")
    def _(p):
        return _noisy(_floats(p, p.size if sized else None) >> then(), p, d_in)


_statistic("sum", dp.t.then_sum, False)
_statistic("count", dp.t.then_count, False)
_statistic("mean", dp.t.then_mean, True)
_statistic("variance", dp.t.then_variance, True)


@library.query("histogram of public keys", claim=_claim)
def _(p):
    space = dp.vector_domain(dp.atom_domain(T=str)), dp.symmetric_distance()
    chain = space >> dp.t.then_count_by_categories(list(p.categories))
    return _noisy(chain, p, 1)


def _noise(name, kind, then, distance=dp.absolute_distance):
    @library.query(name, native=lambda p: PrivacyClaim(p.sensitivity / p.scale * (1 + 1e-9)))
    def _(p):
        domain = dp.atom_domain(T=int) if kind is int else dp.atom_domain(T=float, nan=False)
        scale = p.sensitivity / p.epsilon if p.scale is None else p.scale
        return (domain, distance(T=kind)) >> then(scale)


_noise("laplace noise", float, dp.m.then_laplace)
_noise("geometric noise", int, dp.m.then_laplace)


@library.query("noisy max", claim=_claim)
def _(p):
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.linf_distance(T=float)
    scale = 2 * p.sensitivity / p.epsilon  # of exponential noise, for scores that are not monotone
    measurement = space >> dp.m.then_noisy_max(dp.max_divergence(), scale)
    return lambda scores: int(measurement(scores))


@library.query("randomized response", claim=_claim)
def _(p):
    others = len(p.categories) - 1
    keep = 1 / (1 + others * 2.718281828459045**-p.epsilon)
    return dp.m.make_randomized_response(list(p.categories), keep * (1 - 1e-12))


@library.outside
def _(query, p, data):
    is_float = isinstance(data, list) and any(isinstance(x, float) and x != x for x in data)
    return "atom_domain: nan=False excludes NaN" if is_float else None
