"""The contract of Embedder, over the double and the shipped model."""

import math
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memlayer.adapters.embedding.fastembed_embedder import load
from memlayer.adapters.embedding.model_folder import SHIPPED_MODEL
from memlayer.ports import Embedder, Vector
from tests.support.embedding_api import KEY_VARIABLE, EmbeddingApi, remote
from tests.support.hash_embedder import HashEmbedder

ROOT = Path(__file__).resolve().parents[2]
TEXTS = [
    "order events moved from Postgres to ClickHouse",
    "사용자는 pytest -x를 선호하고 unittest는 쓰지 않는다",
    "checkout.py의 normalize_cart()는 쿠폰을 적용하지 않는다",
]
ODD_TEXTS = ["", " \n\t", "\ud800 lone surrogate", "\x00\x01", "🙂" * 50, "가" * 30_000, "word " * 20_000]


@pytest.fixture(scope="module", params=["hash", "shipped", "openai", "gemini"])
def embedder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Embedder]:
    """An embedder of each kind; the model is loaded once. The last two ask a server on this machine."""
    if request.param == "hash":
        yield HashEmbedder()
    elif request.param == "shipped":
        yield load(SHIPPED_MODEL, tmp_path_factory.mktemp("cache"))
    else:
        with pytest.MonkeyPatch.context() as environment, EmbeddingApi() as api:
            environment.setenv(KEY_VARIABLE, "sk-test-0123456789")
            with remote(request.param, api, tmp_path_factory.mktemp("remote")) as served:
                yield served


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


def test_place_and_problem_are_told(embedder: Embedder) -> None:
    assert embedder.problem == ""
    assert bool(embedder.place) == (":" in embedder.fingerprint.partition("/")[0])


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
    "import sys; from memlayer.adapters.embedding.fastembed_embedder import load; "
    "load(sys.argv[1], sys.argv[2]).embed_query('안녕')"
)


@pytest.mark.parametrize("script", [AS_COMPOSED, ALONE], ids=["as composed", "alone"])
def test_nothing_is_written_beside_the_cache(tmp_path: Path, script: str) -> None:
    """onnxruntime's Linux wheels keep a device id and reports under ~/.cache."""
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
