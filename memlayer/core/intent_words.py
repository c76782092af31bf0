"""The words and endings of orders, chat, general questions and standing orders, Korean and English."""

from __future__ import annotations

import re

from memlayer.core.stopwords import words

# How things are to be done, from now on.
STANDING_ORDER = re.compile(
    r"\b(?:always|never|from now on|going forward|every time|each time|whenever|by default|do(?:n'?t| not)|must(?:n'?t| not)?"
    r"|instead of|rather than|only (?:with|via|through|when|after|from)|as a rule|our (?:convention|rule|policy|standard)"
    r"|before (?:every|each|any|you)|after (?:every|each)|make sure)\b"
    r"|앞으로|항상|언제나|절대|반드시|무조건|꼭 |매번|할 때마다|때마다|말고|하지 ?말|지 ?마(?:세요|라|요|$|[ .])|쓰지 않|금지|원칙|규칙|컨벤션"
    r"|기본(?:으로|값)|부터는|할 때는|때는",
    re.IGNORECASE,
)  # fmt: skip

_VERBS = (
    "add|adjust|amend|apply|bring|build|bump|change|check|clean|cleanup|close|combine|comment|commit|compile|continue"
    "|convert|copy|create|cut|debug|delete|deploy|do|document|download|draft|drop|edit|enable|disable|execute|export"
    "|extract|finish|fix|format|generate|go|implement|improve|inline|insert|install|launch|lint|log|make|merge|migrate"
    "|move|open|optimi[sz]e|polish|publish|pull|push|put|rebase|rebuild|refactor|regenerate|release|remove|rename|reorder"
    "|replace|rerun|re-run|reset|restart|restore|retry|revert|review|rewrite|run|scaffold|send|set|ship|simplify|sort"
    "|split|squash|stage|start|stash|stop|swap|sync|tag|test|tidy|translate|try|turn|type|undo|uninstall|update|upgrade"
    "|upload|use|wire|wrap|write"
)
_POLITE = (
    r"(?:(?:please|pls|plz|kindly|now|ok|okay|then|and|also|great|good|nice|cool|alright|so|just|next|first|yes|yeah"
    r"|can you|could you|would you|will you|you can|let'?s|i want you to|i need you to|go ahead and|go and)[\s,.!:-]+)*"
)
ENGLISH_ORDER = re.compile(rf"{_POLITE}(?:{_VERBS})\b(?!\s*[:=(]|-)", re.IGNORECASE)
# "build failed", "merge conflict in app.lock", "release date": a first word that is a verb elsewhere. What stands behind
# the verb of an order is what it is about, with an article as a rule; seldom another verb.
_BARE = (
    r"(?:(?!(?:the|a|an|my|our|your|his|its|this|that|these|those|it|them|all|every|new|latest|next|current|old|and|then|so"
    r"|until|if|when|to|with|in|on|for|from)\b)\S+ )"
)
_WRONG = (
    r"(?:fails|breaks|broke|crash(?:es|ed)|hangs|hung|times out|timed out|is|was|were|are|has|had|does|doesn'?t|did|didn'?t"
    r"|won'?t|can'?t|cannot|keeps|takes|took|returns|returned|throws|threw|exited|exceeded|errors?|conflicts?|timeouts?)\b"
    r"|(?:failed|failing|broken|stuck|stopped|rejected|refused|denied|slow|flaky|missing|failure|rejection|regression)\b"
    r"(?=\s*(?:$|[^\s\w]|(?:with|on|in|at|for|by|from|again|because|since|due|after|when|and|but|twice|today|yesterday)\b))"
    r"|(?-i:E[A-Z]{4,})\b"
)
_OF_IT = (
    r"(?:dates?|names?|hooks?|databases?|db|jobs?|pipelines?|times?|flags?|rotation|levels?|formats?|folders?|keys?|tokens?"
    r"|queues?|steps?|stages?|targets?|orders?|windows?|numbers?|versions?|limits?|sizes?|caches?|suites?|runners?|accounts?"
    r"|urls?|hosts?|ports?|messages?|styles?|conventions?|schedules?|environments?|passwords?|strateg(?:y|ies))"
    r"(?=\s*(?:$|[?.!])|\s+(?:in|on|for|of|at|by|after|before)\b)"
)
_ALSO_NOUNS = (
    "build|commit|copy|debug|deploy|download|draft|export|format|import|install|launch|lint|log|merge|pull|push|rebase"
    "|release|restore|review|stage|start|sync|tag|test|type|upload"
)
NO_ORDER = re.compile(
    rf"(?:(?:{_ALSO_NOUNS}|change|check|restart|run|update|upgrade) {_BARE}{{0,3}}?(?:{_WRONG})"
    rf"|(?:{_ALSO_NOUNS}) {_BARE}{{0,2}}?{_OF_IT})",
    re.IGNORECASE,
)
# What was said or done before is asked for by an order as well.
AS_BEFORE = re.compile(
    r"\blast (?:time|week|month|sprint)\b|\byesterday\b|\b(?:like|the (?:same )?way|as|what|that|which|one) (?:we|you|i) "
    r"(?:\w+ )?(?:did|used|agreed|decided|discussed|chose|picked|settled|had|said|fixed|solved|set)\b"
    r"|\bwe (?:agreed|decided|settled|discussed|chose|picked)\b|\bas (?:agreed|decided|discussed)\b|\b(?:agreed|decided|chosen) \w+"
    r"|지난 ?번|저번|지난 ?(?:주|달)|예전에|(?:전에|아까|그때|어제) ?(?:했|정한|정했|말한|말했|얘기|쓰던|썼|고친|고쳤|바꾼|바꿨)"
    r"|정한 |정했던|정해 ?둔|하기로 (?:한|했던)|합의한|약속한|쓰던 |고쳤던|했던 ?(?:대로|것|방식|거)",
    re.IGNORECASE,
)  # fmt: skip
INFORM = re.compile(
    r"\b(?:tell|explain|show|remind|describe|list|recall|summari[sz]e|find|search|look up|why|what|which)\b",
    re.IGNORECASE,
)
_TAIL = "(?:[요ㅋㅎㅠㅜ]|(?![?？])\\W)*$"  # laughter, tears, signs and emoji
KOREAN_ORDER = re.compile(
    "(?:해|돌려|고쳐|올려|내려|바꿔|지워|만들어|넣어|빼|옮겨|써|적어|열어|닫아|띄워|붙여|떼어?|나눠|합쳐|맞춰|줄여|늘려|켜|꺼"
    "|싸|짜|뽑아|다듬어|손봐|밀어|당겨|되돌려|풀어|묶어|채워|비워|남겨|보내|받아|골라|걸어|달아|잡아|눌러)"
    " ?(?:줘|줘요|주세요|주라|줄래|주실래요|주시겠어요|주겠어|놔|둬|두자|보자|봐|봐줘|드려)" + _TAIL
    + "|(?:해라|하자|합시다|하세요|부탁해|부탁드려요|부탁드립니다|부탁|진행해|시작해|실행해|커밋해|배포해|푸시해|정리해|수정해"
    "|추가해|삭제해|적용해|반영해|돌리자|고치자|올리자|바꾸자|지우자|만들자|넣자)" + _TAIL
)  # fmt: skip
KOREAN_INFORM = re.compile(
    "(?:알려|말해|설명해|보여|찾아|가르쳐|기억해|떠올려|요약해|정리해서 알려) ?(?:줘|주|봐|달라)"
)

