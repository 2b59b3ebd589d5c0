"""Released versions of real libraries, audited against what their documentation claims.

Every library runs in a virtual environment of its own and answers through the program protocol; `README.md` says how
to add one. `python -m wild` audits them all and writes `docs/found.md`.
"""
