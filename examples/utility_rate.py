"""Check a convergence rate: the error of a private mean falls like 1 / n, up to n = 1600.

The range of sizes is declared in advance. PASS says that the exponent is within `margin` of 1 on that range, with the
stated error probability. The second check claims a rate that the mechanism does not have.
"""

import audit


def losses(n, replicates, rng):
    """Return `replicates` independent absolute errors of the private mean of n values in [0, 1], capped at 1."""
    return abs(rng.laplace(scale=1 / n, size=replicates)).clip(max=1)


def main():
    sizes = [100, 200, 400, 800, 1600]
    for exponent in (1.0, 2.0):
        result = audit.check_rate(losses, sizes=sizes, exponent=exponent, budget=2_000_000, seed=0)
        print(f"exponent {exponent:g}: {result.verdict} - {result.reason}")


if __name__ == "__main__":
    main()
