"""Tells a sentence that only names a thing from one that says it holds: asked, supposed, long past, dropped, denied.

Two strengths. What is asked, supposed, believed wrongly or told of another place says nothing at all about what holds.
What is past, dropped or denied says something, but only of what it names: `it used to be 8080` ends the 8080.
"""

from __future__ import annotations

import re

from memlayer.text.question import is_question

# Syllables that end in the past tense, 했 or 였 or 갔; neither 있 nor 겠 is one.
_SYLLABLES = (chr(code) for code in range(0xAC00 + 20, 0xD7A4, 28))
_PAST_END = "[" + "".join(one for one in _SYLLABLES if one not in "있겠") + "]"
_STOP = r"[.!~ㅋㅎ… ]*$"
_LEAD = r"^(?:\W*(?:so|and|but|ok(?:ay)?|well|hey|wait|hold on|hm+|um+|er|oh|now|just|also|then|please|right)\b)*\W*"


def _any(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(alternatives), re.IGNORECASE)


_ASKED = _any(
    _LEAD + r"(?:is|are|was|were|does|did|has|had|can|could|should|would|will)(?:n'?t)? (?:we|i|you|they|he|she"
    r"|it|the|our|my|their|this|that|these|those|there|(?-i:[A-Z])\w+)\b(?!.*[.!]\s*$)",
    _LEAD + r"(?:do|have)(?:n'?t)? (?:we|i|you|they|our)\b(?!.*[.!]\s*$)",
    rf"(?:{_PAST_END}|[있없])(?:나|냐|니|던가|는가|는지)요?{_STOP}|{_PAST_END}(?:지|죠)요?{_STOP}",
    rf"[가-힣\d](?:던가|인가|인지)요?{_STOP}|(?:맞|아니)(?:지|죠|나|던가)요?{_STOP}|[가-힣](?<![니아])까요?{_STOP}",
)
_SUPPOSED = _any(
    _LEAD + r"(?:let'?s |let us )?(?:suppose|supposing|imagine|pretend|picture|assume) (?:that |for (?:a|the|now)\b)?"
    r"(?: ?(?:we|i|you|they|it|the|our|there|this|an?|moment|second)\b)(?!.*\b(?:always|never|every|unless)\b)",
    _LEAD + r"(?:(?:had|were) (?:we|i|you|they|it|the|our)\b[^.?]*,|say (?:we|they|i) (?:had|were|\w+ed|chose)\b)",
    r"\blet'?s (?:say|suppose|imagine|pretend|assume)\b(?! (?:hi|hello|yes|no)\b)|\bhypothetically\b|\bif only\b",
    r"\bi wish (?!you\b)|\bwhat if\b|\b(?:once|unless) we (?:\w+ )?(?:decide|agree|settle|choose)\b",
    r"가정(?:하|해)|셈 ?치|(?:다|라)고 (?:치자|치면|칩시다|쳐|해 ?보자|해 ?봐|해 ?보면|하면|상상)",
    rf"{_PAST_END}(?:다면|더라면|으면 (?:어땠|어떨|했|싶)|을 ?(?:텐데|거야|거다|것이|걸))",
    rf"{_PAST_END}으면 (?!좋)[^.]*(?:듯|겠[지어다네죠]|을 ?(?:거|걸)|텐데)",
    rf"{_PAST_END}(?<![줬셨])으면 좋(?:겠|을)|기로 하(?:면|더라도|게 되면)",
)
# `They promised that they would …` tells of what is to come, not of what might.
_WOULD = _any(
    r"^(?!.*\b(?:said|says|promised?s?|told|agreed|announced|committed|confirmed|mentioned|wrote|decided|knew|swore)\b).*"
    r"(?<!\bi)(?:'d| would) (?!you\b|like\b|rather\b|prefer\b|love\b|appreciate\b|always\b|never\b)\w"
)
# A condition is a supposition, unless a rule hangs on it.
_IF = _any(
    r"\bif (?:\w+ ){1,5}?(?:had|were|was|decided|agreed|chose|used|went|moved|switched|settled)\b"
    r".*\b(?:would|could|might|wouldn't|will|need)\b|\bif (?:\w+ ){1,5}?(?:had|were|decided|agreed|chose)\b.*'d\b",
    _LEAD + r"even if (?:\w+ ){1,5}?(?:\w+ed|had|were|was|went|chose)\b",
    r"만약|만일|이라면 .*(?:텐데|듯|겠|거야)",
)
_RULE = _any(r"\b(?:always|never|must|please|do(?:n'?t| not))\b", r"절대|항상|무조건|반드시|(?:해|줘|마)[.!]*$")
_BELIEVED = _any(
    r"\bi (?:\w+ )?(?:thought|assumed|believed)\b(?! (?:about|it (?:over|through)|of|hard|long))"
    r"(?!.*\b(?:but|turn(?:s|ed) out|actually)\b)|\bi was under the impression\b|\bi could have sworn\b",
    r"줄 알았(?:어|다|지|네|음|는데 (?:아니|아닌)|지만 (?:아니|아닌))",
)
_ELSEWHERE = _any(
    r"\b(?:my|our|his|her|their|an?|the) (?:old|former|previous|ex-?)[- ]?(?:company|employer|firm|workplace)\b",
    r"\b(?:my|his|her) (?:old|former|previous|last) (?:job|startup|team)\b",
    r"\bin (?:the|this|that|an?) (?:tutorial|textbook|story|novel|parallel \w+|alternate \w+)\b|^the tutorial\b",
    r"(?:전|옛|이전|예전|지난) ?(?:회사|직장)(?:에선|에서는|에서|은|는|에는)|소설 (?:설정|속|에서)|튜토리얼(?:에선"
    r"|에서는|은|에는)",
)
# An experience is no state: `it was the lock once`.
_EXPERIENCED = _any(r"[던한은된간] 적(?:이|도)? ?있")
_TOLD = _any(
    r"\b(?:says?|said|claims?|states?|lists?|mentions?|told|according to)\b"
    r"|\b(?:wiki|readme|docs?|runbook|ticket|spec|page|manual|guide)\b.{0,30}\b(?:has|have|puts?|gives?|shows?)\b",
    r"(?:라고|다고|[로고]) (?:돼|되어|적혀|적은|나와|나오|쓰여|써|말|하|표시)",
)
_WRONG = _any(
    r"\b(?:outdated|out[- ]of[- ]date|stale|obsolete|wrong(?! to)|incorrect|mistaken|nonsense|no longer (?:true|valid"
    r"|correct|current|right|accurate)|(?:not|isn'?t) (?:true|right|correct|accurate|so))\b",
    r"틀렸|틀려|틀린|(?:옛날|예전|오래된|낡은|지난) ?(?:거|것|얘기|내용|정보|값|말|버전)|오래됐|낡았|잘못[된 됐]"
    r"|안 맞|맞지 않"
    r"|사실이? 아니",
)
_GIVES = re.compile(r"\d|[:：]|\b(?:we|it'?s|it is|now|actually)\b|우리|맞[아는]", re.IGNORECASE)

