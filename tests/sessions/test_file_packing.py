"""Packing of files into a token budget."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessions.accesses.models import Mode
from sessions.prioritize.packing import FileLink, Form, PackedFile, Pull, in_order, pack, pulls

Sizes = dict[int, tuple[int, int]]


def file(
    row_id: int, score: int, tokens: int | None, *, path: str = "", reference: int = 10, has_text: bool = True
) -> PackedFile:
    return PackedFile(row_id, path or f"f{row_id}", score, tokens, reference, has_text and tokens is not None)


def packed(files: Sequence[PackedFile], budget: int, sizes: Sizes) -> dict[int, Form]:
    return pack(files, budget, lambda each: sizes[each.id])


@pytest.mark.parametrize(
    ("budget", "expected"),
    [
        (100, Form(Mode.FULL, 100)),
        (99, Form(Mode.COMPRESSED, 80)),
        (79, Form(Mode.DIGEST, 30)),
        (29, Form(Mode.REFERENCE, 10)),
        (9, None),
        (0, None),
    ],
)
def test_the_fullest_form_that_fits(budget: int, expected: Form | None) -> None:
    assert packed([file(1, 50, 100)], budget, {1: (80, 30)}).get(1) == expected


def test_files_with_a_higher_score_come_first() -> None:
    forms = packed([file(1, 20, 60), file(2, 90, 60)], 100, {1: (50, 30)})
    assert forms == {2: Form(Mode.FULL, 60), 1: Form(Mode.DIGEST, 30)}


def test_what_does_not_fit_leaves_room_for_what_does() -> None:
    forms = packed([file(1, 90, 60, reference=50), file(2, 20, 5)], 30, {1: (55, 52)})
    assert forms == {2: Form(Mode.FULL, 5)}


def test_equal_scores_are_ordered_by_score_for_each_token_and_then_by_path() -> None:
    files = [file(1, 5, 9, path="b"), file(2, 5, 8, path="z"), file(3, 5, 9, path="a"), file(4, 5, 0)]
    assert [each.id for each in in_order(files)] == [4, 2, 3, 1]


def test_an_empty_file_is_full_also_in_a_budget_of_nothing() -> None:
    assert packed([file(1, 0, 0)], 0, {}) == {1: Form(Mode.FULL, 0)}


def test_a_file_of_unknown_size_is_a_reference_and_never_free() -> None:
    assert packed([file(1, 90, None)], 1_000, {}) == {1: Form(Mode.REFERENCE, 10)}
    assert packed([file(1, 90, None)], 9, {}) == {}


def test_a_file_without_its_text_is_full_or_a_reference() -> None:
    files = [file(1, 90, 50, has_text=False)]
    assert [packed(files, budget, {}) for budget in (50, 49)] == [
        {1: Form(Mode.FULL, 50)},
        {1: Form(Mode.REFERENCE, 10)},
    ]


def test_a_file_that_there_is_no_room_to_name_is_not_shortened() -> None:
    assert packed([file(1, 90, 50)], 9, {}) == {}


# -- Strong dependencies ---------------------------------------------------------------------------


@pytest.mark.parametrize(("strength", "expected"), [(2, {}), (3, {2: Pull(50, 1)}), (9, {2: Pull(50, 1)})])
def test_a_strong_link_pulls_its_target_in_at_a_share_of_the_score(
    strength: int, expected: dict[int, Pull]
) -> None:
    assert pulls({1: 63}, [FileLink(1, 2, strength)]) == expected


def test_the_best_of_several_sources_counts_and_a_file_does_not_pull_itself() -> None:
    links = [FileLink(1, 3, 3), FileLink(2, 3, 5), FileLink(3, 3, 9), FileLink(9, 3, 9)]
    assert pulls({1: 50, 2: 100, 3: 10}, links) == {3: Pull(80, 2)}


# -- Any files -------------------------------------------------------------------------------------

sizes = st.integers(0, 60)
forms = st.tuples(st.integers(0, 100), st.none() | sizes, sizes, sizes, st.integers(1, 30), st.booleans())


@settings(max_examples=1_000)
@given(st.lists(forms, max_size=12), st.integers(0, 300))
def test_the_sum_never_exceeds_the_budget_and_no_form_could_be_fuller(
    drawn: list[tuple[int, int | None, int, int, int, bool]], budget: int
) -> None:
    files = [
        file(n, score, tokens, reference=reference, has_text=has_text)
        for n, (score, tokens, _, _, reference, has_text) in enumerate(drawn)
    ]
    shorter = {n: (compressed, digest) for n, (_, _, compressed, digest, _, _) in enumerate(drawn)}
    found = packed(files, budget, shorter)
    left = budget - sum(form.tokens for form in found.values())
    assert left >= 0
    for each in files:
        form = found.get(each.id)
        for tokens in fuller(each, form, shorter[each.id]):
            assert tokens > left + (form.tokens if form else 0)


def fuller(each: PackedFile, form: Form | None, shorter: tuple[int, int]) -> list[int]:
    """The tokens of the forms that are fuller than this one."""
    known = {Mode.FULL: each.tokens} if each.tokens is not None else {}
    if each.has_text and form:
        known |= {Mode.COMPRESSED: shorter[0], Mode.DIGEST: shorter[1]}
    known[Mode.REFERENCE] = each.reference_tokens
    return [tokens for mode, tokens in known.items() if form is None or mode < form.mode]
