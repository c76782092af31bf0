"""The daemon's counts of redactions and embedding times, over restarts."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from memlayer.daemon.opening import TimedEmbedder
from memlayer.edge.redaction.privacy import redact
from memlayer.errors import EmbedderError
from memlayer.ports import Vector
from memlayer.records.metrics import Metrics
from tests.support.hash_embedder import HashEmbedder


@pytest.fixture
def metrics(home: Path) -> Metrics:
    home.mkdir(mode=0o700, exist_ok=True)
    return Metrics(str(home))


def test_redactions_count_by_kind(metrics: Metrics) -> None:
    metrics.redacted(
        [
            redact("<private>둘만의 비밀</private> 그리고 <private>하나 더</private>"),
            redact("키는 AKIA2345ABCDEFGHIJKL 야"),
            "평범한 문장",
            "[redacted:] [redacted:한글] [redacted:x",
        ]
    )
    counted = metrics.summary()["redacted"]
    assert counted.pop("private") == 2
    assert sum(counted.values()) == 1


def test_counts_outlive_the_daemon(metrics: Metrics, home: Path) -> None:
    metrics.redacted(["[redacted:private]"])
    metrics.embedded("query", 1, 8.0)
    metrics.embedded("passage", 4, 60.0)
    metrics.save()
    again = Metrics(str(home))
    again.redacted(["[redacted:private] [redacted:password]"])
    again.embedded("query", 1, 10.0)
    summary = again.summary()
    assert summary["redacted"] == {"private": 2, "password": 1}
    assert summary["embedding"] == {"queries": 2, "query_ms": 9.0, "passages": 4, "passage_ms": 15.0}


def test_file_of_an_older_version(metrics: Metrics, home: Path) -> None:
    recall = '{"prompts": 3, "answered": 2, "entries": 2, "chars": 9}'
    (home / "metrics.json").write_text('{"ops": {}, "recall": %s}' % recall)
    summary = Metrics(str(home)).summary()
    assert summary["recall"]["prompts"] == 3 and summary["redacted"] == {}
    assert summary["embedding"]["query_ms"] is None


class Failing(HashEmbedder):
    def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        raise EmbedderError("the model is gone")


def test_embedder_is_timed_and_unchanged(metrics: Metrics) -> None:
    plain = HashEmbedder()
    timed = TimedEmbedder(plain, metrics.embedded)
    assert timed.embed_query("결제 모듈 포트") == plain.embed_query("결제 모듈 포트")
    assert timed.embed_passages(["가", "나"]) == plain.embed_passages(["가", "나"])
    assert (timed.fingerprint, timed.dimensions) == (plain.fingerprint, plain.dimensions)
    assert timed.calibration == plain.calibration
    found = metrics.summary()["embedding"]
    assert (found["queries"], found["passages"]) == (1, 2) and found["query_ms"] >= 0


def test_failed_call_is_not_counted(metrics: Metrics) -> None:
    with pytest.raises(EmbedderError):
        TimedEmbedder(Failing(), metrics.embedded).embed_passages(["가"])
    assert metrics.summary()["embedding"]["passages"] == 0
