"""Say for each refusal what to write instead: the nearest form that is followed.

A row is a part of the message and the remedy; the first row that fits is used. Its tests have a refused and an accepted
program for each row.
"""

from __future__ import annotations

_KNOWN_LAWS = "draw `random`, `integers`, `binomial`, `geometric` or `poisson`"
_NOISE = "follow the noise, by `audit.extensions.following.follow`"
REMEDIES: tuple[tuple[str, str], ...] = (
    ("for comparison with another draw", "compare integers of `rng.geometric`"),
    ("for conversion to float", "leave the number as it is: it is a float"),
    ("possible values was fixed, for the output", "return a comparison or `int(x * 2**k)` with k at most 12"),
    ("possible values was fixed", "draw `integers(n)` with n at most 4096, or compare the number"),
    ("integer parts was made an integer", "clip it first: `int(np.clip(x, low, high))`"),
    ("np.", "use +, -, *, /, comparisons, `np.log`, `np.exp`, `np.sqrt`, `np.floor` or `np.clip`"),
    ("binomial with n", "add binomials of at most 1,024"),
    ("random into an array", "call `random(n)`"),
    ("choice without replacement, with p", "choose one index at a time, and scale the weights that are left"),
    ("in NumPy's own order", "leave out `shuffle=False`"),
    ("bytes of another number", "ask for 0 bytes or more, by an integer"),
    ("along another axis", "shuffle indices, and apply them along the axis"),
    ("source was seeded", "draw from the generator that is given"),
    ("state of the source", "draw from the generator that is given"),
    ("read of the whole stream", "read as many bytes as are needed: `read(n)`"),
    *((f".{law}", _NOISE) for law in ("laplace", "normal", "gumbel", "logistic", "exponential", "standard_normal")),
    ("Generator.", _KNOWN_LAWS),
    ("RandomState.", _KNOWN_LAWS),
    ("not kept as a symbol", "return `answer + noise` with integer noise, or list `datasets` or `pairs`"),
)


def remedy_for(reason: str) -> str:
    """Return what to write instead, as an addition to a message; nothing where there is no rule.

    Examples
    --------
    >>> from audit.extensions.enumeration.remedies import remedy_for
    >>> remedy_for("Generator.wald (sample, line 3)")
    '; instead: draw `random`, `integers`, `binomial`, `geometric` or `poisson`'
    """
    return next((f"; instead: {remedy}" for part, remedy in REMEDIES if part in reason), "")
