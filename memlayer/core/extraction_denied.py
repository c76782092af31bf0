"""Tells an explanation that an answer stands by from one that it denies, only guessed at, or gave up."""

from __future__ import annotations

import re

from memlayer.core.extraction_signals import one_of

# Where an explanation may turn: what is denied in one clause may be set right in the next.
_CLAUSE = re.compile(
    r"[:;,] |\bbut (?!(?:it|that|this|i|we|they|there|nothing)\b)|\brather\b|(?<=아니라) |(?<=아니고) ", re.IGNORECASE
)
_NOT_THE_CAUSE = one_of(
    r"\b(?:is|was|were|are|am|do|does|did|has|have|could|can)(?: not|n'?t)\b[^.;:,]{0,50}\b(?:because|cause[ds]?"
    r"|reason|culprit"
    r"|due to|why|to blame)\b",
    r"\b(?:cause|culprit|reason|problem|issue|bug|explanation) (?:is|was|were)(?:n'?t| not)\b"
    r"|\bnot (?:the (?:\w+ )?(?:cause"
    r"|culprit|reason|problem|issue)|because|due to|caused by)\b|\bno longer (?:believe|think)\b|\b(?:was|were"
    r"|am) wrong\b",
    r"(?:때문에|탓에|서) [^.]{1,20}(?:게|것은|건|것이) (?:아니(?!라|고)|아닙)",
    r"(?:때문|탓|원인|문제|이유|범인)(?:은|는|이|도|인 건|인 것은)? ?(?:아니(?!라|고)|아닙|아니었|아녔)"
    r"|(?:원인|이유|범인|문제)(?:은|는|이|가) [^.]{1,40}(?:아니(?!라|고)|아닙|아니었)",
)
_EXCLUDED = one_of(
    r"\bnothing to do with\b|\bunrelated to\b|\brul(?:e|ed|es|ing) (?:\w+ ){0,3}?out\b",
    r"무관(?:합|했|하다)|(?:상관|관계)(?:이|가|은|는)? ?없(?!이)|배제(?:했|됐|할 수)",
)
_GUESSED = one_of(
    r"\bat first (?:it|i|we|this)\b|\bit (?:first |initially )?(?:seemed|appeared)\b(?! to work)",
    r"\b(?:first|initial|original|early|earlier|my) (?:guess|thought|suspicion|theory|hypothesis|assumption|idea"
    r"|hunch)\b",
    r"\bi(?: had)? (?:\w+ly |first |also )?(?:suspected|thought|assumed|believed|guessed|figured(?! out))\b"
    r"|\blooked like\b(?=.*\bbut\b)",
    r"(?:라고|이라고|것으로|줄로?|거라고|라 |다고) ?(?:봤|보고 |보았|생각했|추측했|의심했|짐작했|예상했|알았)"
    r"|의심했|줄 알|(?:인가|인 것 같|이 아닐까) ?(?:싶었|생각)",
)
_NO_USE = one_of(
    r"\b(?:made|makes|make|making) no difference\b|\b(?:did|does)(?:n'?t| not) (?:\w+ )?(?:help|change (?:anything"
    r"|much|it|that)"
    r"|fix (?:it|that|anything)|make (?:a|any) difference|solve)\b|\bnothing (?:\w+ )?changed\b|\bchang(?:ed"
    r"|es) nothing\b"
    r"|\bto no avail\b|\b(?:had|has|with|without) (?:no |any )?(?:effect|success)\b|\bno (?:effect|improvement"
    r"|luck)\b"
    r"|\bin vain\b|\b(?:but|and) (?:it|the \w+|they) still (?:fail|hang|crash|happen|break|is|are|was|were|does)\w*",
    r"효과(?:가|는|도)? ?없|그대로(?:였|입니다|더|이었)|달라(?:진|지는) (?:게|것이|건|점이) ?없|달라지지 않"
    r"|변화(?:가|는)? ?없|소용(?:이)? ?없"
    r"|도움이 (?:안|되지)|여전히|해결되지 않|나아지지 않|똑같(?:았|습)|차이(?:가|는)? ?없",
)
# Takes back what stands before it, and points at that.
_TAKES_BACK = one_of(
    r"^(?:\W*(?:but|and|so|however|actually|then|though|unfortunately|wait|no)\b)*\W*(?:that|it|this|which"
    r"|my (?:guess"
    r"|theory|explanation|fix)|the (?:change|fix|guess|theory|explanation))\b[^.:;,]{0,20}?(?:(?: not"
    r"|n'?t) (?:\w+ ){0,2}?(?:cause"
    r"|culprit|reason|problem|issue|it|help|right|enough|true)\b| wrong\b| no (?:difference|effect)\b"
    r"| nothing\b)(?=[.:;,! ]|$)"
    r"(?! but\b)",
    r"\b(?:red herring|turned out (?:not to|to be (?:wrong|false|unrelated|something else)))\b",
    r"(?:그게|그건|그것[은이]|이게|이건|이것[은이]|그 (?:설명|추측|가설)[은이]) [^.]{0,20}(?:아니(?!라)|아닙|틀렸"
    r"|잘못)",
)


def denies_cause(text: str) -> bool:
    """True if the sentence says where the trouble does not come from, or what was only believed, and no more."""
    if _GUESSED.search(text) or _EXCLUDED.search(text):
        return True
    denied = _NOT_THE_CAUSE.search(text)
    if not denied:
        return False
    rest = [clause for clause in _CLAUSE.split(text)[1:] if len(clause) > _SAYS_SOMETHING]
    return not rest or any(_NOT_THE_CAUSE.search(clause) or _NO_USE.search(clause) for clause in rest)


_SAYS_SOMETHING = 12  # characters


def was_of_no_use(text: str) -> bool:
    """True if the sentence tells of an attempt that changed nothing."""
    return bool(_NO_USE.search(text))


def takes_back_what_precedes(text: str) -> bool:
    """True if the sentence says that what was just said is not the cause, or did not help."""
    return bool(_TAKES_BACK.search(text))
