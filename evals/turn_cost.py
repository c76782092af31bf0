"""Count the tokens of a model that reads after each turn: `python evals/turn_cost.py SET.jsonl [--tools TOOLS.jsonl]`.

No model is asked. Tokens are estimated as for sessions (evals/notes.py): a third of the UTF-8 bytes. The project has no
notes here; those in force come on top, as for sessions.
"""

import json
import sys
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from evals.real_set import load_turns
from memlayer.notes.request import first_part, system_prompt, tokens_of
from memlayer.notes.session_turns import LEAST_CHARS, SessionTurn, is_telling

FILE = click.Path(exists=True, path_type=Path)
AT_MS = 1_760_000_000_000


@click.command(help=__doc__)
@click.argument("turns", type=FILE)
@click.option("--tools", type=FILE, help="The tool calls of each turn.")
def main(turns: Path, tools: Path | None) -> None:
    every = load_turns(turns)
    asked = [SessionTurn(1, "p1", turn.prompt, turn.answer, (), (), (), AT_MS) for turn in every]
    asked = [turn for turn in asked if is_telling(turn) and len(turn.spoken) >= LEAST_CHARS]
    sent = [tokens_of(system_prompt()) + tokens_of(first_part([turn], [], []).prompt) for turn in asked]
    share = 100 / len(every)
    click.echo(f"{len(every)} prompts; of 100: {len(asked) * share:.0f} calls, {sum(sent) * share:,.0f} tokens in")
    if tools is not None:
        calls = sum(len(json.loads(line)["calls"]) for line in tools.read_text("utf-8").splitlines())
        click.echo(f"tool calls in 100 prompts: {calls * share:.0f}")


if __name__ == "__main__":
    main()
