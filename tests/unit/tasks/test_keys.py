"""Entities that a text names."""

import pytest

from memlayer.tasks.keys import EntityType, entities_in


@pytest.mark.parametrize(
    ("text", "services"),
    [
        ("로컬 gateway:7481 로 고정하고 127.0.0.1:8080 은 닫는다", ["gateway:7481", "127.0.0.1:8080"]),
        ("db.internal:5432 is the replica", ["db.internal:5432"]),
        ("매주 화요일 10:00 에 배포하고 14:30:05 에 확인한다", []),
        ("see checkout.py:12 and memlayer/cli/app.py:29", []),
    ],
)
def test_services_are_hosts_with_a_port(text: str, services: list[str]) -> None:
    assert [row.title for row in entities_in("p1", text) if row.type is EntityType.SERVICE] == services


def test_files_are_known_beside_a_line_number() -> None:
    titles = [row.title for row in entities_in("p1", "checkout.py:12 를 고친다") if row.type is EntityType.FILE]
    assert titles == ["checkout.py"]
