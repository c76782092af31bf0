"""Vectors in memory: near rows are found at any size and change."""

import numpy as np
import pytest
from numpy.typing import NDArray

from memlayer.adapters.search.project_rows import ProjectRows, RecentProjects
from memlayer.adapters.search.vector_matrix import MAX_FINE_ROWS, ProjectVectors, bytes_per_row

DIMENSIONS = 360  # no multiple of 64: the last word of signs is not full
Matrix = NDArray[np.float32]


def unit(rows: Matrix) -> Matrix:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def clustered(count: int, seed: int = 1) -> Matrix:
    """Unit vectors around 50 centres, the same for every seed."""
    centres = np.random.default_rng(0).standard_normal((50, DIMENSIONS))
    dice = np.random.default_rng(seed)
    return unit(centres[dice.integers(50, size=count)] + 0.8 * dice.standard_normal((count, DIMENSIONS)))


def filled(vectors: Matrix, capacity: int = 0, batch: int = 3000) -> ProjectVectors:
    project = ProjectVectors(DIMENSIONS, capacity)
    for start in range(0, len(vectors), batch):
        numbers = range(start, min(start + batch, len(vectors)))
        sessions = [f"세션{number % 10}" for number in numbers]
        project.put([f"c{number}" for number in numbers], sessions, vectors[start : start + batch])
    return project


def nearest(project: ProjectVectors, query: Matrix, limit: int = 10, only: str = "", but: str = "") -> list[str]:
    return [found for _, found in project.nearest(query, limit, only, but)]


@pytest.mark.parametrize("capacity", [0, 500])
def test_a_small_project_is_ranked_exactly(capacity: int) -> None:
    vectors = clustered(500)
    project = filled(vectors, capacity, batch=70)
    for query in clustered(20, seed=2):
        cosines = vectors @ query
        found = project.nearest(query, 10, "", "")
        assert [chunk for _, chunk in found] == [f"c{row}" for row in np.argsort(-cosines)[:10]]
        assert [score for score, _ in found] == pytest.approx(sorted(cosines, reverse=True)[:10], abs=1e-4)


@pytest.mark.parametrize(
    ("count", "capacity", "least", "error"),
    [(12_000, 12_000, 0.99, 1e-4), (MAX_FINE_ROWS + 5000, MAX_FINE_ROWS + 5000, 0.95, 0.01), (26_000, 0, 0.95, 0.01)],
    ids=["fine", "coarse", "grown from fine to coarse"],
)
def test_large_project_finds_nearest(count: int, capacity: int, least: float, error: float) -> None:
    vectors = clustered(count)
    project = filled(vectors, capacity)
    assert len(project) == count
    shares = []
    for query in clustered(20, seed=3):
        cosines = vectors @ query
        true = {f"c{row}" for row in np.argpartition(-cosines, 40)[:40]}
        found = project.nearest(query, 40, "", "")
        shares.append(len(true.intersection(chunk for _, chunk in found)) / 40)
        for score, chunk in found:
            assert score == pytest.approx(cosines[int(chunk[1:])], abs=error)
    assert np.mean(shares) >= least, shares


@pytest.mark.parametrize("count", [300, 9000])
def test_sessions_and_dead_rows_are_kept_out(count: int) -> None:
    vectors = clustered(count)
    project = filled(vectors)
    query = vectors[7]
    assert nearest(project, query, 1) == ["c7"]
    assert nearest(project, query, 1, but="세션7") != ["c7"]
    assert nearest(project, query, 1, but="unknown") == ["c7"]
    assert {int(found[1:]) % 10 for found in nearest(project, query, 25, only="세션3")} == {3}
    assert nearest(project, query, 5, only="unknown") == []
    project.remove(["c7", "never there"])
    assert "c7" not in nearest(project, query, 50)
    assert len(project) == count - 1
    project.remove([f"c{number}" for number in range(count)])
    assert nearest(project, query) == [] and len(project) == 0 and project.is_worn


@pytest.mark.parametrize("count", [1, 20])
def test_repeated_row_replaces_old(count: int) -> None:
    vectors = clustered(200)
    project = filled(vectors)
    ids = [f"c{number}" for number in range(count)]
    project.put(ids, ["other"] * count, np.repeat(vectors[150:151], count, axis=0))
    assert len(project) == 200
    assert set(nearest(project, vectors[150], count + 1)) == {*ids, "c150"}
    assert set(nearest(project, vectors[150], 50, only="other")) == set(ids)


def test_no_direction_is_near_nothing_and_nothing_fails() -> None:
    project = ProjectVectors(DIMENSIONS)
    assert nearest(project, clustered(1)[0]) == []
    project.put(["zero"], ["s"], np.zeros((1, DIMENSIONS), np.float32))
    assert project.nearest(clustered(1)[0], 5, "", "") == [(0.0, "zero")]


def test_the_budget_holds_and_the_oldest_project_goes() -> None:
    each = 100 * bytes_per_row(DIMENSIONS, 100)
    matrix = RecentProjects[ProjectVectors](2 * each)
    for name in ("a", "b", "c"):
        matrix.load((name, "model"), filled(clustered(100), 100))
    assert [matrix.get((name, "model")) is not None for name in ("a", "b", "c")] == [False, True, True]
    assert matrix.get(("b", "another model")) is None


def test_ids_are_found_by_row_and_by_name() -> None:
    ids = [f"{number:032x}:메모리:{number}" for number in range(500)]
    listed = ProjectRows()
    listed.extend(ids, ["s"] * 500)
    listed.extend([ids[3]], ["s"])
    assert [listed.id_of(row) for row in (0, 250, 499, 500)] == [ids[0], ids[250], ids[499], ids[3]]
    assert sorted(listed.rows_of([ids[3]])) == [3, 500]
    assert sorted(listed.rows_of(["nobody"])) == sorted(listed.rows_of([])) == []
    assert sorted(listed.rows_of([*ids[10:30], "nobody"])) == list(range(10, 30))
