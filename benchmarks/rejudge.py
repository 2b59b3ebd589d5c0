"""Put the reasons that the judges give today into certificates whose evidence and verdicts stay as they are.

`python -m benchmarks.rejudge reports/certificate.json ...`, after a reason or its scope was reworded: `dp-audit
verify` compares them too. A certificate whose verdicts or bounds differ is refused: it has to be made anew.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from audit.certificate.document import chain_of, seal_of, text_of
from audit.certificate.verify import judged_part, problems_of


def rejudged(certificate: dict) -> dict:
    """Return a certificate with today's reasons, chained and sealed; raise ValueError if more than words differ."""
    checks = []
    for check in certificate["checks"]:
        found = judged_part(check)
        words = {name: found.pop(name) for name in ("reason", "scope")}
        if other := [name for name, value in found.items() if check.get(name) != value]:
            raise ValueError(f"{check['name']}: the evidence gives another {other[0]}: make the certificate anew")
        checks.append({**check, **words})
    made = {**certificate, "checks": checks}
    made["chain"] = chain_of(made["settings"], checks, made["plan"])
    made["seal"] = seal_of(made)
    return made


def main(names: Sequence[str]) -> None:
    for name in names:
        made = rejudged(json.loads(Path(name).read_text()))
        Path(name).write_text(text_of(made))
        print(f"{name}: {'; '.join(problems_of(made)) or 'whole'}")


if __name__ == "__main__":
    main(sys.argv[1:])
