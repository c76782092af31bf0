"""Corpora of secrets, transcripts with them, and a byte search.

The search goes through every byte and every table of a home.
"""

import json
import os
import stat
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from memlayer.edge.redaction.privacy import redact

# A daemon that shows whatever shares a word with the prompt: a leak has no floor to hide behind.
TELLS_ALL = {"embedding": {"provider": "none"}, "recall": {"min_chance": 0, "max_entries": 20, "max_chars": 9000}}
DATA = Path(__file__).resolve().parents[1] / "data"
SHORTEST_TOLD_APART = 6  # characters: a shorter secret (a PIN) occurs by chance in any store


def items(name: str) -> list[dict[str, Any]]:
    """One corpus, e.g. `secrets_positive`."""
    return [json.loads(line) for line in (DATA / (name + ".jsonl")).read_text("utf-8").splitlines()]


def secrets() -> list[dict[str, Any]]:
    """Return all secrets that are found by themselves.

    tests/unit/edge/test_privacy.py says how much that must be.
    """
    corpus = [*items("secrets_positive"), *items("secrets_heldout_positive")]
    return [item for item in corpus if item["secret"] not in redact(item["text"])]


def needles(corpus: Iterable[dict[str, Any]]) -> dict[bytes, str]:
    """Return search bytes -> the text they came in.

    Of a secret of several lines its longest line.
    """
    found: dict[bytes, str] = {}
    for item in corpus:
        line = max(item["secret"].replace("\\n", "\n").split("\n"), key=len)
        if len(line) >= SHORTEST_TOLD_APART:
            found[line.encode()] = item["text"]
            found[json.dumps(line, ensure_ascii=False)[1:-1].encode()] = item["text"]
    return found


def files_below(folder: Path) -> Iterator[Path]:
    """Every regular file, hidden ones too."""
    for at, _, names in os.walk(folder):
        for name in names:
            path = Path(at, name)
            if stat.S_ISREG(path.lstat().st_mode):
                yield path


def found_in_bytes(folder: Path, wanted: Iterable[bytes]) -> list[tuple[str, bytes]]:
    """Return (file, needle) for every needle found.

    It stands in a file or in a file's name.
    """
    wanted = list(wanted)
    found = []
    for path in files_below(folder):
        data = path.read_bytes() + b"\n" + os.fsencode(path.name)
        found += [(str(path.relative_to(folder)), needle) for needle in wanted if needle in data]
    return found


def texts_in_store(home: Path) -> list[str]:
    """Return every string of every table.

    LanceDB may compress its files, so bytes alone prove nothing.
    """
    import lancedb  # type: ignore[import-untyped]

    texts = []
    store = lancedb.connect(str(home / "store"))
    for name in ("events", "memories", "chunks"):
        for row in store.open_table(name).to_arrow().to_pylist():
            texts += [value for value in row.values() if isinstance(value, str)]
    assert texts, "the store is empty"
    return texts


def left_in_home(home: Path, wanted: dict[bytes, str]) -> list[str]:
    """Where a secret still stands: in bytes, or in a table."""
    left = ["%s: %r" % found for found in found_in_bytes(home, wanted)]
    everything = "\n".join(texts_in_store(home)).encode("utf-8", "replace")
    return left + ["store: %r from %r" % (needle, text[:80]) for needle, text in wanted.items() if needle in everything]


def batches(corpus: list[dict[str, Any]], size: int) -> list[str]:
    """The corpus as prompts of `size` items each."""
    return ["\n\n".join(item["text"] for item in corpus[at : at + size]) for at in range(0, len(corpus), size)]


def record(kind: str, session: str, cwd: str, content: object, **more: object) -> str:
    """A line of the host's transcript."""
    now = time.time() + 60
    made = {
        "type": kind, "uuid": "u-%s" % time.time_ns(), "sessionId": session, "cwd": cwd, "isSidechain": False,
        "timestamp": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now)) + ".000Z",
        "message": {"role": kind, "id": "m-%s" % time.time_ns(), "content": content}, **more,
    }  # fmt: skip
    return json.dumps(made, ensure_ascii=False) + "\n"


def transcript(session: str, cwd: str, prompts: list[str]) -> str:
    """Return a transcript that carries these texts.

    Its prompts, answers, tool calls and tool results each carry them.
    """
    lines = []
    for i, prompt in enumerate(prompts):
        call = {"type": "tool_use", "id": "t%d" % i, "name": "Bash", "input": {"command": prompt}}
        result = {"type": "tool_result", "tool_use_id": "t%d" % i, "content": prompt}
        lines += [
            record("user", session, cwd, prompt, promptId="pt%d" % i),
            record("assistant", session, cwd, [call]),
            record("user", session, cwd, [result], promptId="pt%d" % i, toolUseResult={"stdout": prompt}),
            record("assistant", session, cwd, [{"type": "text", "text": "You said: " + prompt}]),
        ]
    return "".join(lines)
