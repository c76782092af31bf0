"""Unrelated turns to bury the evaluation set in.

Other topics in other words, in the same projects and in others.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from evals.dialogue_set import ANSWERED_AFTER_MS, DAY_MS, Project, Turn

OTHER_PROJECTS = 12
OWN_SHARE = 0.4  # of the turns lie in the projects that are asked about
TURNS_A_SESSION = 20
SPREAD_DAYS = 60

# (topic, topic in Korean, its parts, its parts in Korean)
TOPICS = (
    ("chess engine", "체스 엔진", "transposition hash/endgame tablebase/opening book/pawn hash/move picker",
     "전치 해시/엔드게임 테이블/오프닝 북/폰 구조 평가/수 정렬기"),
    ("recipe site", "레시피 사이트", "ingredient parser/portion slider/shopping list/allergen badge/oven converter",
     "재료 분석기/인분 슬라이더/장보기 목록/알레르기 배지/오븐 온도 변환기"),
    ("podcast player", "팟캐스트 플레이어", "chapter marks/silence skipper/feed crawler/sleep timer/download shelf",
     "챕터 표시/무음 건너뛰기/피드 수집기/취침 타이머/다운로드 선반"),
    ("bus timetable", "버스 시간표", "stop locator/delay predictor/fare table/route line drawer/holiday calendar",
     "정류장 찾기/지연 예측기/요금표/노선 그리기/휴일 달력"),
    ("font editor", "글꼴 편집기", "kerning panel/glyph grid/hinting pass/variable axes/curve simplifier",
     "커닝 패널/글리프 격자/힌팅 단계/가변 축/곡선 단순화"),
    ("greenhouse controller", "온실 제어기", "vent motor/humidity loop/seedling camera/irrigation valve/frost guard",
     "환기 모터/습도 제어/모종 카메라/관수 밸브/서리 감시"),
    ("genealogy tree", "족보 프로그램", "marriage edges/census importer/tree printer/place gazetteer/date guesser",
     "혼인 연결선/호적 가져오기/가계도 인쇄/지명 사전/날짜 추정기"),
    ("crossword maker", "십자말풀이 생성기", "grid filler/clue editor/symmetry checker/word list/solver hints",
     "칸 채우기/단서 편집기/대칭 검사기/낱말 목록/풀이 힌트"),
    ("telescope log", "전파망원경 기록", "pulsar folding/dish pointing/noise diode/spectrum archive/observing plan",
     "펄서 접기/접시 지향/잡음 다이오드/스펙트럼 보관소/관측 계획"),
    ("knitting patterns", "뜨개 도안", "stitch chart/yarn estimator/size grader/cable preview/row counter",
     "코 도표/실 소요량 계산/치수 조정기/꽈배기 미리보기/단수 계수기"),
    ("bike sharing", "자전거 대여", "dock balancer/helmet locker/ride heatmap/tyre reports/unlock beacon",
     "거치대 재배치/헬멧 보관함/주행 열지도/타이어 신고/잠금해제 비콘"),
    ("library catalogue", "도서관 목록", "shelf map/hold queue/barcode reader/subject headings/overdue slips",
     "서가 지도/예약 대기열/바코드 판독기/주제명 표목/연체 쪽지"),
    ("karaoke machine", "노래방 기기", "pitch meter/lyric scroller/duet mode/song picker/echo knob",
     "음정 표시기/가사 넘기기/듀엣 모드/곡 고르기/에코 다이얼"),
    ("school timetable", "학교 시간표", "room packer/teacher wishes/break rules/exam planner/substitution board",
     "교실 배정기/교사 희망/쉬는시간 규칙/시험 계획/보결 게시판"),
    ("museum guide", "박물관 안내", "exhibit beacons/audio stops/floor drawing/ticket scanner/quiz trail",
     "전시 비콘/음성 해설/층별 도면/입장권 판독/퀴즈 길"),
    ("drone log viewer", "드론 기록 뷰어", "gimbal trace/propeller health/no-fly layer/flight replayer/compass drift",
     "짐벌 궤적/프로펠러 상태/비행금지 층/비행 재생기/나침반 편차"),
    ("subtitle tool", "자막 도구", "reading speed/line breaker/shot detector/glossary/timing nudger",
     "읽기 속도/줄바꿈기/장면 감지/용어집/타이밍 보정"),
    ("brewery planner", "양조장 계획", "mash schedule/hop stock/keg tracker/gravity curve/label press",
     "당화 일정/홉 재고/케그 추적/비중 곡선/라벨 인쇄"),
)  # fmt: skip

_PROMPTS = (
    "the {part} of the {topic} feels off, have a look",
    "can the {part} handle {n} items at once?",
    "tidy up the {part}, nobody understands it",
    "write a smoke check for the {part} in the {topic}",
    "someone reported case {n} about the {part}",
    "what would it take to make the {part} optional",
    "split the {part} off from the rest of the {topic}",
    "draw me how the {part} hangs together",
)
_ANSWERS = (
    "The {part} read its table anew for every row; it keeps it now, and {n} rows take {m} ticks.",
    "I moved the {part} into `{file}_{n}.src` and left a thin shim where it was.",
    "It was an off-by-one in the {part}: item {n} of {m} was skipped whenever the list was sorted downwards.",
    "There are {m} callers of the {part}; all but {k} could be moved to the shorter form without a change.",
    "The {part} now says which of the {m} inputs it disliked instead of staying quiet.",
    "I tried {k} variants and kept the plainest; the {topic} behaves the same in all {m} examples.",
    "Half of the {part} was dead code from the first sketch, {n} lines are gone.",
    "Nothing else in the {topic} depends on it as far as `grep` shows.",
)
_KOREAN_PROMPTS = (
    "{topic}의 {part} 쪽이 좀 이상한데 봐줘",
    "{part}에 항목 {n}개 넣어도 괜찮을까",
    "{part} 코드가 지저분한데 정리 부탁",
    "{topic} {part} 점검용 스크립트 하나 만들어줘",
    "{part} 관련해서 {n}번 사례가 접수됐어",
    "{part} 쪽을 선택 사항으로 바꾸려면 뭐가 필요해",
    "{topic}에서 {part}만 따로 떼어내자",
)
_KOREAN_ANSWERS = (
    "{part} 쪽에서 행마다 표를 새로 읽고 있었습니다. 한 번만 읽게 바꾸니 {n}행에 {m}틱이 걸립니다.",
    "{part} 쪽 코드를 `{file}_{n}.src` 로 옮기고 원래 자리에는 얇은 연결부만 남겼습니다.",
    "{part}의 경계 검사가 하나 어긋나 있었습니다. 역순 정렬일 때 {m}개 중 {n}번째가 빠졌습니다.",
    "{part} 쪽을 부르는 곳이 {m}군데인데 {k}군데만 빼고 짧은 형태로 바꿨습니다.",
    "이제 {part} 쪽에서 입력 {m}개 중 어느 것이 잘못인지 알려 줍니다.",
    "{k}가지 방식을 비교해서 가장 단순한 것으로 남겼습니다. {topic}의 예제 {m}개는 결과가 같습니다.",
    "{part}의 절반은 초기 시안에서 남은 코드라서 {n}줄을 지웠습니다.",
)


def noise(projects: list[Project], events: int, last_ms: int, seed: int = 7) -> Iterator[tuple[str, Turn]]:
    """Yield (project's name, turn) of events // 2 turns.

    Over SPREAD_DAYS up to last_ms; the same for the same arguments. No turn holds a string that some probe expects or
    forbids, so none can answer by chance.
    """
    dice = random.Random(seed)
    taboo = {
        one.casefold() for project in projects for probe in project.probes
        for one in (*probe.any_of, *probe.all_of, *probe.forbid)
    }  # fmt: skip
    own = [project.name for project in projects]
    others = ["elsewhere-%d" % number for number in range(1, OTHER_PROJECTS + 1)]
    made = 0
    while made < events // 2:
        name = dice.choice(own if dice.random() < OWN_SHARE else others)
        started_ms = last_ms - int(dice.random() * SPREAD_DAYS * DAY_MS)
        session = "noise-%d" % made
        for place in range(min(TURNS_A_SESSION, events // 2 - made)):
            prompt, answer = _turn(dice)
            while any(one in (prompt + "\n" + answer).casefold() for one in taboo):
                prompt, answer = _turn(dice)
            made += 1
            at_ms = min(started_ms + place * 3 * ANSWERED_AFTER_MS, last_ms)
            yield name, Turn("%s/noise-%d" % (name, made), session, prompt, answer, at_ms)


def _turn(dice: random.Random) -> tuple[str, str]:
    topic, korean_topic, parts, korean_parts = dice.choice(TOPICS)
    korean = dice.random() < 0.5
    place = dice.randrange(5)
    values = {
        "topic": korean_topic if korean else topic,
        "part": (korean_parts if korean else parts).split("/")[place],
        "file": parts.split("/")[place].replace(" ", "_"),
        "n": dice.randrange(101, 99_999),
        "m": dice.randrange(51, 9_999),
        "k": dice.randrange(3, 49),
    }
    prompt = dice.choice(_KOREAN_PROMPTS if korean else _PROMPTS)
    answers = dice.sample(_KOREAN_ANSWERS if korean else _ANSWERS, dice.choice((1, 2, 2, 3, 4)))
    return prompt.format(**values), " ".join(answers).format(**values)
