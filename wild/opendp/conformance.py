"""OpenDP's answers to the queries that every library is asked, with the least noise that its own maps admit."""

import math

import opendp.prelude as dp

from audit.claims import PrivacyClaim
from audit.conformance import Library

dp.enable_features("contrib", "honest-but-curious")
library = Library("opendp", relation="add/remove", distribution="opendp",
                  quote='opendp.combinators: "d_in: maximum distance between adjacent input datasets"')  # fmt: skip
library.typed('docstring of atom_domain: "T: The type of the atom"')


@library.outside
def beyond(query, p, data):
    records = data if isinstance(data, list) else [data]
    if any(x != x for x in records):
        return 'docstring of atom_domain: "Whether the domain may contain NaN"'
    wide = any(isinstance(x, int) and not -(2**63) <= x < 2**63 for x in records)
    return 'docstring of atom_domain: "T: The type of the atom"' if wide else None  # i64


NUMBER, WHOLE, KEY = dp.atom_domain(T=float, nan=False), dp.atom_domain(T="i64"), dp.atom_domain(T=str)


def table(domain, size=None):
    return dp.vector_domain(domain, size), dp.symmetric_distance()


def numbers(p, size=None):
    return table(WHOLE if p.whole else NUMBER, size)


def least(make, p, d_in=1, budget=None):
    """Return the measurement at the smallest scale whose map is within the budget."""
    return dp.binary_search_chain(make, d_in, budget or p.epsilon)


def chained(name, chain, d_in=1, law="usual"):
    said = {"sensitivity": lambda p: chain(p).map(d_in), "noiseless": chain, "law": law}
    library.query(name, relation="substitution" if d_in == 2 else None, **said)(
        lambda p: least(lambda scale: chain(p) >> dp.m.then_laplace(scale), p, d_in)
    )


def bounded(then, is_sized=False):
    def chain(p):
        clamp = dp.t.then_clamp(tuple(map(int if p.whole else float, p.bounds)))
        return numbers(p, p.size if is_sized else None) >> clamp >> then()

    return chain


def counted(p):
    return table(KEY) >> dp.t.then_count_by_categories(list(p.categories), null_category=False)


def quantile(p):
    grid, space = [int(x) if p.whole else x for x in p.grid()], (*numbers(p), dp.max_divergence())
    return least(lambda scale: dp.m.make_private_quantile(*space, candidates=grid, alpha=p.quantile, scale=scale), p)


def laplace(domain, kind):
    space = domain, dp.absolute_distance(T=kind)
    return lambda p: dp.m.make_laplace(*space, scale=p.sensitivity / p.epsilon if p.scale is None else p.scale)


def gaussian(domain, kind):
    space = domain, dp.absolute_distance(T=kind)

    def build(p):
        def noise(scale):
            return dp.m.make_gaussian(*space, scale=scale)

        def approximate(scale):
            return dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(noise(scale)), p.delta)

        return (
            noise(p.scale)
            if p.scale
            else least(
                approximate, p, float(p.sensitivity) if kind is float else int(p.sensitivity), (p.epsilon, p.delta)
            )
        )

    return build


def thresholded(p):
    threshold = dp.m.then_laplace_threshold(scale=1 / p.epsilon, threshold=int(p.threshold))
    return table(KEY) >> dp.t.then_count_by() >> threshold


def noisy_max(p):
    space = dp.vector_domain(NUMBER), dp.linf_distance(T=float), dp.max_divergence()
    return least(lambda scale: dp.m.make_noisy_max(*space, scale=scale), p, p.sensitivity)


def response(p):
    keep = 1 / (1 + (len(p.categories) - 1) * math.exp(-p.epsilon))
    return dp.m.make_randomized_response(list(p.categories), keep * (1 - 1e-12))


chained("count", bounded(dp.t.then_count), law="integer")
chained("sum", bounded(dp.t.then_sum))
chained("mean", bounded(dp.t.then_mean, is_sized=True), 2)
chained("variance", bounded(dp.t.then_variance, is_sized=True), 2)
chained("histogram of public keys", counted, law="integer")
library.query("thresholded counts", claim=lambda p: PrivacyClaim(*thresholded(p).map(1)))(thresholded)
library.answer({
    "laplace noise": laplace(NUMBER, float), "geometric noise": laplace(WHOLE, "i64"),
}, native="usual", law="usual")  # fmt: skip
library.answer({
    "gaussian noise": gaussian(NUMBER, float), "discrete gaussian noise": gaussian(WHOLE, "i64"),
}, native="usual")  # fmt: skip
library.answer({"quantile": quantile, "median": quantile, "noisy max": noisy_max})
library.answer({"randomized response": response}, law="usual")
