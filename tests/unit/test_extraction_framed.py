"""What stands around a sentence decides whether it is meant: taken back, supposed, quoted, to be written, an option."""

from __future__ import annotations

import datetime
import time

import pytest

from memlayer.core.extraction import extract

AT_MS = int(datetime.datetime(2026, 11, 18, 10, tzinfo=datetime.UTC).timestamp() * 1000)

# A prompt and an answer, of which nothing lasts.
NOTHING = [
    ("Why does the build fail?", "It is not because of the cache. I need more logs."),
    (
        "Why does the build fail?",
        "The cause is not the cache: I cleared it and it still fails. I removed the cache folder.",
    ),
    (
        "Why is it slow?",
        "My first guess was that the index is missing, so every query scans it. I added it, but it made no difference.",
    ),
    ("왜 배포가 실패해?", "처음에는 캐시 때문이라고 봤지만 아니었습니다. 아직 원인을 찾지 못했습니다."),
    (
        "왜 느려?",
        "인덱스가 없어서 전체를 훑습니다. 인덱스를 추가했습니다. 그런데 다시 보니 그게 원인이 아니어서 되돌렸습니다.",
    ),
    ("Bob wrote this in Slack. We decided to use MySQL. I don't agree.", "I see."),
    ("민수가 슬랙에 이렇게 썼어. DB는 MySQL로 가기로 했다. 나는 동의 안 해.", "네."),
    ("Imagine this. We decided to use MySQL. What would break?", "Replication."),
    ("가정해보자. DB를 MySQL로 가기로 했다. 그럼 뭐가 깨질까?", "복제가 깨집니다."),
    ("We decided to use MySQL. Just kidding.", "Ha."),
    ("DB는 MySQL로 가기로 했어. 아 아니다, 취소.", "네."),
    ("DB는 MySQL로 가기로 했어. 농담이야 ㅋㅋ", "네."),
    ("Let's go with Redis. Wait no, forget that.", "Ok."),
    ("The options are: 1. We use Redis for everything. 2. We use Memcached for everything. Which one?", "Redis."),
    ("옵션은 두 개야. 1. Redis로 통일한다. 2. Memcached로 통일한다. 뭐가 나아?", "Redis요."),
    ("Write a commit message: 'We decided to use MySQL'.", "Done."),
    ("고객한테 보낼 메일 써줘. 12월 12일까지 v2를 출시하고 한도는 분당 100건이라고.", "작성했습니다."),
    ("Is this sentence correct: We never push to main.", "Yes."),
    ("Change the text on the page to: We always ship on Fridays.", "Done."),
    ("페이지 문구를 '배포는 항상 금요일에 합니다'로 바꿔줘", "바꿨습니다."),
    ("Translate this: 'We always deploy on Fridays.'", "Done."),
    ("Maybe we decided to use Kafka.", "Understood."),
    ("DB는 Postgres로 가기로 한 것 같아.", "네."),
    # In words that the first rules were not made from.
    ("We'll go with Terraform. Scratch that.", "Ok."),
    ("We decided to drop IE11. I'm joking.", "Ha."),
    ("Picture a startup. We decided to store passwords in plain text. What goes wrong?", "Everything."),
    ("My coworker posted this. We decided to move to Azure. Is he right?", "Hard to say."),
    ("Set the banner to: We never close on Sundays.", "Done."),
    ("Draft a tweet: we always answer within 5 minutes.", "Here it is."),
    ("Rephrase this: 'We never share your data with partners.'", "Sure: ..."),
    ("Option A: we switch to Kafka. Option B: we stay with RabbitMQ. Which would you pick?", "B."),
    (
        "Why is the page slow?",
        "It wasn't the N+1 query that caused it, so that was not the reason. I removed it and nothing changed.",
    ),
    (
        "Why does the test hang?",
        "I suspected the event loop was blocked because of the sleep. Removing the sleep changed nothing.",
    ),
    ("프론트는 Svelte로 가자. 아, 방금 말은 무시해줘.", "네."),
    ("배포는 매주 금요일에 하기로 했어. 뻥이야.", "하하."),
    ("상상해봐. 비밀번호를 평문으로 저장하기로 했어. 무슨 일이 생길까?", "유출됩니다."),
    ("팀장이 메일로 이렇게 보냈어. 다음 분기부터 Azure로 가기로 했다. 어떻게 생각해?", "글쎄요."),
    ("배너 문구를 '저희는 항상 24시간 안에 답변합니다'로 수정해줘", "수정했습니다."),
    ("커밋 메시지는 '로그를 90일 보관하기로 했다'로 해줘", "네, 커밋했습니다."),
    ("이 문장 다듬어줘: 우리는 절대 개인정보를 공유하지 않습니다.", "다듬었습니다."),
    ("A안은 Kafka로 통일한다. B안은 RabbitMQ로 통일한다. 어느 쪽이 좋을까?", "A안이요."),
    ("왜 테스트가 멈춰?", "sleep 때문인 줄 알았는데 아니었습니다. sleep을 제거해도 그대로였습니다."),
    ("페이지가 왜 느려?", "N+1 쿼리 탓이 아닙니다. 쿼리를 제거했지만 달라진 게 없었습니다."),
    ("We're switching to Bun. Oops, wrong window.", "Ok."),
    ("Let's adopt GraphQL everywhere. Nah, just messing with you.", "Ha."),
    ("Think of a bank. They decided to run everything on COBOL. Why?", "History."),
    ("Quote from the forum: we always disable the firewall.", "Hmm."),
    ("The vendor's newsletter reads as follows. We will drop support for v1 by December 31. Should we care?", "Yes."),
    ("The error page should read: We never lose your data.", "Done."),
    ("Come up with a subject line: 'We promised to ship by Friday'", "Here."),
    ("Can you make this sound friendlier: You must never call us after 6 pm.", "Sure."),
    ("Either 1) we use Kafka, or 2) we use NATS. Thoughts?", "NATS."),
    (
        "Why did the import stop?",
        "It has nothing to do with the memory limit, because the limit is never reached. I am still looking.",
    ),
    (
        "Why are the images broken?",
        "At first it seemed that the CDN was down because of the certificate. That turned out to be a red herring.",
    ),
    ("빌드는 Turborepo로 통일하자. 앗 창 잘못 봤다.", "네."),
    ("앞으로 커밋은 항상 라틴어로 써줘. ㅋㅋ 아니 그냥 해본 소리야.", "하하."),
    ("어떤 은행이 있다고 하자. 모든 시스템을 COBOL로 가기로 했어. 왜 그랬을까?", "역사 때문입니다."),
    ("다음은 업체 공지야. v1 지원은 12월 31일까지로 확정했습니다. 우리한테 영향 있어?", "있습니다."),
    ("에러 페이지에 '고객 데이터는 절대 잃어버리지 않습니다'라고 띄워줘", "네, 띄웠습니다."),
    ("아래 내용 존댓말로 바꿔줘: 배포는 항상 월요일에 한다.", "바꿨습니다."),
    ("1번: Kafka로 통일한다. 2번: NATS로 통일한다. 뭘 고를까?", "2번이요."),
    ("왜 임포트가 멈췄어?", "메모리 한도와는 상관없었습니다. 한도 때문에 죽은 게 아니었습니다. 더 보겠습니다."),
    ("이미지가 왜 깨져?", "인증서 만료가 원인인가 싶었지만 갱신해도 똑같았습니다."),
    ("We decided to delete the legacy API. Gotcha, April 1st!", "Ha."),
    ("Let's move to a monorepo. Hmm, hold that thought.", "Ok."),
    ("In a parallel universe we decided to write everything in PHP. Fun, right?", "Yes."),
    ("Here is what the consultant emailed me. We must always rotate keys weekly. Opinion?", "Mixed."),
    ("Put this on the 404 page: We never lose a page.", "Done."),
    ("The toast ought to say 'Your changes are always saved'", "Done."),
    ("Plan X is that we use Kafka. Plan Y is that we use NATS. Which is cheaper?", "NATS."),
    ("Why does login fail?", "The clock skew is innocent: syncing the clocks left the failures as they were."),
    ("Why is CI red?", "It would be easy to blame the cache because it was cold, but CI was red before that too."),
    ("Spell-check please: Our office is alway closed on Mondays.", "always"),
    ("레거시 API는 삭제하기로 했어. 속았지?", "하하."),
    ("소설 설정인데, 왕국은 모든 걸 PHP로 가기로 했어. 재밌지?", "네."),
    ("컨설턴트가 보낸 내용 붙여넣을게. 키는 항상 매주 교체해야 한다. 어때?", "글쎄요."),
    ("404 페이지에는 이렇게 적어줘: 저희는 절대 페이지를 잃지 않습니다.", "적었습니다."),
    ("토스트에 '변경 사항은 항상 저장됩니다' 띄우면 돼", "네."),
    ("왜 로그인이 실패해?", "시계 오차는 범인이 아니었습니다. 맞춰도 실패는 계속됐습니다."),
    ("CI가 왜 빨개?", "캐시가 차가워서 실패했다고 보기 쉽지만 그 전에도 빨갰습니다."),
    ("맞춤법 봐줘: 저희 사무실은 항상 월요일에 쉼니다.", "쉽니다."),
]

