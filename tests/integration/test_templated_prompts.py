"""Prompts of a template, sent by a script through the real hooks."""

import sys
from pathlib import Path

from memlayer.give.recall import Gate
from memlayer.turns.turn import TEMPLATE_TURNS
from tests.support.processes import Daemon, HookRunner

ROOT = Path(__file__).resolve().parents[2]
TEMPLATE = "다음 커밋을 검토하고 위험한 점을 세 가지로 정리해줘. 커밋 %s, 바뀐 모듈은 %s 입니다."
MODULES = ("결제", "환불", "쿠폰", "배송", "정산", "웹훅")
FACT = ("where do we deploy the webhooks?", "The webhooks are deployed to the staging server st-7 by deploy.sh.")


def test_script_is_given_nothing_and_stays_out_of_notes(home: Path, project: Path) -> None:
    hook = HookRunner(ROOT, home, project, python=getattr(sys, "_base_executable", sys.executable))
    with Daemon(ROOT, home) as daemon:
        hook.turn("person", "p0", *FACT)
        for number in range(TEMPLATE_TURNS + 1):
            module = MODULES[number % len(MODULES)]
            answer = "%s 모듈의 위험: 재시도 한도가 없고 웹훅 서명을 검증하지 않습니다." % module
            hook.turn("run %d" % number, "p%d" % number, TEMPLATE % ("a%d" % number, module), answer)
        daemon.settle()
        asked = TEMPLATE % ("b77", "웹훅")
        hook("user_prompt_submit", "warm", "w1", prompt="which server do the webhooks go to?")
        assert hook("user_prompt_submit", "next", "q1", prompt=asked).stdout == b""
        explained = daemon.call("recall", prompt=asked, project_dir=str(project))
        assert explained["gate"] == Gate.TEMPLATED.value
        answer = hook("user_prompt_submit", "other", "q2", prompt="웹훅 서명 검증의 위험이 뭐였지?").context
        assert "모듈의 위험" not in answer
        assert (
            "st-7" in hook("user_prompt_submit", "third", "q3", prompt="where do we deploy the webhooks again?").context
        )
        assert daemon.call("reindex")["chunks"] > 0

        def is_gated() -> bool:  # as soon as a first search has loaded the project's words again
            return bool(daemon.call("recall", prompt=asked, project_dir=str(project))["gate"] == Gate.TEMPLATED.value)

        daemon.wait_for(is_gated, "the gate of templates")
        assert daemon.call("search", query="웹훅 서명 위험", limit=5)["hits"]  # a person's own search finds them
