"""What an English sentence does, whatever it is about: tell, order, specify, guess, complain, report."""

from __future__ import annotations

import re

from memlayer.core.extraction_signals import one_of

# A sentence that states how things are: about us, a named thing, a value; in the present or as a duty.
STATES = one_of(
    r"\b(?:is|are|has|have|must|can|cannot|can'?t|may|needs?|needed|wants?|don'?t|doesn'?t|isn'?t|aren'?t|won'?t"
    r"|will|only|never|always|no"
    r"|nothing|nobody|everything|stays?|goes|gets|keeps?|comes?|runs?|uses?|lives?|reads?|writes?|sends?|takes?"
    r"|gives?|makes?"
    r"|ships?|works?|belongs?|counts?|expects?|requires?|supports?|allows?|accepts?|returns?|starts?|ends?"
    r"|happens?|means?"
    r"|owns?|handles?|costs?|pays?|serves?|holds?|contains?|depends?|follows?|applies|breaks|replaces?|hosts?"
    r"|manages?|insists?"
    r"|talks?|speaks?|cache|log|store|send|read|write|use|run|live|expect|share|sit|go|get|come|belong|speak|pay"
    r"|sync|moved|retired|banned|bought|signed|confirmed|approved|wins|prefer(?:s|red)?)\b|'s (?:a|an|the|in|on"
    r"|at|our|not|no)\b"
)
ANCHORED = one_of(
    r"\b(?:our|ours|we|us|prod|production|staging|customers?|clients?|users?|vendors?|partners?|team|legal"
    r"|finance|marketing|sales|support|ops|security"
    r"|everyone|everybody|nobody|company|office|repo|codebase|release|build server|ci|apis?|sdks?|apps?"
    r"|databases?|db|clusters?|firmware|boards?|services?|licen[sc]es?|servers?|jobs?|workers?|tables?|queues?"
    r"|endpoints?|builds?|clients?|backups?|runners?|files|tokens?|keys?|prices?|project)\b"
    r"|\b(?:the|all|every|each|both) (?!same|other|first|second|last|next|problem|error|message|thing|output|way"
    r"|one|rest)[a-z]\w+"
    r"|\bdr\.|^[a-z]+ (?:names|files|tests|numbers|dates|units|prices|texts|strings|ids)\b"
)
PROPER_NOUN = re.compile(
    r"(?<=[a-z,:] )[A-Z][a-z]+\b"
    r"|^[A-Z][a-z]+ (?:wants|needs|owns|prefers|hates|likes|said|says|insists|asked|is|has|handles|leads|runs"
    r"|works|knows|will)\b"
)
# The person's own doings and feelings of the moment.
OWN_DOINGS = one_of(
    r"^(?:(?:ok|so|and|but|well|hmm+|ugh|sorry|oh|no|yes),? )*i(?:'m|'ve|'ll|'d| am| was| have| had| will| just"
    r"| also)? "
    r"(?:just |already |also |still |now |a bit |a little |not )*(?:pushed|ran|run|running|tried|trying|measured"
    r"|committed|deployed"
    r"|merged|looked at it|look|looking|checked|checking|asked|thought|think|guess|wonder|wondering|see|saw|lost"
    r"|confused|tired|back|away"
    r"|going|gonna|sure|know|don'?t (?:know|care|see|get|understand|think|like any)|forgot|meant|need (?:a|to go)"
    r"|have a meeting|be back"
    r"|afraid|curious|stuck|done|updated|restarted|rebooted|attached|pasted|found|noticed|hope|love it|like it"
    r"|like this|like that)\b"
)
EVALUATES = one_of(
    r"^(?:\W*(?:that|this|it|looks?|sounds?|same|still|nice|great|good|perfect|weird|strange|wrong|fine|cool"
    r"|thanks?|no|yes|nope|yep|hmm+"
    r"|ugh|lol|almost|close|better|done|works?)\b(?:'s|'re| is| was| works| looks| sounds| did)?)(?:,? \w+){0,5}[.!]*$"
    r"|\b(?:is|are|looks?|works?|runs?|sounds?) (?:now )?(?:fine|ok|okay|good|great|right|correct|nice|weird|odd"
    r"|strange|off|too \w+)\b(?! to)"
    r"|\blol\b|\bhaha\b|\bnot that\b|\bthat (?:works|helps|did it|was it)\b|\bmy (?:manager|boss|laptop|machine"
    r"|fan|mouse|cat)\b|!$(?<!\w\w!$)"
)
SYMPTOM = one_of(
    r"\b(?:do(?:n'?t|es ?n[o']?t)|did(?:n'?t| not)|won'?t|is(?:n'?t| not)|are(?:n'?t| not)|can'?t"
    r"|cannot) (?:\w+ )?(?:work|load|compile|build|start|open|show|appear"
    r"|render|connect|respond|pass|boot|finish|match|find|see|update|refresh|save|working|loading|building"
    r"|showing|responding|happening|reachable)\b"
    r"|\b(?:logs?|console|output|terminal|compiler|it) (?:says|shows|prints)\b|\b(?:still|again"
    r"|(?<!i )keeps? \w+ing|suddenly|randomly|sometimes|for some reason|out of nowhere)\b"
    r"|\bbut not on\b|\b[45]\d\ds\b|\b(?:an?|returns?|gets?|getting|gives?|http) [45]\d\d\b"
    r"|\b(?:fails?|failed|failing|crash\w*|hangs?|freez(?:es|ing)|diverg\w+|explod\w+|nan|segfaults?|throws"
    r"|errors? out|stuck|times? out"
    r"|timed out|leaks?|drops?|(?<!they )(?<!we )(?<!was )dropped|died|dies|broken|broke|wrong|slow|flaky"
    r"|off by|weird|strange|garbled|odd"
    r"|blank|cuts? off|cut off|overlaps?|upside down)\b"
)
# So on purpose, however bad it sounds.
REGULAR = one_of(
    r"\b(?:every|each|by design|expected|on purpose|intended|intentional|known)\b|매일|매주|매월|마다|원래|의도"
    r"|정상|면 .{0,14}(?:안|못) |라서 |면 (?:다 |바로 |꼭 )?(?:실패|안 ?돼|깨져|죽어)"
)
# What a thing to be built looks like: the task's own text, which the code will say better.
SPECIFIES = one_of(
    r"\b(?:users?|people|visitors?|you|it|they|there|(?:the|a|an|each|every) (?:\w+ )?(?:button|page|screen|modal"
    r"|dialog|form|column|field|list"
    r"|table|header|footer|menu|icon|tab|tabs|sidebar|card|popup|tooltip|row|chart|image|link|input|section"
    r"|banner|function|method|class"
    r"|command|endpoint|script|component|widget|view|filter|dropdown|checkbox|label))\b[^.]{0,30}\b(?:can|should"
    r"|shows?|displays?|has|have|looks?"
    r"|appears?|opens?|closes?|contains?|is|are|takes?|returns?|gets?|click|clicks|sees?|goes|moves?)\b|\bi(?:'d"
    r"| would) like\b|\bshould (?:be|show|have|look)\b"
)
DESCRIBES = one_of(r"^(?:the|an?|each|it|they|there)\b.*\b(?:has|have|is|are|contains?|takes?|comes?|looks?)\b")
BUILDS = one_of(
    r"\b(?:build|create|make|add|implement|write|design|scaffold|generate|set up|draw|i want an?|i need an?)\b"
    r"|write it"
)
# An order that may hold for good; whether it does, its object says.
POLICY_ORDER = one_of(
    r"^(?:\W*(?:please|also|and|but|so|then|just|anyway|okay|ok|well)[,:]? )*(?:use|keep|avoid|prefer|stop|don'?t"
    r"|do not|never|always|assume|stick"
    r"|treat|reply|answer|respond|write|ask|tell|remember|favou?r|name|call|store|default|no|nothing|only|leave"
    r"|put|show|include|wait|limit|follow"
    r"|respect|expect|consider|speak|talk|be|make sure|pin|skip|mention|give|target)\b"
)
TASK_ORDER = one_of(
    r"^(?:\W*(?:please|also|and|but|so|then|now|just|anyway|okay|ok|well|alright|right|fine|great|cool|next|first"
    r"|go ahead and|let'?s|no)[,:]? )*"
    r"(?:add|fix|rename|write|make(?! sure)|update|remove|delete|convert|refactor|generate|create|check|look|show"
    r"|run|try|undo|revert|commit|push"
    r"|deploy|explain|print|put|set|move|change|replace|scaffold|clean|tidy|split|bump|apply|go|do|give|tell|find"
    r"|implement|test|log|document"
    r"|draft|format|list|compare|review|summari[sz]e|translate|wire|hook|install|rerun|retry|continue|start|build"
    r"|open|close|merge|rebase|pick"
    r"|swap|extract|inline|rip|walk|remind|migrate|publish|restart|port|reproduce|investigate|debug|bisect"
    r"|profile|measure|port|hide|sort|wrap"
    r"|pull|fetch|grab|collect|gather|count|calculate|compute|sum|dump|clone|ping|kill|reset|clear|flush|rotate"
    r"|benchmark|time|record"
    r"|mark|tag|label|assign|send|email|post|upload|download|mirror|backport|cherry-pick|stash|squash|upgrade"
    r"|downgrade|import|export|load|save|copy|paste|drop the|turn|switch|disable|enable|plot|train|sketch|get"
    r"|let me|hold|wait|leave)\b"
)
TASK_BOUND = one_of(
    r"\b(?:it|this|that|these|those|here|now|yet|first|again|too|instead|for me|the (?:same|other|last|first"
    r"|second|following))\b"
)
GENERAL = one_of(
    r"\b(?:always|never|ever|any|anything|everything|every|everywhere|each|all|only|no|nothing|unless|whenever"
    r"|when(?: i| you| we)|by default|instead of"
    r"|over|rather than|before (?:you|any|every)|without asking|for good|in general|explaining|apologi[sz]ing"
    r"|asking|summari[sz]ing|new \w+s"
    r"|(?:commit )?messages?|comments?|names?|docstrings?|answers?|replies|emojis?|functions|classes|tests|mocks"
    r"|dependencies|abbreviations|english|korean)\b"
)

