"""The glossary: Korean concepts in English and English ones in Korean, and nothing inside other words."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlayer.core.glossary import MAX_CHARS, concepts, english_groups, korean_groups, rows
from memlayer.core.glossary_conjugation import beginnings, surfaces
from memlayer.core.stopwords import QUESTION_WORDS
from memlayer.core.terms import index_terms, query_terms


def crosses(question: str, text: str) -> list[tuple[str, ...]]:
    """Terms of the concepts of the question that the text speaks of in the other language."""
    held = frozenset(index_terms(text).split())
    return [one.terms for one in concepts(question) if any(held.issuperset(group) for group in one.alternatives)]


def covered(text: str) -> set[str]:
    return {term for one in concepts(text) for term in one.terms}


@pytest.mark.parametrize(
    ("question", "text", "met"),
    [
        ("배포 브랜치 보호 규칙이 뭐였지?", "The deploy branch is protected: two reviews, a rule of the team.", 4),
        ("환불은 며칠 안에 되나", "Refunds are possible within 14 days.", 1),
        ("왜 포스트그레스로 옮겼더라", "We migrated to PostgreSQL because of the locks.", 2),
        ("결제 대행사 어디로 정했지", "We decided on Stripe as our payment gateway.", 2),
        ("느려졌던 원인", "It was slow; the cause was a missing index.", 2),
        ("캐시 만료 시간", "cache entries expire after an hour", 3),
        ("금요일에 고치기로 한 버그", "The bug gets fixed on Friday", 3),
        ("30초 타임아웃", "a timeout of 30 seconds", 2),
        ("3월 일정", "The schedule for March", 2),
        ("데이터 베이스 백업", "nightly database backups", 2),
        ("어제 쓴 글꼴 색깔", "a font in that colour", 2),
        ("새로 샀던 마이크", "I bought a microphone", 2),
        ("Which payment gateway did we choose?", "결제 대행사는 스트라이프로 정했다", 2),
        ("Who owns the billing service?", "과금 서비스는 민지가 맡는다", 2),
        ("why did it break", "빌드가 깨졌다", 1),
        ("What did we change?", "포트를 바꿨다", 1),
        ("what did we change", "포트를 바꾼 이유", 1),
        ("when is the deadline", "마감은 다음 주다", 1),
        ("how do we sign in", "로그인은 구글로 한다", 1),
        ("the chosen colour", "색상은 골라 뒀다", 2),
        ("broken shadows", "그림자가 깨져 보인다", 2),
        ("we turned off the cache", "캐시를 껐다", 2),
        ("log-in screen", "로그인 화면", 2),
        ("grown memory leaks", "메모리 누수가 늘었다", 3),
    ],
)
def test_a_question_meets_a_text_in_the_other_language(question: str, text: str, met: int) -> None:
    assert len(crosses(question, text)) == met, (concepts(question), index_terms(text))


@pytest.mark.parametrize(
    "word",
    [
        "배포", "배포를", "배포했던", "배포하는", "배포됐어", "배포하려고", "배포였나", "배포까지는", "배포시켰지",
        "재배포할", "배포용", "배포일이", "배포중인", "배포한다며",
    ],
)  # fmt: skip
def test_a_noun_is_known_under_particles_and_light_verbs(word: str) -> None:
    assert any(("deploi",) in one.alternatives or ("redeploi",) in one.alternatives for one in concepts(word)), word


@pytest.mark.parametrize(
    ("word", "english"),
    [
        ("느려졌던", "slow"), ("느린", "slow"), ("깨지던", "break"), ("깨져서", "break"), ("바꿨었지", "chang"),
        ("바꾼", "chang"), ("바꿀지", "chang"), ("바꿔뒀나", "chang"), ("옮겼더라", "move"), ("고르기로", "choos"),
        ("골랐던", "choos"), ("지웠는지", "delet"), ("지워버린", "delet"), ("남겨두기로", "keep"), ("막았던", "block"),
        ("막는", "block"), ("늘어난", "increas"), ("늘렸던", "increas"), ("줄였지", "reduc"), ("정했어", "decid"),
        ("정하기로", "decid"), ("만들었던", "make"), ("만든", "make"), ("가벼운", "light"), ("쉬웠던", "easi"),
        ("빨라졌나", "fast"), ("눌렀을", "press"), ("모아둔", "collect"), ("물어봤던", "ask"), ("도와주던", "help"),
        ("이었는데", ""), ("켰더라", "enabl"), ("껐던", "disabl"),
    ],
)  # fmt: skip
def test_a_verb_is_known_under_its_endings(word: str, english: str) -> None:
    found = {group for one in concepts(word) for group in one.alternatives}
    assert (english,) in found if english else not found, (word, found)


@pytest.mark.parametrize(
    ("verb", "forms"),
    [
        ("바꾸다", "바꾸 바꾼 바꿀 바꿈 바꿉 바꿔 바꿨"),
        ("옮기다", "옮기 옮긴 옮길 옮김 옮깁 옮겨 옮겼"),
        ("고르다", "고르 고른 고를 고름 고릅 골라 골랐"),
        ("따르다", "따르 따른 따를 따름 따릅 따라 따랐"),
        ("정하다", "정하 정한 정할 정함 정합 정해 정했"),
        ("막다", "막"),
        ("묻다", "묻 물어 물었 물은 물을 물으"),
        ("가볍다", "가볍 가벼워 가벼웠 가벼운 가벼울 가벼우"),
        ("돕다", "돕 도와 도왔 도운 도울 도우"),
        ("잡다", "잡"),
        ("만들다", "만들 만든 만듭 만드는 만드니 만드세 만드신"),
        ("쉬다", "쉬 쉰 쉴 쉼 쉽 쉬어 쉬었"),
    ],
)
def test_conjugation(verb: str, forms: str) -> None:
    assert surfaces(verb) == tuple(forms.split())


def test_what_the_index_holds_of_a_verb_begins_with_one_of_its_beginnings() -> None:
    for verb, written in (
        ("바꾸다", "바꿨다 바꾸고 바꾼 바꿔서 바꿉니다 바꿀까"),
        ("막다", "막았다 막는 막아서 막은 막지"),
        ("끄다", "껐다 끄고 꺼서 끈다 끕니다"),
        ("설명하다", "설명했다 설명하던 설명"),
        ("묻다", "물었다 물어서 묻고 물은"),
    ):
        groups = korean_groups(verb)
        for word in written.split():
            held = frozenset(index_terms(word).split())
            assert any(held.issuperset(group) for group in groups), (word, held, beginnings(verb))


@pytest.mark.parametrize(
    "text",
    [
        "큐레이션", "큐브", "키워드림", "메모리얼", "파일럿", "카드뮴", "앱솔루트", "초보자", "한 도", "주 소",
        "우리 그거 뭐였지",
        "src/payment/order.py", "payment_gateway", "order.total", "--force", "https://shop.example/cart", "$HOME",
        "paymentology", "1.2.3", "",
    ],
)  # fmt: skip
def test_nothing_is_found_inside_other_words_names_and_paths(text: str) -> None:
    assert concepts(text) == []


@pytest.mark.parametrize("text", ["큐", "큐를", "큐에서", "큐가 비었나", "작업큐는"])
def test_a_word_of_one_syllable_is_found_as_a_word(text: str) -> None:
    assert any(("queue",) in one.alternatives for one in concepts(text))


def test_a_unit_counts_only_after_digits() -> None:
    assert [one.terms for one in concepts("5분")] == [("분",)]
    assert concepts("분") == []


def test_the_longest_form_wins() -> None:
    (gateway,) = concepts("payment gateway")
    assert gateway.terms == ("payment", "gatewai")
    assert ("결제", "대행") in gateway.alternatives
    assert ("게이", "이트", "트웨", "웨이") not in gateway.alternatives
    (password,) = concepts("비밀번호를")
    assert ("password",) in password.alternatives
    assert ("number",) not in password.alternatives
    assert [one.terms for one in concepts("시간대")] == [("시간", "간대")]


def test_parts_of_a_compound_are_concepts_of_their_own() -> None:
    payment, module = concepts("결제모듈은")
    assert (payment.terms, module.terms) == (("결제", "제모"), ("모듈",))
    assert [one.terms for one in concepts("결제 모듈")] == [("결제",), ("모듈",)]
    assert concepts("결제꾸러미") == []  # half known is not known


def test_a_spread_form_covers_all_its_runs() -> None:
    (database,) = concepts("데이터 베이스를")
    assert ("databas",) in database.alternatives
    assert set(database.terms) == set(query_terms("데이터 베이스를"))


def test_a_mixed_sentence_goes_both_ways() -> None:
    met = crosses("deploy 할 때 캐시를 비우나?", "배포 전에 clear the cache")
    assert met == [("deploi",), ("캐시",), ("비우",)]


def test_ambiguous_words_have_the_alternatives_of_all_their_rows() -> None:
    (order,) = concepts("order")
    assert {("주문",), ("순서",)} <= set(order.alternatives)


def test_a_form_that_would_lose_a_word_is_not_searched_for() -> None:
    assert english_groups("sign in") == []
    assert english_groups("sign-in") == [("sign-in",)]
    assert ("sign",) not in {group for one in concepts("로그인") for group in one.alternatives}


def test_irregular_forms_are_searched_for_and_recognised() -> None:
    assert set(english_groups("choose")) == {("choos",), ("chose",), ("chosen",)}
    assert concepts("chosen")[0].alternatives == concepts("choose")[0].alternatives


def test_a_concept_is_told_once() -> None:
    assert len(concepts("배포 배포를 deploy deploys")) == 2


def test_what_is_only_grammar_is_no_concept() -> None:
    assert concepts("우리가 지난번에 뭐라고 했더라") == []
    assert concepts("what did we say about it again") == []


def test_the_glossary_is_large_and_has_no_row_or_pair_twice() -> None:
    every = rows()
    assert len(every) >= 1200
    pairs = Counter((korean, english) for row in every for korean in row.korean for english in row.english)
    assert [pair for pair, count in pairs.items() if count > 1] == []


def test_every_row_is_well_formed_and_has_index_terms_on_both_sides() -> None:
    for row in rows():
        for korean in row.korean:
            bare = korean.lstrip("#").rstrip("-").lstrip("0123456789").replace(" ", "")
            assert bare and all("가" <= one <= "힣" for one in bare), row
        for english in row.english:
            assert english == " ".join(english.lower().split()) and english.isascii() and english, row
        assert any(korean_groups(one) for one in row.korean), row
        assert any(english_groups(one) for one in row.english), row


def test_every_row_is_reached_from_its_own_words() -> None:
    unreached = []
    for row in rows():
        english = {group for one in row.english for group in english_groups(one)}
        korean = {group for one in row.korean for group in korean_groups(one)}
        asked = ["30" + one[1:] if one[0] == "#" else one.replace("-", "다") for one in row.korean]
        for words, wanted in ((asked, english), (row.english, korean)):
            # What a question never searches for, it never translates.
            if all(not query_terms(word) or word in QUESTION_WORDS for word in words):
                continue
            if not any(wanted & set(one.alternatives) for word in words for one in concepts(word)):
                unreached.append((row, words))
    assert unreached == []


@given(st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    asked = set(query_terms(text))
    for one in concepts(text):
        assert one.terms and set(one.terms) <= asked
        assert one.alternatives and all(one.alternatives)


_PIECES = [
    "배포",
    "했던",
    "큐",
    "를",
    " ",
    "결제",
    "대행사",
    "30",
    "초",
    "3",
    "월",
    "payment",
    "-",
    "in",
    "sign",
    "/",
    "느려",
    "졌",
]


@given(st.lists(st.sampled_from(_PIECES), max_size=30).map("".join))
def test_any_mixture_of_known_pieces_is_read(text: str) -> None:
    assert covered(text) <= set(query_terms(text))


def test_long_texts_and_long_runs_end() -> None:
    assert concepts("배포 " * 100_000)
    assert concepts("가나" * MAX_CHARS) == []
    assert concepts("배포결제" * 200 + "꾸러미") == []


def test_threads_get_the_same_answer() -> None:
    questions = ["배포 브랜치 보호 규칙", "which payment gateway", "느려졌던 원인이 뭐였지", "30초 타임아웃"] * 25
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(concepts, questions)) == [concepts(one) for one in questions]
