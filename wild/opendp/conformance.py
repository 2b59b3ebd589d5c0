"""OpenDP's answers to the queries that every library is asked, with the least noise that its own maps admit."""

import math
from functools import cache
from inspect import signature

import opendp.prelude as dp

from audit import PrivacyClaim
from audit.extensions.conformance import Library, discrete_gaussian
from audit.laws import Gaussian

dp.enable_features("contrib", "honest-but-curious")
library = Library("opendp", relation="add/remove", distribution="opendp",
                  quote='opendp.combinators: "d_in: maximum distance between adjacent input datasets"')  # fmt: skip
DOMAIN = 'docstring of atom_domain: "T: The type of the atom", "Whether the domain may contain NaN"'
library.exclude_types(DOMAIN)
library.outside(lambda query, p, data: DOMAIN if any(
    x != x or (isinstance(x, int) and not -(2**63) <= x < 2**63) for x in (data if isinstance(data, list) else [data])
) else None)  # fmt: skip
NAN = "nan" if "nan" in signature(dp.atom_domain).parameters else "nullable"  # up to release 0.12
NUMBER, WHOLE = dp.atom_domain(T=float, **{NAN: False}), dp.atom_domain(T="i64")
KEYS = dp.vector_domain(dp.atom_domain(T=str)), dp.symmetric_distance()
SCORES = dp.vector_domain(NUMBER), dp.linf_distance(T=float), dp.max_divergence()
DISTANCE = {NUMBER: dp.absolute_distance(T=float), WHOLE: dp.absolute_distance(T="i64")}


def numbers(p, size=None):
    return dp.vector_domain(WHOLE if p.whole else NUMBER, size), dp.symmetric_distance()


def least(make, d_in=1):
    """Answer by the measurement at the smallest scale whose map is within epsilon."""
    return lambda p: dp.binary_search_chain(lambda scale: make(p, scale), d_in, p.epsilon)


def bounded(then, is_sized=False):
    return lambda p: (
        numbers(p, p.size if is_sized else None)
        >> dp.t.then_clamp(tuple(map(int if p.whole else float, p.bounds)))
        >> then()
    )


def quantile(p, scale):
    grid, space = [int(x) if p.whole else x for x in p.grid()], (*numbers(p), dp.max_divergence())
    return dp.m.make_private_quantile(*space, candidates=grid, alpha=p.quantile, scale=scale)


def gaussian(domain, scale):
    return dp.m.make_gaussian(domain, DISTANCE[domain], scale=scale)


@cache
def deviation(domain, p):
    """Return the scale of Gaussian noise: the one that is asked for, or the least for epsilon and delta."""

    def approximate(scale):
        return dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(gaussian(domain, scale)), p.delta)

    change = p.sensitivity if domain is NUMBER else int(p.sensitivity)
    return p.scale or dp.binary_search_param(approximate, change, (p.epsilon, p.delta), T=float)


def thresholded(p):
    release = dp.m.then_laplace_threshold(scale=1 / p.epsilon, threshold=int(p.threshold))
    return KEYS >> dp.t.then_count_by() >> release


for name, chain, relation, law in (
    ("count", bounded(dp.t.then_count), "add/remove", "integer"),
    ("sum", bounded(dp.t.then_sum), "add/remove", "usual"),
    ("mean", bounded(dp.t.then_mean, is_sized=True), "substitution", "usual"),
    ("variance", bounded(dp.t.then_variance, is_sized=True), "substitution", "sample"),
    ("histogram of public keys", lambda p: KEYS >> dp.t.then_count_by_categories(list(p.categories), False),
     "add/remove", "integer"),
):  # fmt: skip
    d_in = 2 if relation == "substitution" else 1
    build = least(lambda p, scale, chain=chain: chain(p) >> dp.m.then_laplace(scale), d_in)
    library.answer({name: build}, relation=relation, law=law, noiseless=chain,
                   sensitivity=lambda p, chain=chain, d_in=d_in: chain(p).map(d_in))  # fmt: skip
library.query("thresholded counts", claim=lambda p: PrivacyClaim(*thresholded(p).map(1)))(thresholded)
library.answer({
    "laplace noise": lambda p: dp.m.make_laplace(NUMBER, DISTANCE[NUMBER], scale=p.noise),
    "geometric noise": lambda p: dp.m.make_laplace(WHOLE, DISTANCE[WHOLE], scale=p.noise),
}, native="usual", law="usual")  # fmt: skip
for name, domain, law in (("gaussian noise", NUMBER, Gaussian), ("discrete gaussian noise", WHOLE, discrete_gaussian)):
    build = lambda p, domain=domain: gaussian(domain, deviation(domain, p))  # noqa: E731
    # whether discrete noise keeps a curve that it touches at all integer orders is more than rounding allows to decide
    library.answer({name: build}, native="usual", law=lambda p, value, domain=domain, law=law: (
        None if p.scale and domain is WHOLE else law(value, deviation(domain, p))
    ))  # fmt: skip
library.answer({
    "quantile": least(quantile), "median": least(quantile),
    "noisy max": least(lambda p, scale: dp.m.make_noisy_max(*SCORES, scale=scale), 1.0),
    "randomized response": lambda p: dp.m.make_randomized_response(
        list(p.categories), (1 - 1e-12) / (1 + (len(p.categories) - 1) * math.exp(-p.epsilon))
    ),
}, law="usual")  # fmt: skip
