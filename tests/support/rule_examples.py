"""Example tokens from the rules of a public secret scanner.

    python -m tests.support.rule_examples gitleaks.toml betterleaks.toml > tests/data/rule_examples.jsonl

A rule of a later file counts only if no earlier file has its id. The rules themselves are not part of this repository:
`tests/data/README.md` names their source. Only a rule whose token has a literal of its own gives examples, one for each
way through its alternatives; a rule that asks for a name before any value gives none. Seeded by the rule's id, so that
the same rules give the same examples.
"""

import itertools
import json
import random
import re
import re._constants as sre  # type: ignore[import-not-found]
import re._parser as sre_parse  # type: ignore[import-not-found]
import string
import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

# Shapes of a command or of a file, with the secret somewhere inside.
NOT_TOKENS = frozenset({
    "curl-auth-header", "curl-auth-user", "freemius-secret-key", "kubernetes-secret-yaml", "nuget-config-password",
    "private-key", "database-password", "generic-api-key",
})  # fmt: skip
NAMED = "(?:=|>|:{1,3}="  # the signs between a name and its value
MOST_A_RULE = 8
LEAST_LITERAL = 2  # characters that mark a token
LEAST_LITERAL_NAMED = 3  # the same where the rule asks for a name, too
LONG_LITERAL = 4  # parts that are longer are no part of the secret
_ALNUM = string.ascii_letters + string.digits
_CLASSES = {sre.CATEGORY_WORD: _ALNUM + "_", sre.CATEGORY_DIGIT: string.digits, sre.CATEGORY_SPACE: " ",
            sre.CATEGORY_NOT_SPACE: _ALNUM}  # fmt: skip


class Sampler:
    """Draws a text that a parsed pattern matches."""

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice
        self.ways: list[int] = []  # the alternatives taken
        self.parts: list[tuple[str, bool]] = []  # text, whether the pattern has it literally

    def draw(self, tree: Iterable[tuple[Any, Any]], folded: bool) -> None:
        """Append a match of tree; folded: upper and lower case are the same."""
        for kind, value in tree:
            if kind is sre.LITERAL:
                self.parts.append((chr(value), True))
            elif kind is sre.ANY:  # the rules mean a dot
                self.parts.append((".", True))
            elif kind is sre.IN:
                self._draw_one_of(value, folded)
            elif kind is sre.BRANCH:
                self._draw_branch(value[1], folded)
            elif kind is sre.SUBPATTERN:
                on, off = (bool(flags & re.IGNORECASE) for flags in value[1:3])
                self.draw(value[3], (folded or on) and not off)
            elif kind in (sre.MAX_REPEAT, sre.MIN_REPEAT):
                self._draw_repeat(*value, folded)
            elif kind is not sre.AT:
                raise ValueError("no sample of %s" % kind)

    def _draw_one_of(self, items: list[tuple[Any, Any]], folded: bool) -> None:
        if len(items) <= LONG_LITERAL and all(kind is sre.LITERAL for kind, _ in items):
            way = self.dice.randrange(len(items))
            self.ways.append(way)
            self.parts.append((chr(items[way][1]), True))
            return
        char = self.dice.choice(_characters(items))
        self.parts.append((char.swapcase() if folded and self.dice.random() < 0.5 else char, False))

    def _draw_branch(self, branches: list[Any], folded: bool) -> None:
        if any(all(kind is sre.AT for kind, _ in branch) for branch in branches):
            return  # the end of a text, or a character after the token
        way = self.dice.randrange(len(branches))
        self.ways.append(way)
        self.draw(branches[way], folded)

    def _draw_repeat(self, least: int, most: int, tree: Any, folded: bool) -> None:
        if most >= sre.MAXREPEAT:
            least, most = max(least, 12), max(least, 12) + 8
        for _ in range(self.dice.randint(least, min(most, least + 8))):
            self.draw(tree, folded)


