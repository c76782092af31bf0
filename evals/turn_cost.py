"""Count the tokens of a model that reads each turn: `python evals/turn_cost.py SET.jsonl [--tools TOOLS.jsonl]`.

No model is asked. Tokens are estimated as for sessions (evals/notes.py): a third of the UTF-8 bytes.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from evals.real_set import load_turns
from memlayer.consolidation.llm.extractor import SYSTEM, question, turn_as_sent
from memlayer.edge.capture.noise import recallable
from memlayer.notes.request import tokens_of

FILE = click.Path(exists=True, path_type=Path)
AT_MS = 1_760_000_000_000


@click.command(help=__doc__)
@click.argument("turns", type=FILE)
@click.option("--tools", type=FILE, help="The tool calls of each turn.")
def main(turns: Path, tools: Path | None) -> None:
    every = load_turns(turns)
    asked = [turn for turn in every if turn.answer and recallable(turn.prompt)]
    sent = [tokens_of(SYSTEM) + tokens_of(question(turn_as_sent(turn.prompt, [turn.answer]), AT_MS)) for turn in asked]
    share = 100 / len(every)
    click.echo(f"{len(every)} prompts; of 100: {len(asked) * share:.0f} calls, {sum(sent) * share:,.0f} tokens in")
    if tools is not None:
        calls = sum(len(json.loads(line)["calls"]) for line in tools.read_text("utf-8").splitlines())
        click.echo(f"tool calls in 100 prompts: {calls * share:.0f}")


if __name__ == "__main__":
    main()
