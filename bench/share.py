"""Measure pushes and pulls of a share, and their growth with its machines.

`python bench/share.py [--events 2000,10000] [--machines 2,10,100,1000] [--json FILE]`. Against moto_server, a local one
without a network's latency, in an environment of its own (requirements-s3-tests.lock). Each figure is of one run. Three
tables: n events at each place; a session of 10 turns, merges and rewriting counted; and the requests of
one session in a bucket with other people's shares, and in a share that has that many machines itself.
"""

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from memlayer.adapters.lance.share_tables import ShareTables  # noqa: E402
from memlayer.sharing.ledger import GONE, ROWS, Content, ObjectName, packed  # noqa: E402
from memlayer.sharing.share import new_machine, seal_of  # noqa: E402
from memlayer.sharing.table_engine import TableEngine  # noqa: E402
from tests.support.shared_homes import SharedHome, shared_homes  # noqa: E402
from tests.support.shares import PLACES, ObjectStore  # noqa: E402

SESSIONS, TURNS = 24, 10
console = Console()


def costs(store: ObjectStore | None, work: Callable[[], Any]) -> dict[str, Any]:
    """Return seconds, requests and bytes of a piece of work."""
    if store is not None:
        store.requests.clear()
        store.bodies.clear()
        store.answered_bytes = 0
    started = time.perf_counter()
    done = work()
    out: dict[str, Any] = {"seconds": round(time.perf_counter() - started, 3), "object_bytes": done.bytes}
    if store is not None:
        out |= {
            "requests": len(store.requests),
            "writes": sum(not row.startswith(("GET", "HEAD")) for row in store.requests),
            "sent_bytes": sum(map(len, store.bodies)), "answered_bytes": store.answered_bytes,
        }  # fmt: skip
    return out


def pair(folder: Path, address: str) -> Any:
    """Open two homes of a person at an address."""
    opened = shared_homes(folder, ["a", "b"])
    first, second = opened.__enter__()
    first.sharing.set_up(address, is_plain=False)
    first.sharing.push()
    second.sharing.set_up(address, secret=first.sharing.key())
    return opened, first, second


def a_session(home: SharedHome, number: int) -> None:
    for turn in range(TURNS):
        at = 100_000 + number * TURNS + turn
        home.say("session-%d" % number, at, "%d번째: which port does module %d use?" % (at, at), "포트 %d 입니다." % at)
    home.consolidate()


def first_times(store: ObjectStore, events: int) -> dict[str, Any]:
    """Measure the first push of n events, and the first pull on an empty machine."""
    out: dict[str, Any] = {}
    for place in (*PLACES, "s3"):
        with tempfile.TemporaryDirectory() as folder:
            address = PLACES[place](Path(folder)) if place in PLACES else store.bucket("first-%d" % events)
            opened, first, second = pair(Path(folder), address)
            first.chat("a", events // 2, 1)
            used = store if place == "s3" else None
            out[place] = {
                "push": costs(used, first.sharing.push), "pull": costs(used, second.sharing.pull),
                "rows": sum(map(len, first.rows().values())), "objects": first.sharing.state().objects,
                "next_push_seconds": costs(used, first.sharing.push)["seconds"],
            }  # fmt: skip
            assert second.rows()["events"].keys() == first.rows()["events"].keys()
            opened.__exit__(None, None, None)
    return out


def sessions(store: ObjectStore, address: str) -> dict[str, Any]:
    """Measure pushes and pulls of sessions one after another."""
    with tempfile.TemporaryDirectory() as folder:
        opened, first, second = pair(Path(folder), address)
        pushed, pulled = [], []
        for number in range(SESSIONS):
            a_session(first, number)
            pushed.append(costs(store, first.sharing.push))
            pulled.append(costs(store, second.sharing.pull))
        live = first.sharing.state().objects
        opened.__exit__(None, None, None)
    return {"push": mean(pushed), "pull": mean(pulled), "objects_after": live}


def mean(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {name: round(sum(row[name] for row in rows) / len(rows), 3) for name in rows[0]}


def others(address: str, home: SharedHome | None, count: int) -> None:
    """Add machines at an address; of a home's share, or of strangers."""
    share = home.sharing.share() if home is not None else None
    seal = seal_of(str(home.home), share) if home is not None and share is not None else None
    engine = TableEngine(address)
    engine.refresh()
    for _ in range(count):
        machine = new_machine()
        objects = {
            span.name: packed(Content(machine, "machine", 1, int(time.time() * 1000)), seal) if seal else b"x" * 2000
            for span in (ObjectName.new(ROWS, 1, 1), ObjectName.new(GONE, 1, 1))
        }
        engine.change(machine, objects, ())


def simulated(store: ObjectStore, sizes: list[int]) -> list[dict[str, Any]]:
    """Measure one session's push and pull among so many machines.

    apart: two a person, each person's share at a prefix of its own. together: all in one share.
    """
    rows = []
    for how in ("apart", "together"):
        with tempfile.TemporaryDirectory() as folder:
            bucket = store.bucket(how)
            mine = bucket.replace("?", "/person-0?")
            opened, first, second = pair(Path(folder), mine)
            a_session(first, 0)
            first.sharing.push()
            second.sharing.pull()
            second.sharing.push()
            there = 2
            for number, size in enumerate(sizes, 1):
                while there < size:
                    if how == "apart":
                        others(bucket.replace("?", "/person-%d?" % there), None, 2)
                        there += 2
                    else:
                        others(mine, first, size - there)
                        there = size
                second.sharing.pull()  # what is there already
                a_session(first, number)
                push = costs(store, first.sharing.push)
                pull = costs(store, second.sharing.pull)
                rows.append({"how": how, "machines": size, "push": push, "pull": pull})
                console.print("%s, %d machines: push %s, pull %s" % (how, size, push, pull))
            opened.__exit__(None, None, None)
    return rows


@click.command()
@click.option("--events", default="2000,10000", help="Events of a first push.")
@click.option("--machines", default="2,10,100,1000", help="Machines in the bucket; empty: no simulation.")
@click.option("--json", "json_file", default="", help="Write the figures there too.")
def main(events: str, machines: str, json_file: str) -> None:
    """Measure shares."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        os.environ[name] = "bench"
    os.environ["AWS_EC2_METADATA_DISABLED"] = "true"
    ShareTables.loses_commits = lambda self: False  # type: ignore[method-assign]  # the check of a new store, once
    figures: dict[str, Any] = {"first": {}, "sessions": {}, "machines": []}
    store = ObjectStore()
    try:
        for size in map(int, filter(None, events.split(","))):
            figures["first"][size] = first_times(store, size)
            shown = Table("place", "rows", "objects", "bytes", "push s", "pull s", "next push s", "requests push, pull",
                          title="%d events" % size)  # fmt: skip
            for place, row in figures["first"][size].items():
                shown.add_row(*map(str, (
                    place, row["rows"], row["objects"], row["push"]["object_bytes"], row["push"]["seconds"],
                    row["pull"]["seconds"], row["next_push_seconds"],
                    (row["push"].get("requests", ""), row["pull"].get("requests", "")),
                )))  # fmt: skip
            console.print(shown)
        figures["sessions"] = sessions(store, store.bucket("sessions"))
        console.print("a session of %d turns, mean of %d: %s" % (TURNS, SESSIONS, figures["sessions"]))
        if machines:
            figures["machines"] = simulated(store, [int(size) for size in machines.split(",")])
    finally:
        store.close()
    if json_file:
        Path(json_file).write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
