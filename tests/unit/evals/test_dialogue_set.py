"""The evaluation set of dialogues is well-formed: what a probe expects was really said, and by nobody else."""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice

import pytest

from evals import dialogue_set
from evals.dialogue_judge import REPLACED, Answer, figures, judge, tokens
from evals.dialogue_noise import OTHER_PROJECTS, noise
from evals.dialogue_set import CATEGORIES, DAY_MS, LANGUAGES, Probe, Project, Turn
from memlayer.edge.capture.payload import clean

SILENT = {"small_talk", "off_topic", "never_discussed", "other_project"}
HEAD = "[Memory context]\nNotes that were kept.\n"
_HANGUL = re.compile("[가-힣]")


@pytest.fixture(scope="module")
def projects() -> list[Project]:
    return dialogue_set.load()


@pytest.fixture(scope="module")
def probes(projects: list[Project]) -> list[Probe]:
    return dialogue_set.chosen(projects, "all", ())


@pytest.fixture(scope="module")
def turns(projects: list[Project]) -> dict[str, Turn]:
    return {turn.id: turn for project in projects for turn in project.turns}


def said(turn: Turn) -> str:
    """The turn as it is stored, compared as the judge compares."""
    return " ".join((clean(turn.prompt) + "\n" + clean(turn.answer)).split()).casefold()


def holds(text: str, wanted: str) -> bool:
    return " ".join(wanted.split()).casefold() in text


def test_it_is_large_enough(projects: list[Project], probes: list[Probe], turns: dict[str, Turn]) -> None:
    assert len(projects) >= 6
    assert len({(turn.id.split("/")[0], turn.session) for turn in turns.values()}) >= 40
    assert len(turns) >= 330
    assert len(probes) >= 200
    moments = [turn.at_ms for turn in turns.values()]
    assert max(moments) - min(moments) >= 50 * DAY_MS


def test_ids_are_unique(projects: list[Project], probes: list[Probe]) -> None:
    for ids in (
        [probe.id for probe in probes],
        [turn.id for project in projects for turn in project.turns],
        [project.name for project in projects],
    ):
        assert [name for name, count in Counter(ids).items() if count > 1] == []


def test_a_session_belongs_to_one_project_and_time_runs_forward(projects: list[Project]) -> None:
    owners: dict[str, str] = {}
    for project in projects:
        for earlier, later in zip(project.turns, project.turns[1:], strict=False):
            assert earlier.at_ms < later.at_ms, later.id
        for turn in project.turns:
            assert owners.setdefault(turn.session, project.name) == project.name


def test_each_split_is_about_half_and_has_every_category(probes: list[Probe]) -> None:
    by_split = Counter(probe.split for probe in probes)
    assert set(by_split) == {"dev", "test"}
    assert abs(by_split["dev"] - by_split["test"]) <= len(probes) // 10
    for split in by_split:
        assert {probe.category for probe in probes if probe.split == split} == set(CATEGORIES)
        assert {probe.language for probe in probes if probe.split == split} == set(LANGUAGES)


def test_what_a_probe_expects_stands_in_the_turn_it_names(probes: list[Probe], turns: dict[str, Turn]) -> None:
    for probe in probes:
        if probe.silence:
            continue
        assert probe.any_of or probe.all_of, probe.id
        assert probe.source.split("/")[0] == probe.project, probe.id
        text = said(turns[probe.source])
        missing = [one for one in (*probe.any_of, *probe.all_of) if not holds(text, one)]
        assert not missing, (probe.id, missing)


def test_an_expected_string_tells_the_answer_from_the_rest(projects: list[Project], turns: dict[str, Turn]) -> None:
    """Few other turns of the project hold it, so that it cannot be there by chance."""
    for project in projects:
        for probe in project.probes:
            if probe.silence:
                continue
            others = [
                turn.id
                for turn in project.turns
                if turn.id != probe.source
                and all(holds(said(turn), one) for one in probe.all_of)
                and (not probe.any_of or any(holds(said(turn), one) for one in probe.any_of))
            ]
            assert len(others) <= 3, (probe.id, others)