def _characters(items: list[tuple[Any, Any]]) -> str:
    if items[0][0] is sre.NEGATE:
        return _ALNUM
    chars = ""
    for kind, value in items:
        if kind is sre.LITERAL:
            chars += chr(value)
        elif kind is sre.RANGE:
            chars += "".join(map(chr, range(value[0], value[1] + 1)))
        else:
            chars += _CLASSES[value]
    return chars.replace("\n", "").replace("\r", "").replace("\\", "")


def in_python(pattern: str) -> str:
    r"""Rewrite a pattern of Go: `(?i)` up to its group's end, `\z`, classes by name."""
    pattern = pattern.replace(r"\z", r"\Z").replace("[[:alnum:]]", "[A-Za-z0-9]")
    out = ""
    waiting = [0]  # flags switched on in each open group
    in_class = False
    for sign in re.findall(r"\\.|\(\?i\)|.", pattern, re.DOTALL):
        if in_class or sign == "[":
            in_class = sign != "]"
        elif sign == "(?i)":
            waiting[-1] += 1
            sign = "(?i:"
        elif sign == "(":
            waiting.append(0)
        elif sign == ")":
            sign = ")" * (waiting.pop() + 1)
        out += sign
    return out + ")" * waiting[0]


def _groups(tree: Any, folded: bool) -> Iterator[tuple[Any, bool]]:
    """Yield each outermost capturing group, and whether its case is folded."""
    for kind, value in tree:
        if kind is sre.SUBPATTERN:
            inner = (folded or bool(value[1] & re.IGNORECASE)) and not value[2] & re.IGNORECASE
            if value[0]:
                yield value[3], inner
            else:
                yield from _groups(value[3], inner)
        elif kind is sre.BRANCH:
            for branch in value[1]:
                yield from _groups(branch, folded)


def _runs(parts: list[tuple[str, bool]]) -> list[tuple[str, bool]]:
    """Join parts: (text, whether it is literal), in turn."""
    return [("".join(text for text, _ in run), fixed) for fixed, run in itertools.groupby(parts, lambda part: part[1])]


def _secret(parts: list[tuple[str, bool]]) -> str:
    """Return the longest piece between long literals, or all of a literal token."""
    pieces = [""]
    for text, fixed in _runs(parts):
        if fixed and len(text) >= LONG_LITERAL:
            pieces.append("")
        else:
            pieces[-1] += text
    return max(pieces, key=len) or "".join(text for text, _ in parts)


def examples(rule: dict[str, Any]) -> Iterator[dict[str, str]]:
    """Yield rule, text and secret of each example of a rule."""
    named = NAMED in rule["regex"]
    tree = sre_parse.parse(in_python(rule["regex"]))
    tokens = list(_groups(tree, False)) if named else [(tree, False)]
    dice = random.Random(rule["id"])
    seen = set()
    for _, (token, folded) in itertools.product(range(60), tokens):
        sampler = Sampler(dice)
        sampler.draw(token, folded)
        literals = [text for text, fixed in _runs(sampler.parts) if fixed]
        text = "".join(part for part, _ in sampler.parts)
        way = (id(token), *sampler.ways)
        if max(map(len, literals), default=0) < (LEAST_LITERAL_NAMED if named else LEAST_LITERAL) or way in seen:
            continue
        if text[-1] in "-_=." or (not named and not re.search(in_python(rule["regex"]), "%s " % text)):
            continue
        seen.add(way)
        yield {"rule": rule["id"], "text": text, "secret": _secret(sampler.parts)}
        if len(seen) == MOST_A_RULE:
            return


def main(paths: list[str]) -> None:
    """Print the examples of all rules, and to stderr how many gave some."""
    known: set[str] = set()
    for path in paths:
        rules = [rule for rule in tomllib.loads(Path(path).read_text("utf-8"))["rules"] if rule["id"] not in known]
        known |= {rule["id"] for rule in rules}
        given = 0
        for rule in rules:
            if "regex" in rule and rule["id"] not in NOT_TOKENS:
                found = list(examples(rule))
                given += bool(found)
                for example in found:
                    print(json.dumps({"source": Path(path).stem, **example}))
        print("%s: %d rules, %d with a literal of their own" % (path, len(rules), given), file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
