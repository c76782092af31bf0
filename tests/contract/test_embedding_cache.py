"""The embedding cache: round trips, its bound, and damaged files."""

import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memlayer.adapters.sqlite_files import EmbeddingCache

A = "model-a"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "embeddings.sqlite"


@pytest.fixture
def cache(path: Path) -> Iterator[EmbeddingCache]:
    opened = EmbeddingCache(path)
    yield opened
    opened.close()


def keep_only(cache: EmbeddingCache, *texts: str) -> None:
    def scan(consume: Callable[[str], None]) -> None:
        for text in texts:
            consume(text)

    cache.keep_only(scan)


def test_vectors_come_back_by_text(cache: EmbeddingCache) -> None:
    cache.put_many(A, {"결제 모듈": (0.5, -0.25), "": (1.0, 0.0), "lone \ud800": (0.0, 1.0)})
    assert cache.get_many(A, ["결제 모듈", "unknown", "", "lone \ud800"]) == {
        "결제 모듈": (0.5, -0.25),
        "": (1.0, 0.0),
        "lone \ud800": (0.0, 1.0),
    }
    assert cache.get_many(A, []) == {}


def test_they_outlive_the_process_but_not_the_model(cache: EmbeddingCache, path: Path) -> None:
    cache.put_many(A, {"a": (1.0, 0.0)})
    cache.close()
    again = EmbeddingCache(path)
    assert again.get_many(A, ["a"]) == {"a": (1.0, 0.0)}
    assert again.get_many("model-b", ["a"]) == {}
    again.put_many("model-b", {"a": (0.0, 1.0)})
    assert again.get_many(A, ["a"]) == {"a": (1.0, 0.0)}
    again.put_many(A, {"b": (1.0, 0.0)})
    keep_only(again, "b")
    assert again.count() == 1 and again.get_many("model-b", ["a"]) == {}
    again.close()


def test_many_texts_at_once(cache: EmbeddingCache) -> None:
    vectors = {f"text {number}": (float(number),) for number in range(3000)}
    cache.put_many(A, vectors)
    assert cache.get_many(A, list(vectors)) == vectors
    keep_only(cache, *(f"text {number}" for number in range(0, 3000, 2)))
    assert sorted(cache.get_many(A, list(vectors))) == sorted(f"text {number}" for number in range(0, 3000, 2))


def test_concurrent_put_survives_a_drop(cache: EmbeddingCache) -> None:
    cache.put_many(A, {"옛말": (1.0,)})
    cache.keep_only(lambda consume: cache.put_many(A, {"새말": (0.5,)}))
    assert cache.get_many(A, ["옛말", "새말"]) == {"새말": (0.5,)}


def test_forgotten_vectors_leave_no_bytes(cache: EmbeddingCache, path: Path) -> None:
    cache.put_many(A, {"secret": (1.25,) * 16, "kept": (0.5,) * 16})
    keep_only(cache, "kept", "unknown")
    assert cache.get_many(A, ["secret", "kept"]) == {"kept": (0.5,) * 16}
    cache.close()
    content = path.read_bytes()
    assert b"\x00\x00\xa0\x3f" * 16 not in content
    assert b"\x00\x00\x00\x3f" * 16 in content
    assert b"secret" not in content


def test_the_file_is_the_owners_alone(cache: EmbeddingCache, path: Path) -> None:
    cache.put_many(A, {"a": (1.0,)})
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_the_number_of_vectors_is_bounded(path: Path) -> None:
    cache = EmbeddingCache(path, max_bytes=100 * (4 * 8 + 64))
    for number in range(30):
        cache.put_many(A, {f"text {number} {part}": (1.0,) * 8 for part in range(10)})
        assert cache.count() <= 100
    assert len(cache.get_many(A, [f"text 29 {part}" for part in range(10)])) == 10
    cache.close()


@pytest.mark.parametrize(
    "content", [b"not a database at all, but long enough to look like one" * 40, b"SQLite format 3\x00"]
)
def test_a_damaged_file_is_begun_anew(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    cache = EmbeddingCache(path)
    assert cache.get_many(A, ["a"]) == {}
    cache.put_many(A, {"a": (1.0,)})
    assert cache.get_many(A, ["a"]) == {"a": (1.0,)}
    cache.close()


def test_a_page_overwritten_while_open_is_not_fatal(cache: EmbeddingCache, path: Path) -> None:
    cache.put_many(A, {f"text {number}": (1.0,) * 64 for number in range(200)})
    size = path.stat().st_size
    path.write_bytes(b"\xff" * size)
    cache.get_many(A, ["text 1"])
    cache.put_many(A, {"a": (1.0,)})
    assert cache.get_many(A, ["a"]) == {"a": (1.0,)}


def test_without_a_place_to_write_it_is_done_without(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = EmbeddingCache(tmp_path / "file" / "embeddings.sqlite")
    cache.put_many(A, {"a": (1.0,)})
    assert cache.get_many(A, ["a"]) == {}
    keep_only(cache, "b")
    cache.close()
