"""Classification under local differential privacy (Berrett & Butucea 2019): mechanism, classifier, and its theorems.

`CHECKS` is gathered from the modules of this package; `mechanisms.faults.local` holds broken variants.
"""

from __future__ import annotations

from mechanisms import gather

CHECKS = gather(list(__path__), __name__)
