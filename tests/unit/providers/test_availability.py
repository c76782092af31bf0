"""The circuit breaker: nobody waits for a server that is down or slow."""

import pytest

from memlayer.errors import EmbedderError
from memlayer.providers.vector_services import FIRST_PAUSE_S, MAX_PAUSE_S, MAX_RETRY_AFTER_S, Availability
from tests.support.embedding_api import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def server(clock: Clock) -> Availability:
    return Availability(clock)


def refuses(server: Availability, *, is_query: bool) -> bool:
    try:
        server.check(is_query=is_query)
    except EmbedderError:
        return True
    return False


def test_a_server_that_is_well_is_asked(server: Availability) -> None:
    assert not refuses(server, is_query=True) and not refuses(server, is_query=False)
    assert server.problem == "" and not server.begin_probe()


def test_server_that_is_down_is_probed_after_growing_pauses(server: Availability, clock: Clock) -> None:
    pauses = []
    for _ in range(10):
        server.failed("서버가 없다")
        assert refuses(server, is_query=True) and refuses(server, is_query=False)
        began = clock.now
        while not server.begin_probe():
            clock.now += 1
        pauses.append(clock.now - began)
        assert not server.begin_probe()  # one at a time
    assert pauses[:3] == [FIRST_PAUSE_S, 2 * FIRST_PAUSE_S, 4 * FIRST_PAUSE_S] and pauses[-1] == MAX_PAUSE_S
    server.worked(in_time=True)
    assert server.problem == "" and not refuses(server, is_query=True)
    server.failed("again")
    clock.now += FIRST_PAUSE_S
    assert server.begin_probe()


def test_slow_server_gets_passages_and_no_queries(server: Availability, clock: Clock) -> None:
    server.late("too late")
    assert refuses(server, is_query=True) and not refuses(server, is_query=False)
    assert server.begin_probe()  # the first at once
    server.late("too late")
    assert not server.begin_probe()
    server.worked(in_time=False)  # a batch of passages
    assert refuses(server, is_query=True)
    clock.now += FIRST_PAUSE_S
    assert server.begin_probe()
    server.worked(in_time=True)
    assert not refuses(server, is_query=True)


def test_an_answer_that_takes_long_brings_back_passages(server: Availability) -> None:
    server.failed("down")
    server.worked(in_time=False)
    assert not refuses(server, is_query=False)


@pytest.mark.parametrize(("asked", "waits"), [(90.0, 90.0), (2.0, FIRST_PAUSE_S), (10.0**9, MAX_RETRY_AFTER_S)])
def test_pause_is_as_long_as_the_server_asks_within_reason(
    server: Availability, clock: Clock, asked: float, waits: float
) -> None:
    server.failed("429", asked)
    clock.now += waits - 0.5
    assert not server.begin_probe()
    clock.now += 0.5
    assert server.begin_probe()
