"""The terms as a full-text column of a real LanceDB table.

Every question meets its text.
"""

from collections.abc import Iterator

import lancedb
import pytest
from lancedb.index import FTS
from lancedb.query import FullTextOperator, MatchQuery
from lancedb.table import Table

from memlayer.text.terms import index_terms, query_terms

# Everything about language is done by text.terms; the default max_token_length would drop paths and digests.
CONFIG = FTS(
    base_tokenizer="whitespace",
    stem=False,
    lower_case=False,
    remove_stop_words=False,
    ascii_folding=False,
    max_token_length=None,
    with_position=False,
)

DIGEST = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
TEXTS = {
    "homework": "과제를 제출했어",
    "payment": "결제모듈은 월요일에 배포하기로 했다",
    "checkout": "fixed a rounding bug in src/app/checkout.py:42",
    "orders": "order events moved from Postgres to ClickHouse",
    "cart": "def normalize_cart(items): trims the cart",
    "retry": "재시도는 다섯 번까지, 그 뒤에는 데드레터 큐로 보낸다",
    "store": "OrderEventStore raised TypeError and ECONNRESET at localhost:5433",
    "docker": "docker build --no-cache, then pytest -x",
    "issue": "issue #1234 is fixed in v1.2.3 of the C++ part",
    "env": "비밀값은 .env 파일에 두고 커밋하지 않는다",
    "cache": "캐시를 껐다: 오래된 설정이 계속 내려와서",
    "value": "기본 값이 없으면 오류를 낸다",
    "login": "로그인 화면에서 비밀번호를 세 번 틀리면 계정을 잠근다",
    "japanese": "決済モジュールを直した",
    "chinese": "我们决定迁移数据库",
    "digest": f"the model's checksum is {DIGEST}",
    "http": "upstream answered HTTP 503 for 1,000 requests",
    "meeting": "회의에서 검색 결과를 캐시하지 않기로 합의했다",
    "english": "We never use unittest, the team prefers pytest",
    "signs": "a \"quoted\" 'thing' foo*bar AND (x OR y) field:value ~3 ^2 +plus",
}

QUESTIONS = [
    # the six of the tokenizer comparison, both ways round
    ("과제", "homework"),
    ("결제 모듈", "payment"),
    ("checkout.py", "checkout"),
    ("orders?", "orders"),
    ("normalize_cart", "cart"),
    ("재시도", "retry"),
    # particles, endings, spacing
    ("과제는 제출했나요?", "homework"),
    ("과제가 뭐였지?", "homework"),
    ("결제모듈을 언제 배포하지?", "payment"),
    ("결제 모듈 배포일", "payment"),
    ("재시도를 몇 번까지 하기로 했지?", "retry"),
    ("데드 레터 큐", "retry"),
    ("캐시는 왜 껐더라?", "cache"),
    ("설정이 오래된 이유", "cache"),
    ("값을 안 주면?", "value"),
    ("비밀번호가 틀리면 어떻게 돼?", "login"),
    ("계정 잠금", "login"),
    ("로그인화면", "login"),
    ("검색결과 합의", "meeting"),
    ("회의에서 뭘 합의했지?", "meeting"),
    ("커밋하면 안 되는 파일", "env"),
    # identifiers, paths, numbers, signs
    ("app/checkout.py", "checkout"),
    ("src/app/checkout.py를 왜 고쳤어?", "checkout"),
    ("checkout.py:42", "checkout"),
    ("the normalizeCart function", "cart"),
    ("order event store", "store"),
    ("ordereventstore", "store"),
    ("typeerror", "store"),
    ("ECONNRESET가 왜 나지?", "store"),
    ("port 5433", "store"),
    ("localhost:5433", "store"),
    ("--no-cache", "docker"),
    ("-x 옵션", "docker"),
    ("#1234", "issue"),
    ("version 1.2.3", "issue"),
    ("c++", "issue"),
    (".env", "env"),
    ("HTTP 503", "http"),
    ("1000 requests", "http"),
    (DIGEST, "digest"),
    ("field:value", "signs"),
    ('"quoted"', "signs"),
    ("foo*bar", "signs"),
    ("+plus -minus", "signs"),
    # English inflection, punctuation, other scripts
    ("where did the order event move?", "orders"),
    ("Clickhouse, really?!", "orders"),
    ("do we prefer unittest?", "english"),
    ("決済モジュール", "japanese"),
    ("迁移", "chinese"),
]


@pytest.fixture(scope="module", params=["indexed", "half indexed"])
def table(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Table]:
    """Rows that came after the index was made.

    They are found through the same tokenizer.
    """
    database = lancedb.connect(str(tmp_path_factory.mktemp("lance")))
    rows = [{"id": name, "terms": index_terms(text)} for name, text in TEXTS.items()]
    first = rows if request.param == "indexed" else rows[::2]
    table = database.create_table("chunks", data=first)
    table.create_index("terms", config=CONFIG)
    if first is not rows:
        table.add(rows[1::2])
    yield table


def search(table: Table, terms: list[str]) -> list[str]:
    query = MatchQuery(" ".join(terms), "terms", operator=FullTextOperator.OR)
    return [row["id"] for row in table.search(query, query_type="fts").limit(10).to_list()]


@pytest.mark.parametrize(("question", "name"), QUESTIONS)
def test_question_finds_its_text_first(table: Table, question: str, name: str) -> None:
    terms = query_terms(question)
    assert terms
    assert search(table, terms)[:1] == [name], (terms, search(table, terms))


@pytest.mark.parametrize(
    "question", ["문제를 풀자", "확인했어", "감사합니다", "고양이", "pip", "x264", "/usr/bin", '"', "a:b"]
)
def test_unrelated_questions_find_nothing(table: Table, question: str) -> None:
    terms = query_terms(question)
    assert not terms or search(table, terms) == []


@pytest.mark.parametrize(
    "term", ["src/app/checkout.py:42", "--no-cache", "#1234", "c++", "-x", "localhost:5433", ".env"]
)
def test_query_signs_are_no_operators(table: Table, term: str) -> None:
    assert len(search(table, [term])) == 1
    for operator in ("+", '"', "(", "*", "~", "^"):
        assert search(table, [operator + term]) == []
