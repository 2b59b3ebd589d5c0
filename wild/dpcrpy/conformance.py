"""dpcrpy's answers to the queries that every library is asked: its noise."""

from dpcrpy.framework.noiMech import GaussNoiMech, LapNoiMech

from audit.extensions.conformance import Library

library = Library("dpcrpy", distribution="dpcrpy",
                  quote='summary: "Differential privacy continual release mechanisms and utilities."')  # fmt: skip
library.typed('summary: "Differential privacy continual release mechanisms and utilities."')


def noise(kind, native):
    """Answer by noise for epsilon, or of a scale."""

    def build(p):
        asked = {"epsilon": p.epsilon, "delta": p.delta} if p.scale is None else {native: p.scale / p.sensitivity}
        made = kind(sens=p.sensitivity, **asked)
        return lambda value: value + float(made.genNoise())

    return build


library.answer({
    "laplace noise": noise(LapNoiMech, "b0"), "gaussian noise": noise(GaussNoiMech, "sigma0"),
}, law="usual", native="usual")  # fmt: skip