# What a request is about is no news: `write up why we decided to …`.
_ASKS_FOR = _any(
    _LEAD + r"(?:can you |could you )?(?:write|show|explain|summari[sz]e|document|tell|remind|list|describe|draft"
    r"|find"
    r"|look|check|note|recap)\b[^.]{0,30}\b(?:why|when|where|how|whether|(?:the )?(?:reasons?|background)) (?:\w+ )?"
    r"(?:we|i|they|you|the|our|for)\b",
    r"(?:기로 ?(?:한|했던|정한|결정한)|로 (?:정한|결정한|바꾼|옮긴)|(?:결정|확정|합의)(?:한"
    r"|된)) (?:\S+ ){0,2}?(?:이유|배경|근거"
    r"|과정|경위|사유|히스토리|내용|회의록|기록)\S* ?(?:\S+ ){0,2}?\S*(?:줘|주세요|줄래|부탁\S*|봐|정리|설명|요약"
    r"|찾아)[요.!~]*$",
)

# The past, told as such, with no word of what is so since.
_SINCE = _any(
    r"\b(?:now|nowadays|since then|these days|today|currently|from now on|turn(?:s|ed) out"
    r"|no longer (?!true|valid|correct|current|right|accurate)"
    r"|(?:moved|changed|switched|migrated|raised|lowered|bumped|went|upgraded) (?:\w+ ){0,2}?to)\b",
    r"이제|지금은|현재|요즘|바뀌|바뀐|바꾸|바꿨|변경|옮겼|교체|늘렸|줄였|올렸|낮췄|전환|갈아탔|알고 보니|사실은"
    r"|실제로는",
)
_WAS = _any(
    r"(?<!is )(?<!are )(?<!be )(?<!been )(?<!was )(?<!were )(?<!get )(?<!'s )(?<!'re )\bused to (?!it\b|the\b"
    r"|this\b)\w",
    r"\bhad (?:always |once |long )?been\b",
    rf"{_PAST_END}었|{_PAST_END}던 \S+ .{{0,30}}까지(?:야|였어|이야|임)",
)
_LONG_AGO = _any(
    r"\b(?:formerly|previously|originally|initially|back (?:then|in|when)|in the (?:past|old days|beginning)|at first"
    r"|at one (?:time|point)|(?:years?|months?|weeks?|quarters?|releases?|versions?|sprints?) (?:ago|back|earlier)"
    r"|last (?:year|quarter|spring|summer|autumn|fall|winter|decade)"
    r"|until (?:last|recently|the)|in 20[012]\d)\b|^before (?!\w+ing\b)[^,.]{2,40}",
)
_WAS_SO = _any(r"\b(?:was|were|had|did|\w{2,}ed|ran|went|kept|held|wrote|sent|took|ate|led|chose)\b")
_HAPPENED = _any(
    r"\b(?:decided|agreed|chose|settled|picked|moved|changed|switched|migrated|raised|lowered|dropped|added"
    r"|introduced"
    r"|replaced|renamed|created|promised|signed|approved|caused|is|are|must|should|will)\b"
)
_KOREAN_LONG_AGO = _any(
    r"예전|옛날|한때|과거에|당시|그 ?때(?:는|엔)|원래|처음(?:에는|엔)|전(?:에는|엔|까지)|초기에|(?:작년|재작년"
    r"|지난 ?(?:달|주|해|분기|번)|\d+ ?년 전|저번 ?(?:달|주))(?:에는|엔|까지|만 해도|은|는)"
)
_KOREAN_WAS = re.compile(
    rf"{_PAST_END}(?:어|다|음|지|네|죠|습니다|거든|던|는데|으나|지만)(?:{_STOP}|.{{0,24}}(?:거|얘기|때)[야다])"
)
_DROPPED = _any(
    r"\b(?:ideas?|suggestions?|proposals?|plans?|talk|motion|notion|request|pitch) (?:of|to|that|for"
    r"|about)\b[^.]{0,80}"
    r"\b(?:turned down|rejected|dropped|dead|abandoned|off|withdrawn|declined|vetoed|shelved|cancell?ed|scrapped"
    r"|voted down|died|went nowhere|overruled)\b",
    r"\b(?:was|were|got|been) (?:\w+ )?(?:turned down|rejected|vetoed|declined|overruled|voted down|shelved)\b",
    r"\b(?:but|and|then|though)\b[^.]{0,40}\b(?:cancell?ed|called off|changed (?:our|my|their) minds?|is dead"
    r"|fell through|scrapped|abandoned|not any ?more|backed out|was wrong)\b[^\d]*$",
    r"(?:자|려)\S{0,5} ?(?:얘기|이야기|말|제안|의견|안|안건|계획|아이디어|건|주장|논의)\S{0,3} ?.{0,24}(?:없던|기각"
    r"|반려"
    r"|접었|접기로|접자|취소|철회|무산|폐기|보류|부결|거절|막았|막혔|퇴짜|빠졌|엎어|안 하기로|잊)",
    r"기로 ?(?:했|정했|한)\S* ?.{0,12}(?:취소|엎어|무산|접었|철회|번복|물렀|없던)|(?:지금|이제|이젠)은? ?아니야",
)
_NEVER_DECIDED = _any(
    r"\b(?:haven'?t|hasn'?t|hadn'?t|have not|has not|never|didn'?t|did not|nobody|no one|almost|nearly|not yet"
    r"|hardly)"
    r" (?:\w+ ){0,2}?(?:decide|agree|settle|choose|chose|chosen|pick|say|said|plan|commit|sign)\w*\b",
    r"\b(?:it'?s|it is|it was) not (?:true|the case|correct|right) that\b|\bwouldn'?t say\b|\bdoes(?:n'?t"
    r"| not) mean\b",
    r"[한던은된간] 적(?:이|은|도)? ?없|[는한던] (?:건|게|것은|것이|거는|것도|거) ?(?:아니(?!라)|아닙|아냐)"
    r"|(?:라|다|자)는 (?:뜻|말|얘기|의미|소리)(?:은|는|이|가)? ?(?:아니(?!라)|아닙|아냐)|뻔했",
)