def test_a_silent_probe_expects_nothing_and_its_category_says_so(probes: list[Probe]) -> None:
    for probe in probes:
        if probe.silence:
            assert not (probe.any_of or probe.all_of or probe.source), probe.id
            assert probe.category in SILENT | {"command"}, probe.id
        else:
            assert probe.category not in SILENT, probe.id


def test_forbidden_strings_stand_where_the_probe_says(probes: list[Probe], turns: dict[str, Turn]) -> None:
    for probe in probes:
        assert bool(probe.forbid) == bool(probe.forbid_source), probe.id
        assert bool(probe.forbid) == (probe.category in ("changed_fact", "other_project")), probe.id
        if not probe.forbid:
            continue
        assert any(holds(said(turns[probe.forbid_source]), one) for one in probe.forbid), probe.id
        owner = probe.forbid_source.split("/")[0]
        if probe.category == "other_project":
            own = [said(turn) for turn in turns.values() if turn.id.split("/")[0] == probe.project]
            assert owner != probe.project, probe.id
            assert not [one for one in probe.forbid if any(holds(text, one) for text in own)], probe.id
        else:
            assert owner == probe.project, probe.id
            assert turns[probe.forbid_source].at_ms < turns[probe.source].at_ms, probe.id


def test_only_follow_ups_have_turns_before_them(probes: list[Probe]) -> None:
    for probe in probes:
        assert (1 <= len(probe.context) <= 2) == (probe.category == "follow_up"), probe.id
        for prompt, answer in probe.context:  # the session itself must not give the answer away
            text = " ".join((prompt + " " + answer).split()).casefold()
            assert not [one for one in (*probe.any_of, *probe.all_of) if holds(text, one)], probe.id


def test_a_repeated_question_was_asked_three_to_five_times_before(projects: list[Project]) -> None:
    for project in projects:
        short = [turn.prompt for turn in project.turns if len(turn.prompt) < 70]
        for probe in project.probes:
            if probe.category == "repeated_question" and probe.id.endswith("1"):
                words = set(re.findall(r"\w{2,}", probe.prompt.casefold()))
                asked = [one for one in short if len(words & set(re.findall(r"\w{2,}", one.casefold()))) >= 2]
                assert len(asked) >= 3, (probe.id, asked)


def test_languages_are_what_they_say(probes: list[Probe], turns: dict[str, Turn]) -> None:
    for probe in probes:
        if probe.language == "en":
            assert not _HANGUL.search(probe.prompt), probe.id
        else:
            assert _HANGUL.search(probe.prompt), probe.id
        source = turns.get(probe.source)
        if source is not None and probe.category == "cross_ko_en":
            assert probe.language == "ko" and not _HANGUL.search(source.prompt + source.answer), probe.id
        if source is not None and probe.category == "cross_en_ko":
            assert probe.language == "en" and _HANGUL.search(source.answer), probe.id


def test_noise_answers_no_probe_and_is_spread(projects: list[Project], probes: list[Probe]) -> None:
    made = list(islice(noise(projects, 4000, dialogue_set.last_ms(projects)), 2000))
    assert len(made) == 2000
    texts = [(turn.prompt + "\n" + turn.answer).casefold() for _, turn in made]
    strings = {one.casefold() for probe in probes for one in (*probe.any_of, *probe.all_of, *probe.forbid)}
    assert not [one for one in strings if any(one in text for text in texts)]
    assert len(set(texts)) > 1900
    assert {name for name, _ in made} >= {project.name for project in projects}
    assert len({name for name, _ in made}) == len(projects) + OTHER_PROJECTS
    moments = [turn.at_ms for _, turn in made]
    assert max(moments) - min(moments) > 50 * DAY_MS
    assert made == list(islice(noise(projects, 4000, dialogue_set.last_ms(projects)), 2000))


