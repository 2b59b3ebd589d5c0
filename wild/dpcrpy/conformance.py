"""dpcrpy's answers to the queries that every library is asked: its noise."""

from dpcrpy.framework.noiMech import GaussNoiMech, LapNoiMech

from audit.conformance import Library

library = Library("dpcrpy", distribution="dpcrpy",
                  quote='summary: "Differential privacy continual release mechanisms and utilities."')  # fmt: skip
library.typed('summary: "Differential privacy continual release mechanisms and utilities."')


def noise(make):
    def build(p):
        made = make(p)
        return lambda value: value + float(made.genNoise())

    return build


library.answer({"laplace noise": noise(lambda p: LapNoiMech(p.epsilon, sens=p.sensitivity))})
library.answer({"gaussian noise": noise(lambda p: GaussNoiMech(p.epsilon, p.delta, sens=p.sensitivity))})