# Chat: every word of the prompt is one of these, after endings, laughter and doubled syllables are taken off.
CHAT_WORDS = frozenset(
    words(
        """
    ok okay okey k kk yes yea yeah yep yup ya sure no nah nope thanks thank thankyou thx ty cheers great good nice
    cool awesome perfect excellent fine wonderful brilliant amazing fantastic super neat sweet right correct exactly
    done go on ahead continue proceed keep going next please pls lgtm sgtm looks look ship hi hello hey bye goodbye
    morning evening afternoon night lol haha hehe hmm hm oh ah wow sounds sound makes make sense got gotcha it i see
    understood agreed alright all again do that this the a an to me you your for and so very much well just let lets
    us never mind nvm is am are was were im its thats job work worked works love like liked way of course np problem
    worries welcome more then now we youre phew whew yay woohoo yikes oops hooray gosh sec second secs moment minute
    minutes min mins bit while later soon back brb afk break lunch dinner coffee tea tomorrow tonight today think
    about over wait waiting hold up ready fun funny cute pretty beautiful lovely gorgeous impressive clever smart
    genius magic insane crazy rock rocks star legend hero best better glad happy relieved tired sleepy bed sleep off
    out here there gonna will ill be what how really actually too also one thing day weekend with by at in my mood
    nicely congrats congratulations bravo kudos hats welldone
    """
    )
)
KOREAN_CHAT = re.compile(
    "(?:[ㄱ-ㅎㅏ-ㅣ]+|응|으응|웅|네|넵|넹|넴|예|옙|어|아|오|음|흠|와|우와|헐|헉|휴|후|에구|그래요?|그렇지|그쵸|그죠|그러게요?"
    "|그렇군요?|그렇네요?|그렇구나|아하|하하|호호|히히|헤헤"
    "|좋[아네다은습음군]\\S{0,4}|오케이|오키|오케|굿|굳|나이스|최고|대박|완벽\\S{0,4}|멋[져지있]\\S{0,4}|훌륭\\S{0,4}|고마\\S{0,4}"
    "|고맙\\S{0,4}|감사\\S{0,5}|땡큐|계속\\S{0,5}|이어서|진행\\S{0,5}|시작\\S{0,4}|해|해줘|해주세요|하자|합시다|하시죠|하죠|할게요?"
    "|그렇게|그대로|이대로|그럼|그러자|그러죠|다음|다음으로|가자|가보자|가시죠|갑시다|고고|안녕\\S{0,4}|하이|잘자\\S{0,2}|수고\\S{0,6}"
    "|고생\\S{0,6}|잘했\\S{0,4}|잘한다|맞[아네습]\\S{0,4}|알겠\\S{0,4}|알았\\S{0,4}|확인\\S{0,4}|아니\\S{0,2}|아냐|됐\\S{0,3}|되네\\S{0,2}"
    "|된다|괜찮\\S{0,4}|부탁\\S{0,5}|좀|자|이제|잘|정말|진짜|너무|아주|완전|다시|더|또|그냥|역시|일단|우선|잠깐만?|잠시만?|잠시|기다려\\S{0,3}"
    "|밥먹\\S{0,3}|밥|점심|저녁|커피|물|화장실|산책|퇴근\\S{0,4}|출근\\S{0,4}|먹[고으]\\S{0,3}|마시고|다녀\\S{0,4}|갔다|올게\\S{0,2}|올께\\S{0,2}|갈게\\S{0,2}"
    "|쉬[자었고]\\S{0,3}|쉴게\\S{0,2}|이따\\S{0,3}|나중에|내일|오늘|내일봐\\S{0,2}|봐요|보자|봬요|뵐게요|생각\\S{0,5}|고민\\S{0,5}|해볼게\\S{0,2}"
    "|귀엽\\S{0,3}|귀여\\S{0,3}|예쁘\\S{0,3}|이쁘\\S{0,3}|재밌\\S{0,3}|웃기\\S{0,3}|웃겨\\S{0,2}|신기\\S{0,3}|신난다|빠르네\\S{0,2}|시원\\S{0,4}|다행\\S{0,4}"
    "|기쁘\\S{0,3}|행복\\S{0,3}|피곤\\S{0,4}|졸리\\S{0,3}|졸려\\S{0,2}|화이팅|파이팅|축하\\S{0,5}|미안\\S{0,4}|죄송\\S{0,5}|덕분\\S{0,4}|천천히\\S{0,2}|편하게"
    "|하루|주말|굿나잇|굿모닝)"
)  # fmt: skip

