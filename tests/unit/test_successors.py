"""Which newer turn took the place of an older one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from memlayer.core.scoring import Score
from memlayer.service.candidate import CROWDED, Candidate
from memlayer.service.successors import Similar, Successors
from memlayer.service.term_stats import TermStats
from tests.contract.store_rows import make_chunk

CROWD = CROWDED % 5
BELOW = "relevance 0.05 below the floor 0.40"


def turn(number: int, text: str, relevance: float = 0.1, reason: str = BELOW) -> Candidate:
    """The higher the number, the newer."""
    chunk = replace(make_chunk(number, text, at_ms=1000 * number), memory_id="m%d" % number)
    return Candidate(chunk, Score(relevance, relevance, relevance, relevance, 0.5, 0.5), reason == "kept", reason, text)


def entry(number: int, text: str, relevance: float = 0.8) -> Candidate:
    return turn(number, text, relevance, "kept")


def alike(*pairs: tuple[int, int, float]) -> Similar:
    """Cosines of turns by their numbers; 0 of all others."""
    known = {(make_chunk(one).id, make_chunk(other).id): cosine for one, other, cosine in pairs}

    def similar(ids: Sequence[str]) -> list[list[float]]:
        return [[known.get((one, other), known.get((other, one), 0.0)) for other in ids] for one in ids]

    return similar


def successor(judged: list[Candidate], similar: Similar | None = None) -> tuple[str, bool, bool] | None:
    """Of the first: (memory id, is it sure, does it come first)."""
    found = Successors(judged, CROWD, TermStats(), similar).of(judged[0])
    return None if found is None else (found.turn.chunk.memory_id, found.is_sure, found.comes_first)


def test_a_turn_that_does_away_with_what_the_older_one_names() -> None:
    older = entry(1, "소식지는 Buttondown으로 보냅니다")
    newer = turn(3, "killed buttondown, it runs on listmonk now")
    assert successor([older, turn(2, "the weather is fine"), newer]) == ("m3", True, True)
    assert successor([older, turn(3, "listmonk is what runs it now")]) is None
    assert successor([entry(4, older.chunk.text), newer]) is None, "it is older"


def test_of_two_that_name_it_the_nearer_one_is_meant() -> None:
    newer = turn(3, "killed buttondown, listmonk from now on")
    mail, price = entry(1, "mails go out from Buttondown"), entry(2, "Buttondown costs 9 USD")
    assert successor([price, mail, newer], alike((1, 3, 0.6), (2, 3, 0.3))) is None
    assert successor([mail, price, newer], alike((1, 3, 0.6), (2, 3, 0.3))) == ("m3", True, True)


def test_a_fact_that_changed_twice_leads_to_the_last() -> None:
    judged = [
        entry(1, "orders live in Postgres"),
        turn(2, "postgres 버리고 MySQL로 갔습니다"),
        turn(3, "MySQL에서 ClickHouse로 옮겼습니다"),
    ]
    assert successor(judged) == ("m3", True, True)


# Of few turns being the nearest says nothing.
OTHERS = [turn(-number, "something else %d" % number) for number in range(1, 8)]


def test_each_other_s_nearest_with_the_prompt_s_word_for_it() -> None:
    older = entry(1, "강조색은 #2F6FED입니다")
    near = alike((1, 3, 0.5), (2, 3, 0.2), (1, 2, 0.1))
    newer = turn(3, "white on #0B7A5B has contrast 5.3", 0.65, CROWD)
    judged = [replace(older, score=Score(2, 2, 2, 2, 0.5, 0.5)), turn(2, "side panel debounce"), newer, *OTHERS]
    assert successor(judged, near) == ("m3", False, False)
    assert successor(judged) is None, "without vectors nobody knows"
    assert successor(judged[:3], near) is None, "of three turns one is the nearest whatever it says"
    unlikely = replace(newer, score=replace(newer.score, relevance=0.1))
    assert successor([older, judged[1], unlikely, *OTHERS], near) is None, "neither prompt nor words speak for it"


def test_its_words_can_speak_for_it_as_well() -> None:
    judged = [entry(1, "강조색 primary #2F6FED"), turn(3, "강조색 primary 대비"), *OTHERS]
    assert successor(judged, alike((1, 3, 0.5))) == ("m3", False, False)


def test_who_is_nearer_to_another_is_nobody_s_successor() -> None:
    newer = turn(3, "contrast of white", 0.65, CROWD)
    judged = [entry(1, "강조색은 #2F6FED입니다", 2.0), entry(2, "save button label"), newer, *OTHERS]
    assert successor(judged, alike((1, 3, 0.6), (2, 3, 0.4), (1, 2, 0.1))) == ("m3", False, False)
    assert successor(judged, alike((1, 3, 0.4), (2, 3, 0.6), (1, 2, 0.1))) is None


def test_the_odds_of_the_prompt_and_the_project_make_no_difference() -> None:
    """In a large project everything is less relevant by as much; which turn follows which is what it was."""

    def judged(chance: float) -> list[Candidate]:
        found = [entry(1, "강조색은 #2F6FED입니다", 0.9), turn(3, "white has contrast 5.3", 0.65), *OTHERS]
        by = [replace(one.score, relevance=_less(one.score.relevance, chance), chance=chance) for one in found]
        return [replace(one, score=score) for one, score in zip(found, by, strict=True)]

    found = {successor(judged(chance), alike((1, 3, 0.5))) for chance in (-0.5, 0.0, 0.6, 2.0)}
    assert found == {("m3", False, False)}


def _less(relevance: float, odds: float) -> float:
    return 1 / (1 + math.exp(odds - math.log(relevance / (1 - relevance))))


def test_what_names_it_may_be_about_another_matter() -> None:
    """ "the coupon is no longer rounded" does not take the place of how a coupon is mailed."""
    older, newer = entry(1, "쿠폰 메일은 Postmark로 나갑니다"), turn(3, "쿠폰 말고 포인트만 반올림합니다")
    assert successor([older, newer], alike((1, 3, 0.5))) == ("m3", True, True)
    assert successor([older, newer], alike((1, 3, 0.1))) is None


def test_words_alone_make_no_two_turns_one_matter() -> None:
    older = entry(1, "the overview of the repository names stacks, modules and node groups of the cluster")
    text = "dev runs 1.33, two deprecated endpoints were replaced beforehand, node groups follow tomorrow"
    newer = turn(3, text, 0.7, "kept")
    judged = [older, newer, *OTHERS]
    assert successor(judged, alike((1, 3, 0.4))) == ("m3", False, True)
    assert successor(judged, alike((1, 3, 0.1))) is None
    assert successor(judged) is None, "without vectors more words are needed"
    same = turn(3, "the overview of the repository names stacks, modules and charts now", 0.7, "kept")
    assert successor([older, same, *OTHERS]) == ("m3", False, True)


def test_without_a_model_words_are_all_there_is() -> None:
    def worded(one: Candidate) -> Candidate:
        return replace(one, score=replace(one.score, vector=None))

    older = entry(1, "the overview of the repository names stacks, modules and node groups of the cluster")
    text = "dev runs 1.33, two deprecated endpoints were replaced beforehand, node groups follow tomorrow"
    judged = [older, turn(3, text, 0.7, "kept")]
    assert successor(judged) is None
    assert successor([worded(one) for one in judged]) == ("m3", False, True)


def test_the_nearest_on_its_matter_goes_before_the_newest() -> None:
    """And what took the place of that goes before both."""
    older = entry(1, "wgpu stays pinned to 0.20 as egui needs it")
    up = turn(3, "egui caught up, wgpu is on 22 now", 0.7, "kept")
    other = turn(4, "all crates but wgpu are updated, egui too", 0.7, "kept")
    near = alike((1, 3, 0.6), (1, 4, 0.4))
    assert successor([older, up, other], near) == ("m3", False, True)
    last = turn(5, "wgpu 23 works with egui, upgraded", 0.7, "kept")
    assert successor([older, up, other, last], alike((1, 3, 0.6), (1, 4, 0.4), (3, 5, 0.6))) == ("m5", False, True)


def test_what_dropped_out_for_another_reason_does_not_count() -> None:
    shown = turn(3, "killed buttondown, listmonk from now on", reason="already shown in this session")
    assert successor([entry(1, "mails go out from Buttondown"), shown]) is None
