"""A fact that changed in other words than it was said in: the newer turn comes with the older, by the shipped model."""

from __future__ import annotations

import pytest

from memlayer.service.recall import RecallRules
from tests.turns_in_memory import TurnsInMemory

RULES = RecallRules()


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> TurnsInMemory:
    said = (
        ("where do release notes to testers go out from", "From Mailpine, 12 USD a month, double opt-in."),
        ("배포 파이프라인 뭐로 돌리지", "Jenkins 2.4로 갑니다. 빌드 서버는 사내에 있고 한 번에 11분 걸립니다."),
        ("how long may an upload be", "At most 40 MB, checked by the gateway before a worker sees it."),
        ("점심 메뉴 추천 기능 언제 넣지", "3분기로 미뤘습니다. 설문에서 원한 사람이 4%였습니다."),
        ("which font for the invoices", "Noto Sans at 10 pt, embedded."),
        ("killed mailpine, testers get their notes via postfix now", "Noted: our own relay sends them since today."),
        ("jenkins 걷어내고 woodpecker로 갈아탔음", "네, 파이프라인 9개를 옮겼고 한 번에 4분 걸립니다."),
        (
            "woodpecker 대신 forgejo actions로 가자 서버 하나 줄이게",
            "옮겼습니다. 러너는 두 대입니다.",
        ),
        ("invoices need a title page", "Done, one page with the customer's logo."),
    )
    return TurnsInMemory.by_the_shipped_model(tmp_path_factory.mktemp("home"), said)


@pytest.mark.parametrize(
    "prompt", ["What do we mail release notes to the testers with?", "테스터한테 릴리스 노트 메일 뭘로 보내?"]
)
def test_what_is_done_away_with_is_marked_and_what_came_instead_comes(memory: TurnsInMemory, prompt: str) -> None:
    found = memory.ask(prompt, RULES)
    assert "postfix" in found.block
    older = [one for one in found.entries if "Mailpine" in one.snippet and "killed" not in one.snippet]
    assert all(one.newer for one in older)


def test_a_chain_of_changes_leads_to_the_last(memory: TurnsInMemory) -> None:
    found = memory.ask("배포 파이프라인은 어느 도구로 돌려?", RULES)
    assert "forgejo" in found.block
    assert all(one.newer or "forgejo" in one.snippet for one in found.entries if "Jenkins" in one.snippet)


def test_what_did_not_change_stays_unmarked(memory: TurnsInMemory) -> None:
    [upload] = [one for one in memory.ask("how big may an upload be?", RULES).entries if "40 MB" in one.snippet]
    assert upload.newer == ""


@pytest.fixture(scope="module")
def unchanged(tmp_path_factory: pytest.TempPathFactory) -> TurnsInMemory:
    """Turns of which none takes another's place, though some share words."""
    said = (
        ("make me an overview of this terraform repo", "Three stacks: network with VPC and subnets, cluster with EKS "
         "and node groups, data with RDS. Environments are folders with tfvars."),
        ("배포 파이프라인 뭐로 돌리지", "Jenkins 2.4로 갑니다."),
        ("which font for the invoices", "Noto Sans at 10 pt, embedded."),
        ("일기 하나에 사진 몇장까지 넣게 할까", "열 장까지이고, 원본은 보관하지 않으니 "
         "설정 화면에 안내 문구를 넣었습니다."),
        ("학급 코드로 로그인", "선생님이 만든 6자리 학급 코드와 그림 비밀번호 3개로 들어옵니다. "
         "코드에서 0/O, 1/I는 뺐습니다."),
        ("upgrade the cluster to 1.33 in dev", "The dev control plane is on 1.33. Node groups follow one at a time; "
         "two deprecated APIs were replaced beforehand."),
        ("설정화면 정리해줘 너무 길어", "항목 17개를 세 묶음으로 나눴습니다: 일반, 보안, 백업. "
         "사진 설정은 일반에 있습니다."),
        ("흑백 프린터로 뽑으니까 QR이 안찍혀요", "오류 복원 수준을 M에서 Q로 올리고 가운데 그림을 뺐습니다. "
         "코드 옆 여백은 네 칸입니다."),
        ("staging at night is money burning. turn it off", "Staging scales to zero from 22:00 to 07:00 on weekdays."),
    )  # fmt: skip
    return TurnsInMemory.by_the_shipped_model(tmp_path_factory.mktemp("unchanged"), said)


@pytest.mark.parametrize(
    ("prompt", "holds"),
    [
        ("where are the node groups in the repo?", "Three stacks"),
        ("사진은 몇 장까지 되지", "열 장"),
        ("학급 코드로 들어갈 때 그림이 몇 개야?", "그림 비밀번호 3개"),
    ],
)
def test_a_newer_turn_that_shares_words_is_not_what_took_its_place(
    unchanged: TurnsInMemory, prompt: str, holds: str
) -> None:
    [own] = [one for one in unchanged.ask(prompt, RULES).entries if holds in one.snippet]
    assert own.newer == ""
