"""Both providers of embeddings against a scripted server: requests, errors, silence and the budget."""

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memlayer.adapters.embedding import model_folder
from memlayer.errors import EmbedderError
from memlayer.providers.remote_embedder import RemoteEmbedder, ServiceCalls, load
from memlayer.records.model_budget import ModelBudget
from tests.support.embedding_api import (
    GEMINI,
    KEY_VARIABLE,
    OPENAI,
    Clock,
    EmbeddingApi,
    embeddings_answer,
    service,
    texts_of,
)
from tests.support.model_api import Asked, Said
from tests.support.waiting import wait_for

KEY = "sk-test-0123456789"
PROMPT = "결제 모듈은 어느 포트에서 듣기로 했지?"
PASSAGES = ["결제 모듈은 8443 포트에서 듣는다.", "The order events live in ClickHouse.", ""]
QUERY_S = 0.4
MODELS_ROOT = model_folder.models_root
EACH = 12  # row of the corpus that ships: a calibration of 60 texts takes a request for each use of them


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some of the texts that a model is calibrated with, as a folder of models."""
    whole, folder = model_folder.models_root() / "calibration", tmp_path_factory.mktemp("models")
    (folder / "calibration").mkdir()
    for file in whole.glob("*.jsonl"):
        rows = file.read_text("utf-8").splitlines(keepends=True)
        (folder / "calibration" / file.name).write_text("".join(rows[::EACH]), "utf-8")
    return folder


@pytest.fixture
def api(no_certificates: None) -> Iterator[EmbeddingApi]:
    with EmbeddingApi() as served:
        yield served


@pytest.fixture(params=[OPENAI, GEMINI])
def provider(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each provider, with variables that nobody must read."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL"):
        monkeypatch.setenv(name, "http://127.0.0.1:9/never")
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    return str(request.param)


@pytest.fixture
def made(
    provider: str, api: EmbeddingApi, home: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., RemoteEmbedder]]:
    """Load an embedder of the scripted server; each of a home finds the last one's calibration."""
    running: list[RemoteEmbedder] = []
    monkeypatch.setattr(model_folder, "models_root", lambda: corpus)

    def make(daily_tokens: int = 10**9, deadline_s: float = 3.0, url: str = "", dimensions: int = 0) -> RemoteEmbedder:
        budget = ModelBudget(str(home / "use.json"), daily_tokens=daily_tokens)
        served = service(provider, url or api.url, dimensions=dimensions)
        asking = ServiceCalls(served, budget, query_deadline_s=QUERY_S, deadline_s=deadline_s)
        found = load(asking, home / "cache")
        running.append(found)
        return found

    yield make
    for one in running:
        one.close()


def spent(home: Path) -> int:
    return int(json.loads((home / "use.json").read_text())["all"]["tokens"])


