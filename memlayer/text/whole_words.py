"""Texts that hold the words of a query whole: TKT-100, not TKT-1000.

A word ends where no sign that binds names goes on: `2.4.1-rc1` is another version than `2.4.1`, `foo::bar::baz` another
name than `foo::bar`. Korean particles may follow: `김민수가` holds `김민수`, `김민수진` does not.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping

from memlayer.text import korean
from memlayer.text.terms import query_terms, stem

_AROUND = "\"'`()[]{}<>,;!?…“”‘’「」。、"  # of a word as it is typed
_BINDS = "-.@"
_ALSO_BINDS = "/\\:+=~%&>"  # in names that have one themselves
_BRACKETS = "{}[]<>()*"  # of a name: `/orders/{id}`, `List<int>`
_PART_STARTS = "{[<*:$"  # behind a sign that binds
_NEAR = 64  # characters behind a word that are looked at
_VERSION = re.compile(r"v?\d+(?:\.\d+)+")
_LATIN = re.compile("[a-z]+")
_HANGUL = re.compile("[가-힣]*")


def holding(query: str, texts: Mapping[str, str]) -> list[str]:
    """Return the keys of texts that hold every word of a query.

    Its grammar counts only where there is nothing else.
    """
    typed = [word for word in map(_typed, _plain(query).split()) if word]
    held = {key: _plain(text) for key, text in texts.items()} if typed else {}
    for word in [word for word in typed if query_terms(word)] or typed:
        held = _of_word(word, held)
    return list(held)


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _typed(word: str) -> str:
    """Return a word without the signs around it, its own brackets kept."""
    bare = word.strip(_AROUND).rstrip(".:")
    for opener, closer in ("{}", "[]", "<>", "()"):
        opened = bare.replace("->", "").count(opener) - bare.replace("->", "").count(closer)
        bare = bare + closer if opened > 0 else opener + bare if opened < 0 else bare
    return bare if bare in word else bare.strip(_AROUND)


def _of_word(word: str, texts: Mapping[str, str]) -> dict[str, str]:
    """Return texts that hold a word, or the name before its particle.

    Where a further particle follows it (`하늘이가`), the word itself is the name.
    """
    tails = {key: list(_tails(word, text)) for key, text in texts.items()}
    name = korean.without_particle(word)
    if name != word and not any(map(any, tails.values())):
        named = {key: text for key, text in texts.items() if list(_tails(name, text))}
        if named:
            return named
    return {key: text for key, text in texts.items() if tails[key]}


def _tails(word: str, text: str) -> Iterator[str]:
    """Yield the particles behind a word wherever it is whole."""
    binds = _BINDS + "".join(sign for sign in _ALSO_BINDS if sign in word)
    if is_version := _VERSION.fullmatch(word) is not None:
        word = word.removeprefix("v")
    if is_version or "@" in word:
        binds += "+~"
    if _LATIN.fullmatch(word):
        spans = [match.span() for match in _LATIN.finditer(text) if stem(match[0]) == stem(word)]
    else:
        spans = [match.span() for match in re.finditer(re.escape(word), text)]
    for start, end in spans:
        before, after = text[max(0, start - 3) : start], text[end : end + _NEAR]
        if is_version:
            before = before.removesuffix("v")
        run = _HANGUL.match(after)
        tail = run[0] if run else ""
        signs = binds.replace("@", "") if word[0].isdigit() else binds  # parser@2.4.1
        is_part = _goes_on(before[::-1], signs, word[0]) or _goes_on(after[len(tail) :], binds, word[-1])
        if not is_part and korean.is_particles(tail, word[-1]):
            yield tail


def _goes_on(beside: str, binds: str, edge: str) -> bool:
    """True if the signs beside a word, nearest first, belong to it."""
    if edge.isdigit():
        binds += ","  # 200 is not in 1,200
    run = beside[: len(beside) - len(beside.lstrip(binds))] or ("::" if beside.startswith("::") else "")
    after = beside[len(run) : len(run) + 1]
    joined = run and run[:2] != ".." and (_is_of_word(edge) or edge in _BRACKETS)
    return _is_of_word(beside[:1]) or bool(joined and after and (_is_of_word(after) or after in _PART_STARTS))


def _is_of_word(sign: str) -> bool:
    return sign.isalnum() or sign == "_"
