"""Signs in what the assistant says: a cause found, a fix made, a fact looked up. English and Korean."""

from __future__ import annotations

from memlayer.core.extraction_signals import one_of

# A prompt that reports trouble; only under one is an explanation a cause and a change a fix.
TROUBLE = one_of(
    r"\b(?:why|fail(?:s|ed|ing|ure)?|broken?|breaks?|broke|errors?|bugs?|crash(?:es|ed|ing)?|die[sd]?|dying"
    r"|slow(?:er|ly)?|wrong"
    r"|flaky|regression|leak(?:s|ing)?|hangs?|stuck|chok(?:es|ing)|drops?|dropped|denied|refused|grows?|traceback"
    r"|exception"
    r"|doesn'?t work|didn'?t work|not working|never comes|expired|mystery|logged out|too long|off by|odd|weird|choking"
    r"|what'?s (?:up|going on) with|diverg\w+|but not on|don'?t (?:load|work|open|show|start)|nan|[45]\d\ds?"
    r"|was it|keeps? \w+ing|minutes to|what now|conflicts?|it says|outage|incident|timeouts?|missing)\b|\bagain\b",
    "왜|에러|오류|안 ?돼|안 ?되|안 ?나|실패|문제|느려|느린|느는|늘어|깨지|깨져|죽|버그|원인|이유|고쳐|not found"
    "|풀리|사라|이상하|하얗|두 번씩"
    "|해결됐|안 ?떠|멈추|멈춰|끊기|끊겨|튕|버벅|뛰었|먹는|먹어|취소가 안|안 되는|[는은]데[.… ]*$|누락|중복"
    "|계속 (?:나|뜨|떠|돼|되|실패)|\\b[45]\\d\\d ?(?:이|가)? ?(?:나|떠|뜨|에러)|터져|터졌|울린|이상해|못 ?찾"
    "|안 ?보",
)
CAUSE_STATED = one_of(
    r"\broot cause\b|\b(?:the|its|real|actual|likely) (?:cause|culprit|reason)\b|\b(?:the|this) (?:problem|issue"
    r"|bug) (?:is|was)\b"
    r"|\b(?:is|was|that'?s|explains|exactly) why\b|\bcaused by\b|\bcomes (?:from|down to)\b(?!.*\bno effect\b)"
    r"|\bcan be traced\b"
    r"|\bbecause\b|\bdue to\b|\bwhich is what\b|\bpoints at\b|\bwas to blame\b",
    "원인(?:은|이|이었|입니다|:| :)|때문[이에입]|탓[이에]|문제였|문제입니다|이유는|[서해라] ?그렇|그렇습니다\\.?$"
    "|무시된|[고어아여] 있어서 |지 않아서|[해아어]서 (?:죽|실패|발생|나|생)|서였습니다",
)
# How a thing behaves, told with the joints that make it an explanation.
MECHANISM = one_of(
    r", so\b|\bso (?:that )?(?:each|every|all|it|the|any|with)\b|\bwhich (?:means|aborts|makes|causes|breaks"
    r"|is why|rejects|blocks|isn'?t|\w+s)\b"
    r"|\bwhile\b|\bnever\b|\bwithout\b|\bevery time\b|\beven (?:when|if)\b|\binstead of\b|\bbut\b|\bwhose\b"
    r"|\bbelonged to\b|\bn'?t\b|n't\b|\bnot\b|\bno\b"
    r"|\bstarts from\b|\bpins?\b|\brevoked\b|\blimits\b|\bdeclares?d?\b|\bon every\b|\bin the `?\w+`? ?column\b"
    r"|\bis in `|\btook both\b"
    r"|\bonly\b|\bthat changed\b|\bout of\b|\btwice\b|, which\b|\bwhen\b|\balso\b|\bmissing\b|\btreats?\b"
    r"|\bignores?\b|\bdefault\b|\bbefore\b|\bafter\b|\binferred\b|\bthe wrong\b|\bstill\b|\balready\b"
    r"|\band (?:the|it|so|then)\b|, and \w+",
    "(?:고|어|아|여) 있(?:었|어|습니다|는데|으며)|지 (?:않|못)|는데|[다라]가|면서|만\\b|마다|빠뜨|빠져|빠졌|꺼져"
    "|[아어해여]서 |[아어해여] (?:초기화|시점|바로)"
    "|먼저 |들어 있|만 들어|달라|맞지 않|없[어이]|때마다|중복|잘못|그대로|이미 |않은 |못합니다",
)
# What was done about it: the assistant's own deed, or a change and its effect.
FIX = one_of(
    r"^(?:so |then |now |as a \w+,? |for now,? )?(?:i|we|i'?ve|i have)(?: (?:also|now|just|have|since"
    r"|then))* (?!(?:looked|look|went|checked|ran|run|measured"
    r"|reproduced|found|opened|read|see|saw|tested|verified|confirmed|could|can|do|did|don|will|would|am|was|left"
    r"|kept|think|thought|suspect"
    r"|noticed|compared|took|listed|counted|searched|haven|have not|need|want|know|tried|traced|profiled|bisected"
    r"|went|had|understand)\b)"
    r"[a-z]+\b",
    r"^(?:passing|lowering|raising|rewriting|clearing|installing|upgrading|removing|adding|setting|switching"
    r"|moving|using|pinning"
    r"|disabling|enabling|replacing|changing|increasing|reducing|closing|caching|rebuilding|downgrading|wrapping"
    r"|converting|\w+ing)\b"
    r".{0,160}\b(?:fix(?:es|ed)|bring|brings|brought|takes?|took|removes?|restores?|restored|solves?|solved|makes"
    r"|made|works|gone"
    r"|drops?|dropped|cut|cuts|stops?|stopped|helps|helped|resolves?|resolved|silences?|avoids?|prevents?|keeps?"
    r"|lets?|gets? rid)\b",
    r"^the fix\b|\bfixes it\b|\b(?:was|is|got) (?:fixed|solved|resolved)\b"
    r"|^(?!(?:agreed|noted|understood|tested|checked|verified|confirmed|opened|pushed|committed|added|reproduced"
    r"|looked|measured|rejected)\b)[a-z]+ed\b",
    "(?:수정|변경|교체|분리|제거|삭제|적용|설정|지정|고정|제외|전환|초기화|복구|복원|재설치|활성화|업그레이드"
    "|추가|해결|생성|갱신|이동|처리|등록|차단)"
    "(?:했|하였|하니|하자|하고|해 |해서|한 뒤|하도록|되도록)|(?:하|되|쓰|보내|주|받|타|거치|지|기다리|읽)도록 "
    "|고쳤|고친 뒤|바꿨|바꾸[니고어]|좁[혔히]"
    "|풀[고었]|맞[추췄]|늘[렸려리]|줄[였여이]|올[렸려리]|내[렸려리]|옮[겼겨기]|지웠|되살[렸려리]|켰|껐|감[쌌싸]"
    "|넣었|뺐|막았|돌아왔|나눴|합쳤|[하리우추]니 ",
)
# Seen, not done.
OBSERVES = one_of(
    r"고 있(?:었)?습니다\.?$|어 있(?:었)?습니다\.?$|지 (?:못|않)(?:했|았)?습니다\.?$|보니 .{0,80}(?:었"
    r"|였)습니다\.?$"
)
# Done, but not about the trouble: reports of files, tests and plans.
NOT_A_FIX = one_of(
    r"\b(?:tests? (?:for|that)|added (?:a |an |some )?(?:test|comment|section|note|skeleton|regression|logging"
    r"|reminder|check that"
    r"|short section|\d+ tests?)|mentioned|updated the (?:docs|readme|links)|left|didn'?t touch|some logging)\b"
    r"|^(?:i|i'?ve|i have)(?: \w+)? (?:made|did|applied|pushed|committed) (?:that|this|both|it|the (?:change|edit"
    r"|fix))\b|\bi added the plugin version\b",
    "테스트(?:를|도|만|가)? ?(?:하나|두|세|\\d|추가)|문서(?:에|를) |주석|돌려 ?보|확인해 ?주|보세요|커밋했|알려주"
    "|확인했습니다|찾았습니다|분석했|살펴|비교했|실행했|집계해"
    "|해 봤습니다|시작했습니다",
)
# It only may be so, or somebody else has to do it.
UNSURE = one_of(
    r"\b(?:might|maybe|perhaps|could|may be|probably the|possibly|likely|would|should|if you|do you|shall i"
    r"|want me|let me|i'?ll"
    r"|i'?d|i can|i will|you can|you could|you'?d|need to|look(?:s|ing)? (?:into|safe|good)|suggest|recommend"
    r"|i'?m not|seems?)\b"
    r"(?! half a minute)",
    "수 있습니다|수 있어요|것 같|가능성|추천|제안|권[합하장]|좋습니다|좋을|낫|어떨까|할까요|드릴까요|하겠습니다"
    "|겠습니다|하시겠|주세요|주시"
    "|하면 됩니다|면 됩니다|쓰면 됩|쓰세요|보세요|예정입니다|확실하지",
)
DONE_WITHOUT_DOUBT = one_of(r"\bshould now\b|\bwhich is probably\b")

