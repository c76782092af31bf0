"""Words of one thing in two languages or two spellings, brought to one form before two statements are compared."""

from __future__ import annotations

import re
import unicodedata

from memlayer.text.stopwords import words

# Korean names of what English texts call by another word, and second spellings.
_PAIRS = words(
    """
    프로덕션=prod 운영=prod production=prod 스테이징=staging 마이그레이션=migration 배포=deploy 서버=server
    포트=port 캐시=cache 데이터베이스=db database=db 디비=db 브랜치=branch 커밋=commit 메시지=message
    테스트=test 빌드=build 릴리스=release 출시=release 토큰=token 세션=session 로그인=login 인증=auth
    authentication=auth 결제=payment 모듈=module 버전=version 프로젝트=project 첨부파일=upload
    attachments=upload attachment=upload 업로드=upload 담당자=담당 오너=담당 책임자=담당 금요일=friday
    월요일=monday 화요일=tuesday 수요일=wednesday 목요일=thursday 토요일=saturday 일요일=sunday 매일=daily
    자동으로=automatically 자동=automatically 베타=beta 폰트=font 이메일=email 코드=code 문서=docs
    documentation=docs 백그라운드=background 작업=jobs 앱=app 큐=queue 감사로그=auditlog 제한=limit 한도=limit
    상한=limit 스쿼시=squash 머지=merge 리베이스=rebase 리뷰=review 알림=notification 로그=log 백업=backup
    타임아웃=timeout 재시도=retry 토픽=topic 컨테이너=container 클러스터=cluster 노드=node 패키지=package
    컴포넌트=component 설정=config 컬럼=column 테이블=table 인덱스=index 쿼리=query 스키마=schema
    프론트=frontend 백엔드=backend 린트=lint 워커=worker 스케줄=schedule 크론=cron 모델=model 데이터=data
    파일=file 폴더=folder 이미지=image 아이콘=icon 디자인=design 동기화=sync 도메인=domain 포맷=format
    모니터링=monitoring 호출=call 요청=request 영어=english 한국어=korean 한글=korean 일본어=japanese
    중국어=chinese 답변=reply 답해=reply 답할=reply answer=reply answers=reply respond=reply replies=reply
    주석=comments comment=comments 라이브러리=library 날짜=date 출시일=release 릴리스일=release 예정일=
    데일리=daily 스팀=steam 사용자별=사용자당 초기화=리셋 자정=00시 정오=12시 저장소=repo repository=repo
    환경=env environment=env
    """
)
_SAME = dict(pair.split("=", 1) for pair in _PAIRS)
_SPELT = re.compile("|".join(sorted((re.escape(word) for word in _SAME), key=len, reverse=True)))
_NUMBERS = {
    word: str(at)
    for at, word in enumerate(words("zero one two three four five six seven eight nine ten eleven twelve"))
    if word != "one"
}
_NUMBER_WORD = re.compile(
    r"\b(?:" + "|".join([*_NUMBERS, "fifteen", "twenty", "thirty", "sixty", "one(?= (?:\\w+))"]) + r")\b"
)
_TENS = {"fifteen": "15", "twenty": "20", "thirty": "30", "sixty": "60", "one": "1"}
_MONTHS = words("january february march april may june july august september october november december")
_ENGLISH_DATE = re.compile(rf"\b({'|'.join(_MONTHS)}) (\d{{1,2}})(?:st|nd|rd|th)?\b")
_KOREAN_DATE = re.compile(r"(?<!\d)(\d{1,2})월 ?(\d{1,2})일")
_SLASH_DATE = re.compile(r"(?<![\d/.\w])(\d{1,2})/(\d{1,2})(?![\d/])")
_ISO_DATE = re.compile(r"\[?\b20\d\d-(\d\d)-(\d\d)\b\]?")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")
_KOREAN_COUNT = re.compile(r"(?<![가-힣])([한두세네]) ?(명|번|개|대|건|시간|주|달|가지|장|회)")
_MAN = re.compile(r"(\d+)만")


def normal(text: str) -> str:
    """Lower case, one word for one thing, digits for numbers, `date0420` for any spelling of 20 April."""
    text = unicodedata.normalize("NFKC", text).lower().replace("`", "")
    text = re.sub(r"(?:밤 ?12시|midnight|(?<!\d)0시)", "00시", text)
    text = text.replace("감사 로그", "auditlog").replace("audit log", "auditlog")
    text = _THOUSANDS.sub("", text)
    text = _KOREAN_COUNT.sub(lambda found: str(" 한두세네".index(found.group(1))) + found.group(2), text)
    text = _MAN.sub(lambda found: found.group(1) + "0000", text)
    text = _ENGLISH_DATE.sub(lambda found: _date(_MONTHS.index(found.group(1)) + 1, int(found.group(2))), text)
    text = _ISO_DATE.sub(lambda found: _date(int(found.group(1)), int(found.group(2))), text)
    for pattern in (_KOREAN_DATE, _SLASH_DATE):
        text = pattern.sub(lambda found: _date(int(found.group(1)), int(found.group(2))), text)
    text = _NUMBER_WORD.sub(lambda found: _NUMBERS.get(found.group()) or _TENS[found.group()], text)
    return _SPELT.sub(lambda found: _spelt(found, text), text)


def _date(month: int, day: int) -> str:
    return f" date{month:02}{day:02} "


def _spelt(found: re.Match[str], text: str) -> str:
    """English words change whole only; Korean ones also under their particle."""
    word = found.group()
    if word.isascii():
        before, after = text[found.start() - 1 : found.start()], text[found.end() : found.end() + 1]
        if before.isalnum() or after.isalnum():
            return word
    return _SAME[word]
