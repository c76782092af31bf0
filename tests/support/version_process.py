"""A home's share, driven by the code of another version, in a process of its own.

Arguments: the folder of that package, home, project folder, then steps: `setup ADDRESS SECRET`, `chat NAME TURNS`,
`push`, `pull`, `key`, `rows`. Each prints a line of JSON.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

texts: dict[str, str] = {}  # of events, by id


def take(batch: Sequence[Any]) -> None:
    """Take in the texts of a batch's events."""
    texts.update((row.id, row.text) for row in batch if type(row).__name__ == "Event")


if __name__ == "__main__":
    sys.path[:0] = [sys.argv[1], str(Path(__file__).resolve().parents[2])]
    import memlayer
    from tests.support.shared_homes import SharedHome

    assert memlayer.__file__.startswith(sys.argv[1])
    opened = SharedHome(Path(sys.argv[2]), Path(sys.argv[3]))
    steps = iter(sys.argv[4:])
    for step in steps:
        said: object = None
        if step == "setup":
            opened.sharing.set_up(next(steps), secret=next(steps), is_plain=False)
        elif step == "chat":
            opened.chat(next(steps), int(next(steps)), 1)
        elif step == "key":
            said = opened.sharing.key()
        elif step == "rows":
            opened.services.store.scan(take)
            said = {"events": texts}
        else:
            told = {"push": opened.sharing.push, "pull": opened.sharing.pull}[step]()
            said = told.fields() if hasattr(told, "fields") else vars(told)
        print(json.dumps(said), flush=True)
    opened.close()
