"""Plans for a day, and reports that they were carried out."""

import re
from collections.abc import Iterable
from functools import lru_cache

from memlayer.text.sentences import is_question, sentences
from memlayer.text.terms import query_terms
from memlayer.turns.outcome import says_done
from memlayer.turns.turn import prompt_and_answer

MAX_PLAN_CHARS = 240
MAX_PROMPT_CHARS = 1000  # a longer one is pasted text
MAX_SENTENCES = 20  # of a turn
SHARE = 0.6  # of a plan's words, in a sentence that tells of it as done
FEWEST = 2  # words of a plan. A shorter one names nothing
_DAY = r"\b(?:today|tonight|tomorrow|this (?:morning|afternoon|evening|week))\b"
_WILL = r"\b(?:i|we)(?:'ll| will|'m going to| am going to|'re going to| are going to| plan to| want to| need to)\b"
_PLAN = re.compile(
    rf"{_DAY}.*{_WILL}|{_WILL}.*{_DAY}|^(?:plan|to ?do) for (?:today|tomorrow)\b"
    r"|(?:오늘|내일|이번 ?주)[^.?!]*(?:[할올을될릴킬칠일낼볼길쓸들꿀] ?(?:거|게|것|예정|계획|차례)"
    r"|하려고|려고 ?(?:해|한|함)|해야|하자)",
    re.IGNORECASE,
)
_DONE = re.compile(
    r"\b(?:done|finished|completed|shipped|merged|already (?:\w+ed|wrote|did|made|built|sent))\b"
    r"|끝냈|끝났|마쳤|완료|(?:했|됐|었|았|였|겼|꿨|렸|졌|냈|뒀|놨|뺐|썼|쳤)(?:어|지|네|음|습니다|다|대)",
    re.IGNORECASE,
)
_FRAME = re.compile(rf"{_DAY}|{_WILL}|오늘은?|내일은?|이번 ?주에?는?", re.IGNORECASE)


@lru_cache(maxsize=1024)
def plan_of(text: str) -> str:
    """Return the day's plan in a prompt or statement, "" for none."""
    prompt = prompt_and_answer(text)[0][:MAX_PROMPT_CHARS]
    if not _PLAN.search(" ".join(prompt.split())):
        return ""
    spans = sentences(prompt)[:MAX_SENTENCES]
    told = (prompt[span.start : span.end] for span in spans)
    return next((sentence for sentence in told if len(sentence) <= MAX_PLAN_CHARS and _PLAN.search(sentence)), "")


def is_done(plan: str, reports: Iterable[str]) -> bool:
    """True if a sentence of the turns' texts tells the plan done."""
    wanted = frozenset(query_terms(_FRAME.sub(" ", plan)))
    return len(wanted) >= FEWEST and any(_tells(report, plan, wanted) for report in reports)


def carried_out(sentence: str) -> str:
    """Return the deed that a sentence reports, "" for none."""
    if is_question(sentence) or not (says_done(sentence) or _DONE.search(sentence)):
        return ""
    return _DONE.sub(" ", sentence)


def _tells(report: str, plan: str, wanted: frozenset[str]) -> bool:
    for part in prompt_and_answer(report):
        for span in sentences(part)[:MAX_SENTENCES]:
            told = part[span.start : span.end]
            if told == plan or not carried_out(told):
                continue
            if len(wanted.intersection(query_terms(told))) >= SHARE * len(wanted):
                return True
    return False