# What anybody could be asked, and what speaks against it: a "we", a past, a name that only this project has.
GENERAL = re.compile(
    r"\b(?:explain|define|eli5)\b|\bdifferences? between\b|\bwhat(?:'s| is| are) (?:a|an) \w|\bwhat does \w+ (?:mean|stand for)\b"
    r"|\bhow (?:do|can|would|does|should) (?:i|you|one|someone|people)\b|\bhow many [\w ]+ (?:are|is) (?:in|there)\b"
    r"|\bwho (?:wrote|invented|made|created|is|was|painted|discovered)\b|\bcapital of\b|\bin general\b|\bbest practices?\b"
    r"|\b(?:pros and cons|advantages|tutorial|cheat ?sheet|meaning of)\b|\bwrite (?:me )?a (?:poem|haiku|joke|story)\b"
    r"|차이(?:가|점|는|를|좀)? ?(?:뭐|무엇|알려|설명)|(?:뜻|의미|개념|원리|장단점|장점|단점)(?:이|가|은|는|을|를)? ?(?:뭐|무엇|알려|설명)"
    r"|(?:이|가|란|이란|라는 게|라는게|은|는) (?:뭐야|뭔가요|무엇인가요|뭐예요|뭔데)|설명해 ?(?:줘|주|봐)|초보자|예제 (?:코드 )?(?:보여|알려)"
    r"|수도(?:가|는) 어디|날씨|\d\s*[-+*/×÷^]\s*\d|\bsqrt\(",
    re.IGNORECASE,
)  # fmt: skip
OURS = re.compile(
    r"\b(?:we|our|us|ours|did|was|were|decided?|chose|chosen|picked|agreed|settled|again|earlier|last time|previous(?:ly)?|remember"
    r"|this (?:project|repo|repository|codebase|app|file|function)|the (?:repo|project|codebase))\b"
    r"|우리|저희|했(?:지|더|었|어|나|던)|였(?:지|더|었|나|던)|었(?:지|더|나|던)|았(?:지|더|나|던)|더라|던 ?거|기로|저번|지난|전에|아까|기억"
    r"|[a-z0-9]+[_./:-][a-z0-9]",
    re.IGNORECASE,
)  # fmt: skip

# What asks to be reminded says so; the prompt's vector alone takes the short ones for talk.
REMIND = re.compile(
    r"\bremind me (?:of|about|what|where|why|how|who|when|which)\b|\bwhat(?:'s|\u2019s| is| was) (?:still )?left\b"
    r"|뭐였(?:지|죠|더라|나)|뭐 ?(?:가 )?남았|남은 (?:거|게|건|일)(?:이|은)? ?뭐",
    re.IGNORECASE,
)  # fmt: skip