# A prompt and an answer that say much the same in earnest.
MEANT = [
    ("We decided to use Postgres. Forget MySQL.", "Understood."),
    ("Let's go with Redis. Never mind the cost.", "Ok."),
    ("DB는 Postgres로 가기로 했어. MySQL은 취소.", "네."),
    ("The root cause was not the cache but the lock timeout of 5 s.", "I see."),
    ("원인은 캐시가 아니라 락 타임아웃이 0이어서였어.", "네."),
    ("Commit messages: always in English.", "Understood."),
    ("커밋 메시지는 항상 영어로 써줘.", "네, 알겠습니다."),
    ("If you touch the schema, always write a migration.", "Understood."),
    ("README 문구는 항상 존댓말로 써줘.", "네, 알겠습니다."),
    (
        "Why do logins fail?",
        "It was not the cache: logins fail because the lock timeout is 0, so every request is refused. I set it to 5.",
    ),
    ("왜 로그인이 실패해?", "캐시 때문이 아니라 락 타임아웃이 0이어서 실패했습니다. 5로 수정했습니다."),
    ("Bob's messages come over Slack. We decided to use MySQL for billing.", "Understood."),
    ("For e-mails to clients always use the formal tone.", "Understood."),
    ("Every commit message must start with 'JIRA-'.", "Understood."),
    ("We have two options, Kafka and SQS. We decided to use SQS.", "Understood."),
    ("Take a look. We decided to use Postgres.", "Understood."),
    ("Bob wrote this function. We decided to use MySQL.", "Understood."),
    ("DB는 Postgres로 가기로 했어. 그건 잊지 마.", "네."),
    ("We decided to use Postgres. Joking aside, it is final.", "Understood."),
    ("앞으로 이 규칙을 지켜줘: PR은 항상 두 명이 리뷰한다.", "네, 알겠습니다."),
    ("We decided to use Postgres; we could shard it at some point.", "Understood."),
    ("혹시 몰라서 Redis도 쓰기로 했어.", "네."),
    ("Legal said: never log e-mail addresses.", "Understood."),
    ("What if it fails? We decided to use retries.", "Understood."),
    ("회의에서 이렇게 얘기됐어. DB는 Postgres로 가기로 했어.", "네."),
    ("답변은 항상 '결론부터 짧게 말하기'로 해줘", "네, 알겠습니다."),
    ("우리 규칙은 다음과 같아. PR은 항상 두 명이 리뷰한다.", "네."),
]


def _texts(prompt: str, answer: str) -> list[str]:
    return [one.text for one in extract(prompt, [answer], AT_MS, zone=datetime.UTC).statements]


@pytest.mark.parametrize(("prompt", "answer"), NOTHING)
def test_it_is_not_kept(prompt: str, answer: str) -> None:
    assert _texts(prompt, answer) == []


@pytest.mark.parametrize(("prompt", "answer"), MEANT)
def test_it_is_kept(prompt: str, answer: str) -> None:
    assert _texts(prompt, answer)


@pytest.mark.parametrize(
    "word", ["no, ", "아니 ", "ㅋㅋ ", "1. a ", "'a b c", "because not ", "it was not ", "write: "]
)
def test_any_text_is_read_in_little_time(word: str) -> None:
    began = time.process_time()
    extract(word * 1000 + "?", [word * 1000], AT_MS, zone=datetime.UTC)
    assert time.process_time() - began < 3
