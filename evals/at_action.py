"""Play a set's tool calls, and print each line that would be told at one.

`python evals/at_action.py SET.jsonl TOOLS.jsonl`

Sessions in order: before each, the lessons of those before it. Of each line: before or behind a call, whether the call
failed all the same, and the line, for a reader to judge. At the end: calls, failed ones, those that another call cured,
and the lines told.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from evals.real_set import load_turns
from memlayer.edge.capture.tool_use import FAILED
from memlayer.give.at_action import Action, Advice, AtAction, Lessons, lessons_of
from memlayer.model import Event
from memlayer.turns.known_errors import KeptCall, kept_call, worked_after

FILE = click.Path(exists=True, path_type=Path)
PROJECT, A_TURN_MS = "P", 1_000_000
UNHEARD = ("Read",)  # no hook runs for them before a call, nor unless they fail


@dataclass
class Played:
    """Counts, and the lines that were told."""

    calls: int = 0
    failed: int = 0
    before: int = 0
    behind: int = 0
    told: AtAction = field(default_factory=AtAction)


def calls_of(tools: Path, session_of: Mapping[int, str]) -> Iterator[KeptCall]:
    """Yield a set's calls as they would be kept, in order."""
    for line in tools.read_text(encoding="utf-8").splitlines():
        turn = json.loads(line)
        for place, call in enumerate(turn["calls"]):
            if call["tool"] not in UNHEARD or call.get("failed"):
                yield _kept(turn["n"], place, call, session_of[turn["n"]])


def _kept(number: int, place: int, call: Mapping[str, Any], session: str) -> KeptCall:
    detail = f"{call['tool']} {FAILED}" if call.get("failed") else str(call["tool"])
    target = " ⏎ ".join(str(call.get("command") or call.get("path") or "").splitlines())[:600]
    text = f"{detail}: {target}\n{str(call.get('error') or '')[:1500]}"
    at_ms = number * A_TURN_MS + place
    return kept_call(Event(f"{number}.{place}", "tool", session, PROJECT, f"p{number}", text, at_ms, detail=detail))


def play(session: str, calls: list[KeptCall], lessons: Lessons, played: Played) -> None:
    """Play a session's calls over the lessons of those before it."""
    for call in calls:
        asked = Action(call.tool, call.target, session)
        played.calls, played.failed = played.calls + 1, played.failed + call.is_failed
        if call.tool not in UNHEARD and _say(played, "before", call, lessons.before(asked)):
            played.before += 1
        if call.is_failed and _say(played, "behind", call, lessons.after(asked, call.error)):
            played.behind += 1


def _say(played: Played, where: str, call: KeptCall, advice: Advice | None) -> bool:
    line = played.told.tell(call.event.session_id, advice)
    if line:
        outcome = "failed" if call.is_failed else "worked"
        click.echo(f"{where} {call.event.id} ({outcome}): {call.target[:100]}\n    {line}")
    return bool(line)


@click.command()
@click.argument("turns", type=FILE)
@click.argument("tools", type=FILE)
def main(turns: Path, tools: Path) -> None:
    """Play a set."""
    by_session: dict[str, list[KeptCall]] = {}
    for call in calls_of(tools, {turn.n: turn.session for turn in load_turns(turns)}):
        by_session.setdefault(call.event.session_id, []).append(call)
    played, heard = Played(), list[KeptCall]()
    for session, calls in by_session.items():
        play(session, calls, lessons_of(heard, (), frozenset()), played)
        heard += calls
    cured = sum(
        worked_after(calls, place) is not None
        for calls in by_session.values()
        for place, call in enumerate(calls)
        if call.is_failed
    )
    click.echo(f"{played.calls} calls, {played.failed} failed, {cured} of them cured by another call at once")
    click.echo(f"lines before a call {played.before}, behind a failed one {played.behind}")


if __name__ == "__main__":
    main()
