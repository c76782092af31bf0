"""Signs of what an English sentence of the user states: a decision, a rule, a fact, a cause, a promise."""

from __future__ import annotations

from memlayer.core.extraction_signals import CAUSE, COMMITMENT, DECISION, FACT, PREFERENCE, signal

_WE = (
    r"\b(?:we|i|they|he|she|the (?:team|client|customer|board|group)|product|design|marketing|sales|engineering"
    r"|everyone|everybody|legal|management|finance|ops|qa|security)"
)
_ALL = r"(?:'ve| have| has| had| all| both| just| finally| already| then| now)*"
_VERBS = (
    r"(?:use|run|deploy|ship|merge|push|squash|store|keep|write|name|call|test|review|release|tag|log|cache"
    r"|commit|open|pin|put"
    r"|follow|format|add|update|ask|show|reply|answer|touch|mock|rebase|import|return|include|prefix|document"
    r"|read|send|do|show)"
)

USER_SIGNALS = (
    signal(
        "settled",
        DECISION,
        1.6,
        rf"{_WE}{_ALL} (?:settled|agreed|decided|chose|picked|opted|voted|concluded|signed off|rejected|approved)\b",
        r"\b(?:it'?s|that'?s|has been|was|got|is) (?:now )?(?:settled|decided|agreed|final|approved|sorted)\b",
        r"\bi (?:changed my mind|said no|said yes)\b",
    ),
    signal(
        "announced",
        DECISION,
        1.6,
        r"\b(?:decision|decided|verdict|conclusion|final answer|bottom line|agreed|outcome|sorted|ruling|resolution)\b"
        r"[^.?!:]{0,45}:",
    ),
    signal(
        "let us",
        DECISION,
        1.2,
        r"\blet'?s (?:go (?:with|for)|stick (?:with|to)|stay (?:with|on)|standardi[sz]e|settle|switch (?:\w+ )?to"
        r"|migrate to"
        r"|move (?:\w+ ){0,3}to|adopt|drop|ban|make \w+ the (?:default|standard)|cap|limit|require)\b",
        r"\bgo(?:ing)? with (?:option|plan|variant|approach) \w\b(?<!second)",
    ),
    signal(
        "we will",
        DECISION,
        1.2,
        r"\bwe(?:'ll| will|'re going to| are going to|'re gonna) (?:all )?(?:not )?(?:stay|stick|use|go|keep"
        r"|switch|move|migrate"
        r"|drop|support|ship|release|host|run|store|adopt|require|version|deprecate|retire|rewrite in|build on)\b",
        r"\bwe(?:'re| are) (?:now )?(?:going with|dropping|moving|switching|sticking|staying|migrating"
        r"|not going to|not using"
        r"|retiring|deprecating|sunsetting|standardi[sz]ing|adopting|replacing|getting rid of|done with|keeping"
        r"|leaving|doing)\b(?! (?:great|well|fine|right now))",
        r"\bthat'?s what we(?:'re| are| will be|'ll be)? (?:doing|using|going|do|use)\b|\b(?:is|are) out[,.;]",
        r"\bwe (?:won'?t|will not|no longer|do(?:n'?t| not)(?= \w+ .*\banymore)) (?:\w+ )?(?:use|support|ship"
        r"|need|run|host|allow|do|test|want)\b",
        r"\bwe release under\b|\bstays? (?:on|with|as|at) \w+ only\b|\b(?:is|are) out for\b|\boff the table\b",
        r"\bwe (?:all |both )?prefer\b|\bso it'?s \S+ (?:for|from)\b|\b(?:is|are) the way to go\b",
    ),
    signal(
        "standing order",
        PREFERENCE,
        1.2,
        r"\bfrom now on\b|\bgoing forward\b|\bfrom here on\b|\bin future\b|\bin the future\b(?! we)",
        r"\b(?:standing|house|ground|hard|golden|team|one) rule\b|\bas a rule\b|\bour (?:convention|policy|rule"
        r"|standard)\b",
        r"\b(?:that'?s|this is) how we (?:do|write|name|work)\b|\bby convention\b"
        r"|\b(?:the )?rule(?:s)?(?: here)? (?:is|are|:)",
        r"\bwhenever (?:you|we|i|someone|anyone)\b|\b(?:every|each|any) ?time (?:you|we|i)\b(?! deploy)",
        r"^if [^,.]+, (?:please )?(?:tell|ask|do(?:n'?t| not)|use|call|stop|ping|leave)\b",
        r"^if you \w+ [^.]*, (?:\w+ ){0,2}(?:use|call|ask|run|don'?t|do not|tell|add|update|put|write|keep|check)\b",
        r"\bdo(?:n'?t| not) ever\b|\bunder no circumstances\b|\bat all times\b",
    ),
    signal(
        "always or never",
        PREFERENCE,
        1.2,
        rf"\b(?:please |we |you |i want you to |must |should |to |and |but |so |, |: |^)(?:always"
        rf"|never) (?:{_VERBS[3:-1]}|make|be"
        r"|have|go|get|let|assume|hard-?code|leave|start|check|give|explain|suggest|create|delete|remove|set"
        r"|change|edit|si|utc|straight"
        r"|directly|by hand|on|in|from|with|without)\b",
        r"^(?:always|never)\b(?! mind)|\bmust (?:always|never|only|not)\b|\bonly ever\b",
    ),
    signal(
        "like or dislike",
        PREFERENCE,
        1.2,
        r"\bi (?:really |absolutely |personally |strongly |generally |actually |much |kind of |do |just )*(?:hate"
        r"|prefer|dislike"
        r"|detest|love|can'?t stand|cannot stand|favou?r|don'?t like (?:it )?when|like (?:it )?(?:when|to|my"
        r"|having|short|small))\b",
        r"\bi(?:'d| would)(?: much)? (?:rather|prefer)\b(?! not say)|\bi (?:do not|don'?t) want (?!to (?:talk"
        r"|know))|\bi'm (?:fine|ok|okay|happy) with\b|\bmy (?:preference|preferred|favou?rite)\b",
        r"\bi want (?:\w+ ){1,6}from now on\b|\bi never liked\b|\bdrives me (?:mad|crazy|nuts)\b",
    ),
    signal(
        "must",
        PREFERENCE,
        1.0,
        r"\b\w+ (?:must|have to|has to|need to be|needs to be|shall|should always|should only|should never"
        r"|may only|may not"
        r"|can only)\b(?! have\b)(?! admit)",
        r"\bwe (?:don'?t|do not) (?:do|use|write|allow|want|have|mix|call|put|store|ship|merge|push|test|keep"
        r"|touch|commit|log)\b",
        r"\b(?:is|are) (?:\w+ )?(?:banned|forbidden|prohibited|not allowed|off[- ]limits|reserved|mandatory"
        r"|required|compulsory)\b",
        r"\b(?:nobody|no one|noone|nothing)\b [^.]{0,30}\b(?:pushes|merges|deploys|touches|commits|goes|gets|may"
        r"|can|should|edits)\b",
        r"\b(?:anything|everything|every \w+|all \w+)\b [^.?]{0,40}\b(?:goes? (?:to|through|in|via)|gets? an?"
        r"|belongs)\b",
    ),
    signal(
        "plea",
        PREFERENCE,
        0.6,
        r"\bplease (?:no|don'?t|do not|never|always|keep|reply|answer|avoid|stop|use)\b|^(?:don'?t|do not|avoid"
        r"|stop|no) \w+",
    ),
    signal(
        "habit",
        PREFERENCE,
        0.5,
        r"\b(?:commit messages?|branch names?|comments|docs|docstrings|functions?|tests|answers?|replies"
        r"|pull requests?|PRs?"
        r"|code|emojis?|names|summar(?:y|ies)|anything with|each time|every time|everything|everywhere|by default"
        r"|throughout"
        r"|anywhere|in this (?:repo|project|codebase)|for everything|for anything|unless|when i)\b",
    ),
    signal(
        "only way",
        PREFERENCE,
        1.0,
        r"\buse \S+ (?:for (?:everything|all|any)|everywhere|throughout|by default)\b|\buse the \w+ \w+ everywhere\b",
        r"\bno need to [^.]{0,60}\b(?:each time|every time|unless|always)\b|\bi want (?:short|long|brief|concise"
        r"|small|no)\b",
        r"\b(?:we|i) (?:always|never|only) (?!forget|wonder|knew|know|saw|see|heard|tried|thought|did|had|got"
        r"|do that)\w+",
        r"\bfor \w+ we (?:store|use|write|keep|have)\b|\bin this (?:repo|project|codebase|team),? (?:nobody|we"
        r"|all|every)",
    ),
    signal(
        "for your information",
        FACT,
        0.7,
        r"\bfyi\b|\bheads[ -]up\b|\bbtw\b|\bby the way\b|\bnote that\b|\bfor the record\b|\bkeep (?:that |this "
        r"|it )?in mind\b"
        r"|\bremember (?:this|that)\b|\bremember:|\bjust so you know\b|\bone more thing\b|\bfor context\b"
        r"|\bthing to know\b",
    ),
    signal(
        "owner",
        FACT,
        1.1,
        r"\b(?:owns|maintains|is responsible for|(?:is|are) in charge of|is (?:taking|took) over|takes over|took over"
        r"|(?:is|'s) the (?:owner|lead|maintainer|contact)|handles all|is on call for|is on parental leave"
        r"|i (?:own|maintain|lead|run|work on|work in))\b|\b[A-Z]\w+'s (?:area|baby|domain|job)\b",
    ),
    signal(
        "place",
        FACT,
        0.9,
        r"\b(?:lives?|sits?|resides?|is hosted|is located|are hosted|is stored|are stored|can be found|runs?|listens?)"
        r" (?:now )?(?:in|at|on|under)\b|\b(?:moved|migrated) (?:\w+ ){0,2}to\b"
        r"|\b(?:is|are|'s|is now) (?:called|named|spelled|pronounced)\b|\bthere'?s an? \w+ (?:\w+ )?at\b"
        r"|\bpoints? (?:at|to)\b",
    ),
    signal(
        "they changed",
        FACT,
        1.0,
        r"\b(?:they|the (?:\w+ )?(?:team|vendor|provider|customer|bank|supplier))\b.{0,20}\b(?:dropped|removed|changed"
        r"|moved|switched|renamed|deprecated|shut down|turned off|migrated|upgraded|retired|blocked)\b"
        r"|^(?:\W*(?:and|but|so|also|ok|btw|fyi)[, ]+)*we (?:dropped|retired|sunset|phased out|abandoned"
        r"|stopped supporting)\b",
    ),
    signal(
        "limit",
        FACT,
        0.8,
        r"\b(?:limit|cap|quota|maximum|max|minimum|at most|at least|up to|no more than|per (?:second|minute|hour"
        r"|day|user|month)"
        r"|sla|slo|retention|kept for|budget|or newer|or older|or higher|rate|under \d|below \d|hard cap)\b",
    ),
    signal(
        "restriction",
        FACT,
        0.7,
        r"\bonly (?:has|have|accepts?|allows?|supports?|runs?|works?|takes?|knows?|speaks?)\b|\bha(?:s|ve) no\b"
        r"|\b(?:environments?|nodes?|regions?) only\b|\b(?:is|are) (?:purely|mostly|append-only|read-only|frozen"
        r"|deprecated|gone"
        r"|a leftover|single-tenant)\b|\bcan'?t (?:consume|handle|use|support|speak)\b|\bneeds\b|\brequires\b"
        r"|\bisn'?t special\b|^only (?:\w+,? ){1,5}(?:can|may|is allowed to|are allowed to|gets? to)\b",
    ),
    signal(
        "ours",
        FACT,
        0.4,
        r"\bour\b|\bwe(?:'ve| have)? (?:have|got|run|host|use)\b|\bthe (?:\w+ ){0,2}(?:team|vendor|partner"
        r"|customer|client|cluster"
        r"|database|server|bucket|repo|staging|prod|api|app|table|service|queue|suite|context)\b|\bprod\b|\bstaging\b",
    ),
    signal(
        "is",
        FACT,
        0.2,
        r"\b(?:is|are|'s|was|gives?|uses?|has|have|means?|wants?|expects?|costs?|stays?|runs?|pays?|sends?"
        r"|returns?|starts?|ends?)\b",
    ),
    signal(
        "who I am",
        FACT,
        1.0,
        r"\bmy name(?:'s| is)\b|\bi'?m (?:the|an?) \w+ (?:engineer|developer|designer|lead|pm|maintainer)\b",
    ),
    signal(
        "promised",
        COMMITMENT,
        1.2,
        r"\b(?:i|we) (?:\w+ )?promised\b|\b(?:said|says|promised) (?:he|she|they|we|he'd|she'd|they'd|we'd|it|that)\b",
        r"\b(?:due (?:date|on|by)|is due|are due|freeze (?:is|starts|begins))\b",
    ),
    signal(
        "to come",
        COMMITMENT,
        0.5,
        r"\b(?:by|before|until|due|no later than|end of day|eod)\b|\b(?:review|demo|demoing|launch|release|audit"
        r"|auditors?"
        r"|deadline|go[- ]?live|freeze|presentation|interview|kick-?off|migration|cutover|handover|submission"
        r"|at the latest|switched off|ships?"
        r"|goes live|comes? on)\b|\b(?:(?:i'?ll|i will|we'?ll)\b(?=.*\b(?:by|before|until|no later)\b)|i have to"
        r"|i need|i'm|we need|we owe)\b",
    ),
    signal(
        "cause",
        CAUSE,
        1.2,
        r"\broot cause\b|\bthe (?:reason|cause|culprit)\b[^.?]{0,60}\b(?:is|was|were)\b|\b(?:was|is"
        r"|were) because\b|\bhence\b"
        r"|\bcaused by\b|\bdid the trick\b|\b(?:mystery|bug|problem|issue) is solved\b|\bthat'?s why (?:it|the"
        r"|we)\b|\b(?:that'?s|it'?s|this is|it was|that was) (?:because|since|due to)\b",
    ),
    signal("solved", CAUSE, 0.5, r"\b(?:came|comes|stems|stemmed) from\b|\bdue to\b|\bdown to\b"),
    signal("found out", CAUSE, 0.5, r"\bturn(?:s|ed) out\b|\bfound it\b|\bsolved\b|\bbecause\b|\bit was \w+(?:'s)?\b"),
)
