"""Jobs of a thread: the caller gets a job's error, and the next job runs."""

import pytest

from memlayer.daemon.resources.jobs import Jobs


class Panic(BaseException):
    """A panic in Rust as Python sees it: no Exception."""


@pytest.mark.parametrize("kind", [ValueError, Panic, SystemExit, MemoryError])
def test_failed_job_spares_caller_and_thread(kind: type[BaseException]) -> None:
    jobs = Jobs("writer")

    def fail() -> None:
        raise kind("배포")

    failed, done = jobs.submit("fail", fail), jobs.submit("next", lambda: 7)
    jobs.start()
    assert done.result(timeout=10) == 7
    assert isinstance(failed.exception(timeout=10), kind)
    assert (jobs.failing, jobs.pending) == ({"fail": "fail: " + kind.__name__}, 0)
    assert jobs.close(10)


def test_later_success_ends_failure() -> None:
    jobs = Jobs("writer")

    def fail() -> None:
        raise OSError("디스크")

    jobs.start()
    for name in ("settle s1", "drain"):
        jobs.submit(name, fail).exception(timeout=10)
    jobs.submit("settle s2", lambda: None).result(timeout=10)
    assert jobs.failing == {"drain": "drain: OSError"}
    assert jobs.close(10)


def test_waiting_job_serves_both_callers() -> None:
    jobs = Jobs("writer")
    count: list[int] = []
    first, second = jobs.submit("drain", lambda: count.append(1)), jobs.submit("drain", lambda: count.append(2))
    assert first is second
    jobs.start()
    first.result(timeout=10)
    jobs.submit("drain", lambda: count.append(3)).result(timeout=10)
    assert count == [1, 3]
    assert jobs.close(10)
