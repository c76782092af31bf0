"""An import of transcripts: `python bench/history.py [--megabytes 54]`.

Generated sessions of 40 turns, each turn with tool calls whose results are nine tenths of the file, as in the host's
own transcripts. Times until the words can be searched (the verb ends), and until every chunk has its vector.
"""

import json
import os
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path

import click
from latency_texts import turn
from rich.table import Table

from hooks import ROOT, console

sys.path.insert(0, str(ROOT))

from memlayer.edge.ipc.client import Client

TURNS = 40  # a session
CALLS = 3  # a turn
ANSWERS = 4  # paragraphs of an answer
RESULT_CHARS = 3500
POLL_S = 0.2


def write_session(folder: Path, number: int, cwd: str, dice: random.Random) -> int:
    """Write a transcript; return its bytes."""
    session = "00000000-0000-4000-8000-%012d" % number
    lines = []
    for place in range(TURNS):
        parts = [turn((number * TURNS + place) * ANSWERS + part) for part in range(ANSWERS)]
        prompt, answer = parts[0].prompt, "\n\n".join(part.answer for part in parts)
        prompt_id = "%s-%d" % (session, place)
        at_s = time.time() - 86_400 * 30 + (number * TURNS + place) * 60

        def record(kind: str, content: object, order: int) -> None:
            at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at_s)) + ".%03dZ" % order  # noqa: B023
            fields = {"type": kind, "sessionId": session, "cwd": cwd, "uuid": "%s-%d" % (prompt_id, order)}  # noqa: B023
            message = {"role": kind, "id": "m-%s-%d" % (prompt_id, order), "content": content}  # noqa: B023
            more = {"promptId": prompt_id} if kind == "user" else {}  # noqa: B023
            lines.append(json.dumps({**fields, **more, "timestamp": at, "message": message}, ensure_ascii=False))

        record("user", prompt, 0)
        for call in range(CALLS):
            tool = {"type": "tool_use", "id": "toolu_%d" % call, "name": "Bash", "input": {"command": "make test"}}
            record("assistant", [tool], 2 * call + 1)
            output = "".join("tests/case_%d.py PASSED\n" % dice.randrange(10**6) for _ in range(RESULT_CHARS // 28))
            result = {"type": "tool_result", "tool_use_id": "toolu_%d" % call, "content": output}
            record("user", [result], 2 * call + 2)
        record("assistant", [{"type": "text", "text": answer}], 2 * CALLS + 1)
    path = folder / (session + ".jsonl")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    os.utime(path, (time.time() - 86_400,) * 2)
    return path.stat().st_size


@click.command(help=__doc__)
@click.option("--megabytes", default=54.0, show_default=True)
@click.option("--keep", default="", help="Use and keep this folder.")
def main(megabytes: float, keep: str) -> None:
    base = Path(keep or tempfile.mkdtemp(prefix="memlayer-history-"))
    home, folder, cwd = base / "home", base / "transcripts", base / "project"
    for path in (home, folder, cwd):
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.environ.setdefault("MEMLAYER_RUNTIME_DIR", str(Path(sys.executable).parent.parent))
    client = Client(str(home), str(ROOT), sys.executable)
    try:
        dice, size, sessions = random.Random(7), 0, 0
        while size < megabytes * 1e6:
            size += write_session(folder, sessions, str(cwd), dice)
            sessions += 1
        client.call("status", {}, deadline_s=60)
        while client.call("status", {})["mode"] == "lexical":
            time.sleep(POLL_S)
        began = time.monotonic()
        done = client.call("import", {"paths": [str(folder)]}, deadline_s=3600)
        words_s = time.monotonic() - began
        console.print("%.1f s until the words of %d turns can be searched" % (words_s, done["turns"]))
        while (status := client.call("status", {}, deadline_s=60))["rebuilding"] or status["jobs_waiting"]:
            time.sleep(POLL_S)
        vectors_s = time.monotonic() - began
        stats = client.call("stats", {}, deadline_s=60)
        shown = Table("transcripts", "turns", "chunks", "words searchable, s", "all vectors, s")
        shown.add_row("%d, %.0f MB" % (sessions, size / 1e6), str(done["turns"]), str(stats["chunks"]),
                      "%.1f" % words_s, "%.0f" % vectors_s)  # fmt: skip
        console.print(shown)
    finally:
        client.stop()
        if not keep:
            shutil.rmtree(base, ignore_errors=True)


if __name__ == "__main__":
    main()
