"""The daemon's operations for looking around, over a real daemon."""

import time

from memlayer.wire import record as ops
from tests.support.page_process import ViewedHome


def test_events_newest_first_with_a_total(viewed: ViewedHome) -> None:
    client = viewed.daemon.client
    whole = client.ask(ops.Events(session_id="one"))
    assert [event.kind for event in whole.events] == ["assistant", "user", "assistant", "user"]
    assert whole.events[-1].text == "Where do we keep order events?"
    assert client.ask(ops.Events(session_id="one", limit=1)).total == 4
    first = whole.events[-1]
    assert client.ask(ops.Events(session_id="one", before_ms=first.at_ms)).events == []
    assert client.ask(ops.Events(ids=(first.id,))).events == [first]
    assert client.ask(ops.Events(project_dir="/nowhere/at/all")).events == []


def test_days_count_what_happened(viewed: ViewedHome) -> None:
    found = viewed.daemon.client.ask(ops.Days(str(viewed.shop)))
    assert found.days[-1].date == time.strftime("%Y-%m-%d")
    assert found.days[-1].by_kind["user"] == 4
    assert found.days[-1].sessions >= 2
    assert {row.session_id: row.events for row in found.by_session}["one"] == 4
