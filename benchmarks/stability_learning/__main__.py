"""Print the tables of private learning via stability.

python -m benchmarks.stability_learning            all tables
python -m benchmarks.stability_learning online     some tables, by name
"""

from benchmarks.stability_learning import privacy, utility
from benchmarks.tables import print_tables

TABLES = {**privacy.TABLES, **utility.TABLES}

if __name__ == "__main__":
    print_tables(TABLES)