def says_nothing(text: str) -> str:
    """Why the sentence says of nothing that it holds, or "": it asks, supposes, tells of a belief or another place."""
    for reason, pattern in (
        ("supposed", _SUPPOSED),
        ("supposed", _WOULD),
        ("believed", _BELIEVED),
        ("elsewhere", _ELSEWHERE),
        ("an experience", _EXPERIENCED),
        ("asked for", _ASKS_FOR),
    ):
        if pattern.search(text):
            return reason
    if asks(text):
        return "asked"
    if _IF.search(text) and not _RULE.search(text):
        return "supposed"
    wrong = _WRONG.search(text)
    if wrong and _TOLD.search(text[: wrong.start()]) and not _GIVES.search(text[wrong.end() :]):
        return "told wrongly"
    return ""


def asks(text: str) -> bool:
    """True for a question, with its mark or without."""
    text = _NOT_MAY.sub("", text.strip())
    return is_question(text) or bool(_ASKED.search(text))


_NOT_MAY = re.compile(r"^May(?= \d)")


def says_only_of_what_it_names(text: str) -> str:
    """Why the sentence bears on nothing but what it names, or "": it tells of the past, or drops or denies a thing."""
    if _DROPPED.search(text):
        return "dropped"
    if _NEVER_DECIDED.search(text):
        return "never decided"
    if _SINCE.search(text):
        return ""
    if _WAS.search(text):
        return "past"
    if _LONG_AGO.search(text) and _WAS_SO.search(text) and not _HAPPENED.search(text):
        return "past"
    if _KOREAN_LONG_AGO.search(text) and _KOREAN_WAS.search(text):
        return "past"
    return ""
