"""Say for each refusal what to write instead: the nearest form that is followed.

A row is a part of the message and the remedy; the first row that fits is used. Its tests have a refused and an accepted
program for each row.
"""

from __future__ import annotations

_KNOWN_LAWS = "draw `random`, `integers`, `binomial`, `geometric`, `poisson`, `laplace`, `gumbel` or `normal`"
_COMPARABLE = "compare Laplace, Gumbel, exponential or uniform noise, or round it"
REMEDIES: tuple[tuple[str, str], ...] = (
    ("normal law was fixed, for comparison with", _COMPARABLE),
    ("logistic law was fixed, for comparison with", _COMPARABLE),
    ("for comparison with another draw", "compare `p * x + c` of fresh draws of one law, with known p and c"),
    ("law was fixed, for the output", "return `round(x)` or a comparison"),
    ("law was fixed", "compare it, or take `round(x)`, `math.floor(x)` or `int(x)` first"),
    ("for conversion to float", "call `float` by its own name, or leave the number as it is"),
    ("possible values was fixed, for the output", "return a comparison or `int(x * 2**k)` with k at most 12"),
    ("possible values was fixed", "draw `integers(n)` with n at most 4096, or compare the number"),
    ("integer parts was made an integer", "clip it first: `int(np.clip(x, low, high))`"),
    ("used otherwise after a comparison", "draw anew what is asked of it later"),
    ("compared in a circle", "keep the largest so far, and compare that with each next number"),
    ("were compared with one another", "add integers of `rng.geometric`, or compare fewer candidates"),
    ("np.", "use +, -, *, /, comparisons, `np.log`, `np.exp`, `np.sqrt`, `np.floor` or `np.clip`"),
    ("binomial with n", "add binomials of at most 1,024"),
    ("standard_normal into", "call `normal(size=n)`"),
    ("standard_exponential into", "call `exponential(size=n)`"),
    ("random into an array", "call `random(n)`"),
    ("choice without replacement, with p", "choose one index at a time, and scale the weights that are left"),
    ("in NumPy's own order", "leave out `shuffle=False`"),
    ("bytes of another number", "ask for 0 bytes or more, by an integer"),
    ("along another axis", "shuffle indices, and apply them along the axis"),
    ("source was seeded", "draw from the generator that is given"),
    ("state of the source", "draw from the generator that is given"),
    ("read of the whole stream", "read as many bytes as are needed: `read(n)`"),
    ("Generator.", _KNOWN_LAWS),
    ("RandomState.", _KNOWN_LAWS),
    ("not kept as a symbol", "return `answer + noise` with integer noise, or list `datasets` or `pairs`"),
)


def remedy_for(reason: str) -> str:
    """Return what to write instead, as an addition to a message; nothing where there is no rule.

    Examples
    --------
    >>> from audit.extensions.enumeration.remedies import remedy_for
    >>> remedy_for("a draw of the laplace law was fixed, for the output")
    '; instead: return `round(x)` or a comparison'
    """
    return next((f"; instead: {remedy}" for part, remedy in REMEDIES if part in reason), "")
