"""Classification under local differential privacy (Berrett & Butucea 2019): mechanism, classifier, statements, faults.

`statements.toml` lists the statements of the paper with the checks of each; `faults` holds broken variants.
"""

from mechanisms import gather

CHECKS = gather(list(__path__), __name__, frozenset({"faults"}))