def test_the_last_turn_is_shifted_to_yesterday(projects: list[Project]) -> None:
    now_ms = dialogue_set.last_ms(projects) + 1000 * DAY_MS + 5_000
    shifted = dialogue_set.last_ms(projects) + dialogue_set.shift_ms(projects, now_ms)
    assert DAY_MS <= now_ms - shifted < 2 * DAY_MS


def probe(**fields: object) -> Probe:
    """A probe that expects 포트 5433 and forbids 5432, unless told otherwise."""
    given: dict[str, object] = {
        "id": "x", "project": "p", "split": "dev", "category": "changed_fact", "language": "ko", "prompt": "포트?",
        "silence": False, "any_of": ("포트 5433",), "all_of": (), "forbid": ("5432",), "source": "", "context": (),
        "forbid_source": "", **fields,
    }  # fmt: skip
    return Probe(**given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("lines", "right", "forbidden"),
    [
        ("- [mem:aaaaaa] 2026-11-21: 이제 포트  5433 입니다", True, ()),
        ("- [mem:aaaaaa] 2026-11-21: 포트는 5432 입니다", False, ("5432",)),
        ("- [mem:aaaaaa] 2026-11-21: 포트 5433\n- [mem:bbbbbb] 2026-11-20: 예전 5432", True, ("5432",)),
        ("- [mem:aaaaaa] 2026-11-21: 5432 에서 포트 5433 으로", True, ()),
        (
            "- [mem:aaaaaa] 2026-11-21: 포트 5433\n- [mem:bbbbbb] 2026-11-20: (older; newer: [mem:aaaaaa]) 5432",
            True,
            (),
        ),
    ],
)
def test_judging_a_changed_fact(lines: str, right: bool, forbidden: tuple[str, ...]) -> None:
    verdict = judge(Answer(probe(), (HEAD + lines,)))
    assert (verdict.right, verdict.forbidden) == (right, forbidden)


def test_a_mark_is_not_any_use_of_the_word() -> None:
    assert not REPLACED.search("- [mem:aaaaaa] 2026-11-21: we replaced Puppeteer")


def test_judging_silence_and_follow_ups() -> None:
    quiet = probe(category="small_talk", silence=True, any_of=(), forbid=())
    assert judge(Answer(quiet, ("",))).passed
    assert not judge(Answer(quiet, (HEAD + "- [mem:aaaaaa] 2026-11-21: x",))).passed
    earlier = Answer(probe(category="follow_up", forbid=()), (HEAD + "- [mem:aaaaaa] 2026-11-21: 포트 5433", ""))
    assert judge(earlier).right
    assert not judge(Answer(probe(any_of=("kept",), forbid=()), (HEAD,))).right  # the explanation is no memory


def test_figures_count_what_is_due() -> None:
    right = Answer(probe(), (HEAD + "- [mem:aaaaaa] 2026-11-21: 포트 5433",), source_cited=True)
    wrong = Answer(probe(id="y"), ("",))
    loud = Answer(
        probe(id="z", category="off_topic", silence=True, any_of=(), forbid=()),
        (HEAD + "- [mem:aaaaaa] 2026-11-21: x",),
    )
    found = figures([right, wrong, loud])
    assert (found["all"]["right"], found["all"]["answers_due"], found["all"]["right_percent"]) == (1, 2, 50.0)
    assert (found["all"]["silent"], found["all"]["silence_due"]) == (0, 1)
    assert found["by_category"]["off_topic"]["right_percent"] is None
    assert found["failed"] == ["y", "z"]
    assert found["all"]["tokens_a_day"] == round(100 * (tokens(right.block) + tokens(loud.block)) / 3)


def test_tokens_weigh_hangul_more() -> None:
    assert tokens("abcd" * 10) == 10
    assert tokens("가" * 17) == pytest.approx(10)
