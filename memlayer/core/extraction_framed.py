"""What stands around a sentence and takes it back or out of its speaker's mouth: frames, texts to write, options."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memlayer.core.extraction_sentences import Candidate

_FILLER = (
    r"^(?:\W*(?:ㅋ+|ㅎ+|oh|oops|whoops|nah|haha|lol|hm+|ah|uh|um+|er|wait|no|nope|sorry|actually|ok(?:ay)?|well|so"
    r"|and|but|then|just|now|아+|어+|앗|헐|음+|잠깐만?"
    r"|근데|그런데|아니|사실|그냥|미안|죄송(?:해요|합니다)?|자|그럼)(?![가-힣\w]))*\W*"
)
_END = r"[.!~ㅋㅎ… ]*$"

# The sentence behind it that takes it back. `Never mind the cost` and `forget MySQL` take back something else.
TAKES_BACK = re.compile(
    _FILLER + r"(?:(?:forget|scratch|ignore|strike|disregard) (?:that|this|it|all that"
    r"|what i (?:just )?said"
    r"|my last (?:\w+)|the last (?:one|sentence|bit))(?: last)?(?: \w+)?(?=[.,!;]|$| [-(\u2014])"
    rf"|never ?mind(?: that| me)?{_END}|(?:(?:i'?m|i was|we'?re|only|was|that was|it was|just) )*(?:a "
    rf"|an )?(?:(?:kidding|joking|teasing|trolling"
    r"|jk|joke|april fools?)\b(?! aside)|messing with)|gotcha\b|hold that thought|(?:on )?second thoughts?\b"
    r"|i take (?:that|it|this) back|that'?s (?:wrong|not right"
    r"|a lie|not true)(?=[.,!]|$)|i was wrong"
    r"|i (?:misspoke|mixed (?:that|it|this|things|them) up)|not true[.,!]|wrong (?:window|chat|project|tab|thread"
    r"|repo|channel|person)\b"
    r"|속았[지어]|(?:좀 )?(?:더 )?(?:고민|생각)해 ?(?:볼게|볼래|봐야|보고)|아니다|아니야|아냐(?![가-힣])|아니었다"
    rf"|(?:그거 |그건 |방금 |이건 )?취소(?:야|할게|할게요|해줘|해주세요|요|임|합니다|하자)?(?:{_END}|[,.])"
    rf"|(?:이건 |그건 |그냥 |다 )?(?:농담|장난|뻥|구라|거짓말)(?:이야|이에요|이었어|이고|임|이지|이다|친 거야"
    rf"|입니다)?(?:{_END}|[,.]| \S{{1,4}}{_END})"
    r"|(?:방금|지금|위에?|앞에?|아까|이|그) ?(?:한 )?(?:말|거|건|것|얘기|문장)(?:은|는"
    r"|을)? ?(?:다 )?(?:무시(?!하지)|취소"
    r"|잊(?!지)|없던|못 들은)"
    rf"|(?:무시|잊어)(?:해|버려)?(?:줘|주세요)?{_END}|없던 (?:걸|일)|못 들은 (?:걸|셈)|(?:(?:창|방|탭|채널|말을"
    rf"|내가|제가) )?잘못 (?:말했|썼"
    rf"|적었|봤|쳤|보냈|올렸)|해 ?본 (?:소리|말)|정정(?:할게|합니다|하면))",
    re.IGNORECASE,
)

# Supposed for the rest of the prompt.
_SUPPOSES = re.compile(
    _FILLER + r"(?:(?:let'?s |let us )?(?:imagine|picture|suppose|pretend)\b"
    r"|(?:think of (?:an?|some)|consider an? (?:case|situation|world|company|team)) ?[^,.:]{0,40}[.:]$"
    r"|(?:a |here'?s a |as a )?(?:thought experiment|hypothetical(?:ly)?)\b)|\bhere'?s a scenario\b"
    r"|가정해 ?(?:보자|봐|볼게|보면|봅시다|주세요)|가정하자|상상해 ?(?:봐|보자|보세요|봅시다)|(?:다|라)고 (?:치자"
    r"|해 ?보자|칩시다)|[^으]다고 하자|만약에? 이런",
    re.IGNORECASE,
)
# What follows somebody else wrote or said.
_REPORTS = re.compile(
    r"\b(?!(?:i|we) )\w+ (?:just |also |once )?(?:wrote|writes|posted|said|says|sent|emailed|messaged|tweeted"
    r"|commented"
    r"|replied|announced|claims|claimed|argued|argues|asked) (?:(?:me|us) )?(?:this|the following"
    r"|it like this)\b(?=\s*[.:,]|$| (?:on|to|at|via|earlier|yesterday|today|last|(?:in|by) (?:slack|teams|discord"
    r"|the"
    r"|an?|our|his|her|their|chat|e?-?mail|jira|github|confluence))\b)[^:]{0,40}[.:]?$"
    r"|\b(?!(?:i|we) )\w+ (?:wrote|writes|posted|tweeted|commented|claims|asked|asks)\s*:"
    r"|\bhere(?:'s| is) what (?!we\b|i\b)[^.:]{2,40}\b(?:wrote|said|sent|posted|e?-?mailed)\b"
    r"|(?:보낸|쓴|올린|적은) (?:내용|메일|글|메시지|문서)\S* .{0,12}(?:붙여|옮겨|전달|공유)|\b(?:reads?|goes|went"
    r"|says|said) as follows\b|^(?:a )?quot(?:e|ed|ing) (?:from )?[^:]{0,40}:"
    r"|^(?:다음은|아래는|이건|여기) [^.]{0,24}(?:공지|메일|글|답변|인용|발췌|기사|댓글|메시지|블로그"
    r"|문서)\S{0,2}(?:야|이야|입니다|이에요|인데|임)[.:]?$"
    r"|(?:이렇게|다음과 같이|아래와 같이|이런 (?:글|말|메일|메시지|댓글|답)\S?) ?(?:\S+ )?(?:썼|적었|말했|말하|올렸"
    r"|보냈|보내|남겼|남기|얘기"
    r"|답했|하더라|하던데|공지)",
    re.IGNORECASE,
)
# A meeting and a list of rules are the speaker's own, however they are announced.
_OWN_WORDS = re.compile(
    r"(?:^|\s)(?:나|난|나는|내가|저는|제가) |우리|회의|미팅|합의|결정|규칙|원칙|\b(?:we|our|us|meeting|rules?"
    r"|decisions?|agreed)\b",
    re.IGNORECASE,
)
# A text to write, to change or to look at follows the colon.
_TEXT = (
    r"(?:messages?|e-?mails?|mail|tweet|post|letter|reply|title|slogan|caption|headline|heading|paragraph"
    r"|sentences?|story"
    r"|announcement|phrase|wording|text|banner|label|placeholder|tooltip|subject|copy|translation)"
)
_KOREAN_TEXT = (
    r"(?:문장|문구|문단|글|텍스트|표현|제목|카피|메일|이메일|메시지|공지|댓글|트윗|소개글|답장|멘트|본문|배너"
    r"|라벨|번역)"
)
_WRITES = re.compile(
    _FILLER + r"(?:please |can you |could you )?(?:(?:change|set|update|replace|edit|make|switch|turn)\b[^.:]{0,60}"
    rf"\b(?:to|with|say|read|into)\s*:|(?:write|add|put|send|post)\b"
    rf"(?![^:]*\b(?:format|template|convention|style|rules?|guidelines?)\b)[^.:]{{0,40}}\b{_TEXT}\b[^.:]{{0,30}}:)"
    r"|\b(?:translate|rephrase|reword|paraphrase|proofread|polish|shorten|draft|compose|summari[sz]e"
    r"|rewrite)\b[^.:]{0,50}:"
    r"|\b(?:should|must|to|shall|will) (?:read|say|display)\s*:|\b(?:make|turn|put|phrase|word|improve|tidy|clean"
    r"|convert)\b"
    r"[^:.]{0,20}\b(?:this|these|the following)\b[^:.]{0,40}:"
    r"|(?:존댓말|반말|높임말|영어|한국어|한글|일본어|자연스럽|부드럽|짧게|정중)(?![^:]*(?:항상"
    r"|앞으로))\S* .{0,12}(?:줘|주세요|줄래)\s*:"
    rf"|\b(?:is|are|does) (?:this|these|that|the following) {_TEXT}\b[^.:]{{0,40}}:"
    rf"|{_KOREAN_TEXT}[^.:]{{0,30}}(?:다듬|번역|고쳐|교정|요약|바꿔|써|작성|수정|윤문|줄여|봐|맞)\S*(?: ?(?:줘"
    rf"|주세요|줄래))?\s*:"
    r"|(?:번역|요약|교정|윤문)(?:해|해줘|해 ?줘|해 ?주세요|해봐|좀)?\s*:",
    re.IGNORECASE,
)
# A whole sentence in quotation marks, and what is to be done with it.
_QUOTED_TEXT = re.compile(
    r"['\"\u2018\u201c\u300c][^'\"\n]{2,} [^\n]{2,}?['\"\u2019\u201d\u300d] ?(?:이?라고|이?라는|으로|로|을"
    r"|를) .{0,20}?"
    r"(?:바꿔|변경|수정|고쳐|써|적어|해|설정|표시|넣어|작성|교체|번역|다듬)\S*(?: ?(?:줘|주세요|줄래))[요.!~]*$"
    r"|\b(?:change|set|update|replace|edit|make|write|put|add|use|draft"
    r"|translate)\b[^.'\"]{0,60}['\"\u2018\u201c]\S+ \S+ [^\n]+"
    r"['\"\u2019\u201d][.!]?$",
    re.IGNORECASE,
)
_FOR_GOOD = re.compile(
    r"\b(?:always|never|every|each|from now on|must)\b|항상|앞으로|매번|모든|무조건|절대", re.IGNORECASE
)
# `… 100건이라고.` behind the order to write it.
_ORDERS_TEXT = re.compile(rf"{_KOREAN_TEXT}\S* .{{0,12}}(?:써|작성해|보내|적어|만들어|남겨) ?(?:줘|주세요|줄래)")
# A request and a colon: a text, or the work at hand. What is to be remembered is said so.
_REQUESTED = re.compile(r"^[^:]{2,60}(?:줘|주세요|줄래|\bplease)\s*:\s*\S+ \S+", re.IGNORECASE)
_TO_KEEP = re.compile(
    r"기억|알아|명심|참고|지켜|따라|규칙|원칙|앞으로|항상|메모|저장|\b(?:remember|note|rules?|always|never)\b",
    re.IGNORECASE,
)
_DICTATED = re.compile(r"(?:다|라|자|이?라)고요?[.!]*$")

_OTHER_MATTER = re.compile(
    r"^\W*(?:by the way|btw|anyway|fyi|for the record|seriously|in reality|back to|but|however|also"
    r"|from now on|i |하지만|그런데|근데|그래도|그러나|그리고|앞으로|우리는 |우린|나는 |난 |저는 |참고로"
    r"|그건 그렇고|아무튼|어쨌든"
    r"|그리고 참|실제로는)",
    re.IGNORECASE,
)

_CHOICE = re.compile(
    r"\b(?:which|what) (?:one|option|would|do|should|is|of)\b.*\?|\bwhich\?|\b(?:pick|choose) (?:one|between)\b"
    r"|\bbetter\?|\b(?:thoughts|opinions?|preference)\?"
    r"|(?:뭐가|뭘|어느|어떤|둘 중|무엇이|어디|누가)\S* .{0,16}(?:나아|낫|좋|맞|골라|추천|할까|갈까|선택|고르|고를)"
    r"|의견|어때|골라 ?줘|추천해 ?줘",
    re.IGNORECASE,
)
_LABEL = (
    r"(?:\(?\d{1,2}(?:[.)]|번[:은])|\(?[a-dA-D][.):]|(?:[Oo]ption|[Pp]lan) \w+[:,.)]?|[첫둘셋]째 ?안?(?:은|:)?"
    r"|(?:[A-D] ?|[가나다라])안(?:은|:|이)?|[①-⑨]|(?:첫|두|세) ?번째(?:는|:)?)"
)
_OFFERS = re.compile(
    r"\b(?:options?|alternatives?|choices|candidates) (?:are|is)\b|(?<![가-힣])(?:옵션|선택지|방안|후보|안)(?:은|는"
    r"|이|가) ",
    re.IGNORECASE,
)
_LABELS = re.compile(rf"(?:^|\s){_LABEL}\s", re.MULTILINE)


def unmeant(said: Sequence[Candidate], prompt: str) -> set[int]:
    """Positions of the sentences that their speaker does not state as what holds."""
    found = {at for at in range(len(said)) if _is_taken_back(said, at) or is_text_to_write(said[at])}
    framed = False
    for at, one in enumerate(said):
        if framed and _OTHER_MATTER.search(one.text):
            framed = False
        if framed:
            found.add(at)
        elif _opens_frame(one):
            framed = True
            found.add(at)
    if _CHOICE.search(prompt) and len(_LABELS.findall(prompt)) > 1:
        found |= {at for at, one in enumerate(said) if _is_option(one, prompt)}
    return found


def supposes(prompt: str) -> bool:
    """True for a prompt that is about something supposed from its beginning."""
    return bool(_SUPPOSES.search(prompt[:_BEGINNING].split("\n")[0]))


_BEGINNING = 80


def _is_taken_back(said: Sequence[Candidate], at: int) -> bool:
    one = said[at]
    following = said[at + 1].text if at + 1 < len(said) else ""
    return any(TAKES_BACK.search(after) for after in {one.after, following} if after)


def _opens_frame(one: Candidate) -> bool:
    reports = _REPORTS.search(one.text) and not _OWN_WORDS.search(one.text.split(":")[0])
    return bool(_SUPPOSES.search(one.text) or reports or _WRITES.search(one.text))


def is_text_to_write(one: Candidate) -> bool:
    """True if the sentence hands over words to write, not words that it says."""
    quoted = _QUOTED_TEXT.search(one.text)
    if quoted and not _FOR_GOOD.search(one.text[: quoted.start()]):
        return True
    if _REQUESTED.search(one.text) and not _TO_KEEP.search(one.text.split(":")[0]):
        return True
    return bool(_DICTATED.search(one.text) and _ORDERS_TEXT.search(one.before))


def _is_option(one: Candidate, prompt: str) -> bool:
    if re.match(_LABEL + r"\s", one.text) or len(_LABELS.findall(one.text)) > 1 or _OFFERS.search(one.text):
        return True
    return bool(re.search(rf"(?:^|\s){_LABEL}\s+{re.escape(one.text[:30])}", prompt))
