"""Tables of examples that tests are parametrized by, read from `tests/data/tables/`."""

from pathlib import Path
from typing import Any

import yaml

TABLES = Path(__file__).resolve().parents[1] / "data" / "tables"


def tables(name: str) -> dict[str, Any]:
    """Return the tables of a test module by their names, e.g. of `edge/privacy`; a row is a list."""
    with (TABLES / (name + ".yaml")).open(encoding="utf-8") as read:
        return dict(yaml.load(read, Loader=yaml.CSafeLoader))