# The speaker says so about the whole turn: nothing in it has been decided.
UNDECIDED = one_of(
    r"\b(?:did not|didn'?t|haven'?t|hasn'?t|have not|not yet|nobody has|no one has|still un)\b[^.]{0,20}\bdecided?\b",
    r"\bsleep on it\b|\bthink(?:ing)? (?:about it|out loud|it over)\b|\bjust (?:thinking|an idea|brainstorming"
    r"|curious|asking)\b",
    r"\bnobody has decided\b|\bno decision\b|\bstill open\b|\bnot decided\b|\bnot final\b|\bnot now\b"
    r"|\bthat was only \w+'?s? idea\b",
)
HYPOTHETICAL = one_of(
    r"\b(?:we|you|i|they|one) (?:could|might|may want)\b|\b(?:maybe|perhaps|might|suppose|supposing|assuming"
    r"|hypothetically|what if|imagine|someday|some day|at some point"
    r"|eventually|possibly|probably should|could (?:we|i|you|be|also)|would (?:it|be|you|have to)|should (?:we|i)"
    r"|shall we)\b",
    r"\bif (?:we|i|it|you|the|they) (?:\w+ ){0,3}(?:decide|would|could|had|were|fails?|goes)\b"
    r"|^if\b(?![^,.]+, (?:please )?(?:tell|ask|do|don|use|call|stop|run|keep|never|always|ping|open|add|skip"
    r"|leave)\b)(?! you (?:need|want|touch|change|add|see|have|find|edit|use|write|create|must|ever))"
    r"|\bwe(?:'d"
    r"| would) have\b",
    r"\bi(?:'ve been)? (?:think(?:ing)?|guess|wonder|suspect)\b|\bnot sure\b|\bno idea\b|\bcould be\b|\bi'd say\b"
    r"|\bwe should really\b",
    r"\b(?:proposed|suggests?|suggested|recommends?) (?!by)(?!.*\b(?:no|agreed|accepted)\b)",
)
# Orders for the work at hand, not for all work to come.
THIS_TASK = one_of(
    r"\b(?:this|that|these|those) (?:file|function|line|one|branch|commit|test|class|time|variable|method|part"
    r"|page|component"
    r"|benchmark|change|pr|bit)\b(?! breaks)",
    r"\bfor now\b|\bjust (?:for )?(?:this|once)\b|\bonly this\b|\bthis once\b|\btemporarily\b|\bright now\b"
    r"|\bfor the moment\b",
    r"\b(?:commit|push|merge|deploy|touch|delete|run) (?:it |that )?yet\b|\bhere\b(?=, not|\.?$)|\bfor the demo\b"
    r"|\bscratch that\b",
)
# A report of the moment: true now, worthless next week.
STATUS = one_of(
    r"\b(?:right now|currently|at the moment|so far|just now|as of now|still running)\b",
    r"\b(?:\d+ (?:tests? )?(?:passed|failed|skipped|findings|errors?|warnings)|tests? pass(?:es)?|is (?:green"
    r"|live|clean|free|red))\b",
    r"\b(?:i ran|i measured|it finished|finished in|took \d|deployed \S+ to|i pushed|i committed"
    r"|i'?m on call this week)\b",
    r"^(?:done|ok done|deployed|pushed|merged|finished)\b|\b(?:is|are) (?:solved|fixed|resolved|sorted out)\b",
    r"^here(?:'s| is| are)\b|\bthis week\b|\bone sec\b|\bhold on\b",
)
# Words of a request; what stands behind one is for now.
REQUEST = one_of(
    r"\bi(?:'d| would) like (?:the|an?|it|this|that|you)\b|^(?:ok |okay |so |and |now |then |also |please "
    r"|just )*(?:can|could|would|will) you\b|^(?:please )?(?:show|explain|print|list"
    r"|write|run|fix|rename|undo|summari[sz]e|compare|generate|try|check|look|walk me|remind me|give me|go with"
    r"|do it)\b",
)
LEAVES = one_of(
    r"\bcall it a (?:day|night)\b|\b(?:that'?s (?:it|all)|done|enough|signing off|logging off|calling it)"
    r" for (?:today|tonight|now|this week)\b",
)
QUOTES_OTHERS = one_of(
    r"\b(?:per|from|according to) the (?:readme|docs?|style guide|manual|documentation)\b|\b(?:blog|article(?! num)"
    r"|twitter|tweet|video"
    r"|stack ?overflow|someone on|the docs? says?|it says)\b|\bpasted from\b|\bthe customer(?:s)? (?:says?|wrote"
    r"|said)\b",
)
