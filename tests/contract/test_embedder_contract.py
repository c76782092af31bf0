"""What every Embedder promises, over the double and over the model that ships."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memlayer.adapters.fastembed_embedder import load
from memlayer.adapters.model_folder import SHIPPED_MODEL
from memlayer.ports import Embedder, Vector
from memlayer.testing import HashEmbedder

ROOT = Path(__file__).resolve().parents[2]
HELD_OUT = ROOT / "tests" / "eval" / "projects" / "turns.jsonl"
ASIDES = ROOT / "tests" / "eval" / "asides" / "prompts.jsonl"

TEXTS = [
    "order events moved from Postgres to ClickHouse",
    "사용자는 pytest -x를 선호하고 unittest는 쓰지 않는다",
    "checkout.py의 normalize_cart()는 쿠폰을 적용하지 않는다",
]
ODD_TEXTS = ["", " \n\t", "\ud800 lone surrogate", "\x00\x01", "🙂" * 50, "가" * 30_000, "word " * 20_000]


@pytest.fixture(scope="module", params=["hash", "shipped"])
def embedder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Embedder]:
    """One of each kind; the model is loaded once."""
    if request.param == "hash":
        yield HashEmbedder()
    else:
        yield load(SHIPPED_MODEL, tmp_path_factory.mktemp("cache"))


def test_vectors_have_length_one_and_the_stated_dimensions(embedder: Embedder) -> None:
    for vector in [embedder.embed_query(TEXTS[0]), *embedder.embed_passages(TEXTS)]:
        assert len(vector) == embedder.dimensions
        assert all(isinstance(value, float) for value in vector)
        assert math.isclose(_cosine(vector, vector), 1.0, abs_tol=1e-5)


def test_no_passages_give_no_vectors(embedder: Embedder) -> None:
    assert embedder.embed_passages([]) == []


def test_a_passage_does_not_depend_on_its_neighbours(embedder: Embedder) -> None:
    for text, together in zip(TEXTS, embedder.embed_passages(TEXTS), strict=True):
        alone = embedder.embed_passages([text])[0]
        assert max(abs(a - b) for a, b in zip(alone, together, strict=True)) < 1e-6


@pytest.mark.parametrize("korean", [True, False])
def test_the_shipped_model_knows_questions_that_take_a_past_for_granted(korean: bool, tmp_path: Path) -> None:
    """Of six projects that nothing was trained on, in either language."""
    embedder = load(SHIPPED_MODEL, tmp_path)
    rows = [json.loads(line) for line in HELD_OUT.read_text(encoding="utf-8").splitlines()]
    answered = [row["q"][0 if korean else 1] for row in rows if row.get("q")]
    absent = [text for row in rows for text in row.get("absent", []) if bool(re.search("[가-힣]", text)) is korean]

    def odds(questions: list[str]) -> list[float]:
        return [embedder.calibration.answerable(embedder.embed_query(text)) for text in questions]

    true, idle = odds(answered[::5]), odds(absent[::2])
    likelier = [one > other for one in true for other in idle]
    assert len(likelier) > 1000
    assert sum(likelier) / len(likelier) > 0.7


@pytest.mark.parametrize("language", ["ko", "en"])
@pytest.mark.parametrize("kind", ["talk", "here"])
def test_the_shipped_model_knows_prompts_that_ask_nothing_of_a_memory(kind: str, language: str, tmp_path: Path) -> None:
    """Sentences that nothing was trained on, and the questions of projects that nothing was trained on."""
    embedder = load(SHIPPED_MODEL, tmp_path)
    said = [json.loads(line) for line in ASIDES.read_text(encoding="utf-8").splitlines()]
    prompts = [one["prompt"] for one in said if one["kind"] == kind and one["language"] == language]
    rows = [json.loads(line) for line in HELD_OUT.read_text(encoding="utf-8").splitlines()]
    questions = [row["q"][0 if language == "ko" else 1] for row in rows if row.get("q")][::4]

    def taken(texts: list[str], by: float = 0.0) -> float:
        return sum(embedder.calibration.aside(embedder.embed_query(text)) > by for text in texts) / len(texts)

    close = [one["prompt"] for one in said if one["kind"] == "asks" and one["language"] == language]
    assert len(prompts) == 60 and len(questions) > 60 and len(close) >= 30
    assert taken(prompts) > 0.8
    assert taken(questions) < 0.05
    assert taken(close, by=1.0) < 0.1  # "did we fix this before?", "배포 포트": a little matters only on a borderline


def test_different_texts_have_different_vectors(embedder: Embedder) -> None:
    assert len(set(embedder.embed_passages(TEXTS))) == len(TEXTS)


@pytest.mark.parametrize(
    "text", ODD_TEXTS, ids=["empty", "blank", "surrogate", "control", "emoji", "long-ko", "long-en"]
)
def test_any_text_has_a_vector(embedder: Embedder, text: str) -> None:
    for vector in (embedder.embed_query(text), *embedder.embed_passages([text])):
        assert math.isclose(_cosine(vector, vector), 1.0, abs_tol=1e-5)


@pytest.mark.parametrize(
    ("question", "answer"), [("where did the order events move to?", 0), ("pytest 옵션은 뭘 선호하지?", 1)]
)
def test_the_nearest_passage_shares_what_was_asked(embedder: Embedder, question: str, answer: int) -> None:
    cosines = [_cosine(embedder.embed_query(question), vector) for vector in embedder.embed_passages(TEXTS)]
    assert cosines.index(max(cosines)) == answer


def test_calibration_maps_cosines_to_zero_to_one(embedder: Embedder) -> None:
    calibration = embedder.calibration
    assert -1.0 <= calibration.low < calibration.high <= 1.0
    assert (calibration.relevance(-1.0), calibration.relevance(1.0)) == (0.0, 1.0)


def test_fingerprint_is_one_stable_line(embedder: Embedder) -> None:
    assert embedder.fingerprint == embedder.fingerprint.strip() != ""
    assert "\n" not in embedder.fingerprint


def test_threads_get_the_same_vectors(embedder: Embedder) -> None:
    expected = embedder.embed_passages(TEXTS)
    with ThreadPoolExecutor(4) as pool:
        assert all(found == expected for found in pool.map(lambda _: embedder.embed_passages(TEXTS), range(8)))


def _cosine(one: Vector, other: Vector) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


AS_COMPOSED = (
    "import sys; from memlayer import compose; from memlayer.config import Settings; "
    "compose.embedder_maker(sys.argv[2], Settings())().embed_query('안녕')"
)
ALONE = (
    "import sys; from memlayer.adapters.fastembed_embedder import load; "
    "load(sys.argv[1], sys.argv[2]).embed_query('안녕')"
)


@pytest.mark.parametrize("script", [AS_COMPOSED, ALONE], ids=["as composed", "alone"])
def test_nothing_is_written_beside_the_cache(tmp_path: Path, script: str) -> None:
    """onnxruntime's Linux wheels keep a device id and unsent reports under ~/.cache unless they are told not to."""
    person = tmp_path / "person"
    person.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", script, SHIPPED_MODEL, str(tmp_path / "cache")],
        env={"PATH": os.environ["PATH"], "HOME": str(person), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert sorted(person.rglob("*")) == []