# ------------------------------------------------------------------------------------------------ facts looked up

# A prompt that asks for something to look up in this project, not for an opinion or a lesson.
LOOKUP = one_of(
    r"\b(?:who|where|which|when|what) (?:do|does|did|is|are|was|were|\w+ (?:do|does|is|are|version|port|time"
    r"|model|name))\b"
    r"|\bwhat (?:port|version|time ?zone|user|host|path|url|branch|region|limit|model|schema|database|db)\b"
    r"|\bwhich \w+\b|\bwho\b"
    r"|\b(?:remember|remind me)\b|\bwalk me through\b|\bare you sure\b|\bwhere\b|\bhow (?:does|do|is|are) (?:our"
    r"|the|a|we)\b"
    r"|\bcan our\b|\bdoes the\b|\bdo the\b|\bwhat(?:'s| is| are) the deal\b|\bdid we\b|\bdo we\b",
    "뭐 쓰|뭘 쓰|어디|누가|누구|몇|뭐였|뭐야\\?|얼마|어떻게 돼|어떻게 되|알려줘|기준|흐름|확인 좀|맞지|맞나"
    "|설명해줘|담당자?가|언제|어느",
)
NOT_A_LOOKUP = one_of(
    r"\b(?:difference|better|best|good idea|bad idea|opinion|think|should|general(?:ly)?|regex|snippets?"
    r"|explain (?:what )?this"
    r"|would|could|worried|next|left|prs go|changed between|wrote|commits?|free|finish(?:ed)?|estimate|happen(?:s"
    r"|ed)?|one-liner"
    r"|agree|this (?!service|project|repo|table|app|team)\w+|this (?:week|month|sprint|quarter)|today|uptime"
    r"|in js|biggest|the code|startup|look right|first|decide)\b",
    "틀렸|맞는지|추천|이거 |이게 |이건 |이 함수|이 코드|이 숫자|이 레포|일반적|나을|나아|좋을까|어떨|차이"
    "|방법|하는 법|요약|퍼센트|몇 대|지금 뭐"
    "|서버 시간|요금|얼마나 나|정한|만일|만약|데코레이터",
)
SOURCE = one_of(
    r"`[^`]+` (?:\w+ly )?[a-z]+s\b|`[^`]+`(?: [가-힣]+)?[은는이가] |\baccording to\b|\bper `|^in `|\b(?:is|are|happens?"
    r"|go|goes|ends?|sits?)(?: \w+ed| set| read| kept| up)? (?:in|by|to|from|through|at|via)\b|\bare (?:set"
    r"|defined|configured) in\b"
    r"|\b(?:sets?|says|pins?|hard-?codes?|points? (?:at|to|there)|defines?|configures?|loads?|reads?|runs"
    r"|writes? to|receives?)\b"
    r"|\bcomes from\b|\blives? in\b",
    "을 보면|를 보면|에 따르면|기준으로|설정되어|설정돼|지정되어|적힌|적혀|정의되어|읽어 ?[옵오]|에서 읽"
    "|에서 볼 수|에 있습니다|에 있고|되어 있습니다"
    "|만들어져|저장[되돼]|복사[되돼]|기록[되돼]|전송[되돼]|쌓[이여입]|보관[되돼]",
)
SCHEDULE_OR_LIMIT = one_of(
    r"\b(?:every (?:day|night|hour|minute|week|month|\d+)|hourly|daily|weekly|nightly|once an? (?:day|hour|week"
    r"|month)|above \d"
    r"|at most|limit|maximum|up to \d|retention|kept for|requires?|need (?:a|an) second|owned by|owner|contact"
    r"|UTC|makes about"
    r"|uses? an?)\b|\b[A-Z_]{4,} = \S",
    "매일|매월|매주|매시|지급일|보관 기간|담당합니다|담당이|담당은|담당자|배정|맡[고아]|오너|제한은|한도|상한"
    "|형식입니다|다시 시작|차원|수동으로|보드로|최대|최소",
)
# True of every project in the world, or of this minute only.
PASSING = one_of(
    r"\b(?:right now|(?:is|are) currently|currently (?:\w+ing|at|on)|so far|at the moment(?! no)|passed|failed"
    r"|fail|measured|p99|p50|there are \d|prints nothing"
    r"|updated|rebased|fixed|added|created|wrote|removed|replaced|renamed|in general|usually|generally|most|many"
    r"|you|your"
    r"|git blame|git status|commit `|closes?|violation|is live|I don't see|exits|matches|returns|loads? the"
    r"|on-demand|merged"
    r"|let me|i can|i went|i checked|\d+ (?:files|tests|errors))\b",
    "지금|현재|통과|떠 있|실행해 보|수정했|추가했|작성했|만들었|변경했|바꿨|정리했|교체했|일반적|보통|가장 낮"
    "|찾지 못|없습니다|기록에는|알려주시|주세요|마쳤|까요"
    "|확인했|다릅니다|기본값은|무료|간단합니다|면 됩니다",
)

# The answer takes the prompt for news: what was said was a statement, not a complaint.
ACKNOWLEDGES = one_of(
    r"^(?:ok(?:ay)?|understood|got it|noted|good to know|will do|thanks|thank you|makes sense|good point"
    r"|all right|alright|right|agreed|sounds good"
    r"|good(?:,|:)|great(?:,|:)|i see|then)\b",
    "^(?:네|알겠|확인했|이해했|참고하|공유 감사|좋습니다|말씀|앞으로)",
)
# Taken up, with nothing done: an order that is answered so was not for now.
TAKES_UP = one_of(
    r"^(?:ok(?:ay)?|understood|got it|noted|will do|sure|of course|agreed|makes sense|all right|alright|right)\b"
    r"(?!.*\b(?:done|\w+ed|now|works?|wrote|made|ran|here)\b)[^?:`\n]{0,60}$",
    "^(?:네|넵|알겠습니다)[,.!]?(?: (?!지금|바로)[^.!?:`\n]{0,40}(?:겠습니다|게요))?[.!]?$",
)
