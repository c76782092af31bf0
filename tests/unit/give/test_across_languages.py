"""Questions in one language about memories and notes in the other."""

from pathlib import Path

import pytest

from memlayer.kinds import Author, Category, Kind
from memlayer.model import replace
from tests.support.store_rows import make_memory
from tests.support.tables import tables
from tests.support.turns_in_memory import PROJECT, TurnsInMemory

TABLES = tables("give/across_languages")

TURNS = TABLES["turns"]


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> TurnsInMemory:
    home: Path = tmp_path_factory.mktemp("언어")
    return TurnsInMemory.by_the_shipped_model(home, TURNS, a_session=1)


@pytest.mark.parametrize(("asked", "due"), TABLES["loanword_finds_its_memory"])
def test_loanword_finds_its_memory(memory: TurnsInMemory, asked: str, due: str) -> None:
    assert due in memory.ask(asked).block


@pytest.mark.parametrize(
    "asked",
    ["redis url", "레디스 비밀번호", "랜덤 포레스트 뭐 쓰기로 했지?", "which queue did we choose?", "쓰기 권한"],
)
def test_other_things_stay_silent(memory: TurnsInMemory, asked: str) -> None:
    assert memory.ask(asked).block == ""


NOTES = (
    "Deploys stop on Fridays: a rollback takes four hours and nobody is there at the weekend.",
    "결제 웹훅은 같은 이벤트를 두 번 보내므로 event_id 로 한 번만 처리한다.",
    "The admin table loads 50 rows at most, because the user's laptop froze with more.",
)


@pytest.fixture(scope="module")
def notebook(tmp_path_factory: pytest.TempPathFactory) -> TurnsInMemory:
    memory = TurnsInMemory.by_the_shipped_model(tmp_path_factory.mktemp("메모"), TURNS, a_session=1)
    project_id = memory.projects.resolve(PROJECT)[0]
    rows = [
        replace(
            make_memory(number, text), project_id=project_id, session_id="s90", category=Category.CORE,
            kind=Kind.DECISION, by=Author.READER,
        )
        for number, text in enumerate(NOTES)
    ]  # fmt: skip
    memory.store.put_memories(rows)
    memory.indexer.index(rows)
    memory.recall.refresh(project_id)
    return memory


@pytest.mark.parametrize(
    ("asked", "due"),
    [
        ("금요일 오후에 배포해도 괜찮을까? 롤백이 오래 걸리나?", "Fridays"),
        ("the payment webhook arrives twice and charges the customer twice", "웹훅"),
        ("관리자 화면 테이블에 한 번에 더 많은 줄을 보여주자", "50 rows"),
    ],
)
def test_note_is_found_in_the_other_language(notebook: TurnsInMemory, asked: str, due: str) -> None:
    assert due in notebook.ask(asked).block


@pytest.mark.parametrize(
    "asked", ["로그인 화면 배경색을 파란색으로 바꿔줘", "rename the helper module to utils, please"]
)
def test_note_of_another_matter_stays_silent(notebook: TurnsInMemory, asked: str) -> None:
    assert not any(due in notebook.ask(asked).block for due in ("Fridays", "웹훅", "50 rows"))