def test_requests_hold_text_key_and_model(
    made: Callable[..., RemoteEmbedder], api: EmbeddingApi, provider: str, home: Path
) -> None:
    embedder = made()
    api.asked.clear()
    before = spent(home)
    assert len(embedder.embed_query(PROMPT)) == embedder.dimensions == 64
    assert len(embedder.embed_passages(PASSAGES)) == 3
    asked, stored = api.asked
    assert texts_of(asked) == [PROMPT] and texts_of(stored) == [*PASSAGES[:2], "."]
    if provider == OPENAI:
        assert asked.path == "/v1/embeddings" and asked.headers["authorization"] == "Bearer " + KEY
        assert asked.body == {"model": "tiny", "input": [PROMPT], "encoding_format": "float"}
    else:
        assert asked.path.endswith("/models/tiny:batchEmbedContents") and asked.headers["x-goog-api-key"] == KEY
        tasks = [one["taskType"] for request in api.asked for one in request.body["requests"]]
        assert tasks == ["RETRIEVAL_QUERY"] + ["RETRIEVAL_DOCUMENT"] * 3
    wait_for(lambda: spent(home) > before + len(PROMPT) // 2)
    assert KEY not in embedder.fingerprint and KEY not in embedder.place
    assert embedder.fingerprint.startswith("%s:tiny:64:127.0.0.1:" % provider)
    assert embedder.place == "%s tiny at %s" % (provider, api.url.removeprefix("http://"))


def test_dimensions_are_asked_for(made: Callable[..., RemoteEmbedder], api: EmbeddingApi, provider: str) -> None:
    assert made(dimensions=64).dimensions == 64
    body = api.asked[-1].body
    assert (body if provider == OPENAI else body["requests"][0])[
        "dimensions" if provider == OPENAI else "outputDimensionality"
    ] == 64
    with pytest.raises(EmbedderError, match="vectors of 64 dimensions instead of 32"):
        made(dimensions=32)


def test_secrets_and_private_spans_are_not_sent(made: Callable[..., RemoteEmbedder], api: EmbeddingApi) -> None:
    embedder = made()
    told = (
        "비밀번호: hunter2x9 <private>우리 집 주소</private> where is token ghp_%s?"
        % "R8kQ2mZ7xW4nB9vC1tY6pL3sD5fG0hJaEuIo"
    )
    embedder.embed_query(told)
    embedder.embed_passages([told])
    for text in api.texts[-2:]:
        assert "where is token" in text
        assert not any(secret in text for secret in ("hunter2", "우리 집", "ghp_"))


def test_calibration_is_measured_once_and_shows_its_origin(
    made: Callable[..., RemoteEmbedder], api: EmbeddingApi, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_folder, "models_root", MODELS_ROOT)  # all of the corpus that ships
    first = made()
    assert len(api.texts) > 600 and first.calibration.low < first.calibration.high
    assert "measured on this machine on " in first.calibration.made
    api.asked.clear()
    again = made()
    assert api.texts == ["."]
    assert (again.calibration, again.fingerprint) == (first.calibration, first.fingerprint)
    [file] = (home / "cache" / "calibration").rglob("calibration.json")
    file.write_text("{}", encoding="utf-8")  # of a cache: measured anew
    assert made().calibration == first.calibration and len(api.texts) > 600


@pytest.mark.parametrize(
    ("status", "told"),
    [(401, "the key is refused"), (404, "no such model"), (429, "too many requests"), (500, "HTTP 500")],
)
def test_an_error_is_one_line_and_asks_nobody_twice(
    made: Callable[..., RemoteEmbedder], api: EmbeddingApi, provider: str, status: int, told: str
) -> None:
    embedder = made()
    api.before = lambda asked: Said({"error": {"code": status, "message": PROMPT + KEY}}, status)
    api.asked.clear()
    for _ in range(5):
        with pytest.raises(EmbedderError, match=told) as bad:
            embedder.embed_query(PROMPT)
        assert PROMPT not in str(bad.value) and KEY not in str(bad.value) and "\n" not in str(bad.value)
        assert str(bad.value).startswith(provider + ": HTTP %d" % status)
    with pytest.raises(EmbedderError, match=told):
        embedder.embed_passages(PASSAGES)
    assert len(api.asked) == 1 and told in embedder.problem


def test_retry_after_is_heeded(made: Callable[..., RemoteEmbedder], api: EmbeddingApi, provider: str) -> None:
    embedder = made()
    clock = embedder._asking.availability._clock = Clock()
    wait: dict[str, object] = {"details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "90s"}]}
    api.before = lambda asked: Said(
        {"error": {"code": 429, "message": "slow down", **wait}}, 429, headers={"retry-after": "90"}
    )
    with pytest.raises(EmbedderError):
        embedder.embed_query(PROMPT)
    api.before = lambda asked: None
    api.asked.clear()
    clock.now += 80
    with pytest.raises(EmbedderError):
        embedder.embed_query(PROMPT)
    assert api.asked == []
    clock.now += 11
    with pytest.raises(EmbedderError):  # this prompt does not wait: a probe goes out beside it
        embedder.embed_query(PROMPT)
    wait_for(lambda: not embedder.problem)
    assert api.texts == ["."]
    assert len(embedder.embed_query(PROMPT)) == 64


def test_slow_server_costs_one_prompt_its_deadline(made: Callable[..., RemoteEmbedder], api: EmbeddingApi) -> None:
    embedder = made()
    api.asked.clear()
    api.delay_s = 1.0
    began = time.monotonic()
    with pytest.raises(EmbedderError, match=r"did not answer within 0.4 s"):
        embedder.embed_query(PROMPT)
    assert QUERY_S <= time.monotonic() - began < QUERY_S + 0.3
    began = time.monotonic()
    for _ in range(20):
        with pytest.raises(EmbedderError):
            embedder.embed_query(PROMPT)
    assert time.monotonic() - began < 0.2
    assert len(embedder.embed_passages(PASSAGES)) == 3  # nobody waits for these
    wait_for(lambda: "takes 1." in embedder.problem)
    assert len(api.texts) < 30


def test_one_hiccup_costs_one_prompt(made: Callable[..., RemoteEmbedder], api: EmbeddingApi) -> None:
    embedder = made()
    waits = iter([1.0])

    def once(asked: Asked) -> None:
        time.sleep(next(waits, 0.0))

    api.before = once
    with pytest.raises(EmbedderError):
        embedder.embed_query(PROMPT)
    wait_for(lambda: not embedder.problem)
    assert len(embedder.embed_query(PROMPT)) == 64


def test_dripping_server_meets_the_deadline(made: Callable[..., RemoteEmbedder], api: EmbeddingApi) -> None:
    embedder = made(deadline_s=1.0)
    api.before = lambda asked: Said(b"", drip_s=0.05)
    began = time.monotonic()
    with pytest.raises(EmbedderError, match="did not answer within 1 s"):
        embedder.embed_passages(PASSAGES)
    assert time.monotonic() - began < 2


@pytest.mark.parametrize(
    "body",
    [
        b"", b"<html>gateway</html>", b"{}", b"[]", b"null", b'{"data": 7, "embeddings": 7}',
        b'{"data": [{"index": 0, "embedding": ["a"]}], "embeddings": [{"values": ["a"]}]}',
        b'{"data": [{"index": 0, "embedding": []}], "embeddings": [{"values": []}]}',
        b'{"data": [{"index": 0, "embedding": [0, 0]}], "embeddings": [{"values": [0, 0]}]}',
    ],
)  # fmt: skip
def test_an_answer_in_another_shape_is_an_error(
    made: Callable[..., RemoteEmbedder], api: EmbeddingApi, body: bytes
) -> None:
    embedder = made()
    api.before = lambda asked: Said(body)
    with pytest.raises(EmbedderError) as bad:
        embedder.embed_query(PROMPT)
    assert "\n" not in str(bad.value) and PROMPT not in str(bad.value)
    with pytest.raises(EmbedderError):
        embedder.embed_passages(PASSAGES)


def test_too_few_vectors_are_an_error(made: Callable[..., RemoteEmbedder], api: EmbeddingApi) -> None:
    embedder = made()
    api.before = lambda asked: embeddings_answer(asked, [[1.0] * 64])
    with pytest.raises(EmbedderError, match="not as many as texts"):
        embedder.embed_passages(PASSAGES)


def test_other_dimensions_never_mix(made: Callable[..., RemoteEmbedder], api: EmbeddingApi) -> None:
    embedder = made()
    api.dimensions = 32
    with pytest.raises(EmbedderError, match="vectors of 32 dimensions instead of 64"):
        embedder.embed_query(PROMPT)
    with pytest.raises(EmbedderError, match="instead of 64"):
        embedder.embed_passages(PASSAGES)
    anew = made()
    assert anew.dimensions == 32 and anew.fingerprint != embedder.fingerprint


def test_server_gone_in_mid_batch(made: Callable[..., RemoteEmbedder], api: EmbeddingApi) -> None:
    embedder = made()
    count = len(api.asked)
    api.before = lambda asked: Said({}, 503) if len(api.asked) > count + 1 else None
    with pytest.raises(EmbedderError, match="HTTP 503"):
        embedder.embed_passages(["문장 %d" % number for number in range(150)])
    assert len(api.asked) == count + 2


def test_a_refused_text_does_not_hold_up_its_batch(made: Callable[..., RemoteEmbedder], api: EmbeddingApi) -> None:
    embedder = made()

    def picky(asked: Asked) -> Said | None:
        if any("문제" in text for text in texts_of(asked)):
            return Said({"error": {"message": "no"}}, 400)
        return None

    api.before = picky
    alone = embedder.embed_passages([PASSAGES[0], "."])
    assert embedder.embed_passages([PASSAGES[0], "문제가 있는 글"]) == alone
    assert embedder.problem == ""


def test_a_refused_key_is_found_out_beside_the_prompt(made: Callable[..., RemoteEmbedder], api: EmbeddingApi) -> None:
    """Gemini refuses a wrong key with 400, as others refuse a text."""
    embedder = made()
    api.before = lambda asked: Said({"error": {"code": 400, "message": "API key not valid"}}, 400)
    with pytest.raises(EmbedderError, match="HTTP 400"):
        embedder.embed_query(PROMPT)
    wait_for(lambda: "HTTP 400" in embedder.problem)
    api.asked.clear()
    with pytest.raises(EmbedderError):
        embedder.embed_query(PROMPT)
    assert api.asked == []


def test_refused_batch_and_probe_end_a_request(made: Callable[..., RemoteEmbedder], api: EmbeddingApi) -> None:
    embedder = made()
    api.asked.clear()
    api.before = lambda asked: Said({}, 400)
    with pytest.raises(EmbedderError, match="HTTP 400"):
        embedder.embed_passages(["문장 %d" % number for number in range(40)])
    assert len(api.asked) == 2


def test_no_redirect_is_followed(made: Callable[..., RemoteEmbedder], api: EmbeddingApi) -> None:
    embedder = made()
    with EmbeddingApi() as elsewhere:
        api.before = lambda asked: Said({}, 307, headers={"location": elsewhere.url + asked.path})
        with pytest.raises(EmbedderError, match="HTTP 307"):
            embedder.embed_query(PROMPT)
        assert elsewhere.asked == []


def test_nobody_listening_is_an_error_and_a_known_model_loads(
    made: Callable[..., RemoteEmbedder], provider: str, api: EmbeddingApi
) -> None:
    with EmbeddingApi() as gone:
        url = gone.url
        known = made(url=url)
    later = made(url=url)
    with pytest.raises(EmbedderError, match=r"nobody answers at 127\.0\.0\.1"):
        later.embed_query(PROMPT)
    assert later.fingerprint == known.fingerprint and "nobody answers" in later.problem
    with EmbeddingApi() as never:
        pass
    with pytest.raises(EmbedderError, match="nobody answers"):
        made(url=never.url)


def test_spent_budget_sends_nothing(made: Callable[..., RemoteEmbedder], api: EmbeddingApi, home: Path) -> None:
    made()
    enough = spent(home)
    embedder = made(daily_tokens=enough + 200)
    api.asked.clear()
    with pytest.raises(EmbedderError, match=r"today's embedding\.daily_tokens are used up"):
        embedder.embed_passages(["긴 글 " * 200])
    with pytest.raises(EmbedderError, match="used up"):
        embedder.embed_query(PROMPT)
    assert api.asked == [] and "used up" in embedder.problem


def test_missing_key_sends_nothing(provider: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KEY_VARIABLE)
    budget = ModelBudget(str(home / "use.json"), daily_tokens=10**6)
    asking = ServiceCalls(service(provider, ""), budget, query_deadline_s=QUERY_S, deadline_s=1.0)
    with pytest.raises(EmbedderError, match="A_KEY is not set"):
        load(asking, home / "cache")
    assert not (home / "use.json").exists() or not spent(home)
