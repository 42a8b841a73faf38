"""Whose call is next: threads are shared by project first, then by person."""

from collections.abc import Iterable

import pytest

from ctxhub.mcp.shares import EXPECTED_SECONDS, Share, Turns

THREADS, SPARE = 8, 4
ADA, BEN, CY = Share("apollo", "ada"), Share("apollo", "ben"), Share("hermes", "cy")


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def turns(clock: Clock) -> Turns[int]:
    return Turns(THREADS, SPARE, clock)


def add(turns: Turns[int], share: Share, times: int) -> list[Share]:
    """Who starts when so many calls come."""
    for number in range(times):
        turns.add(share, number)
    return started(turns)


def started(turns: Turns[int]) -> list[Share]:
    found = []
    while turn := turns.next():
        found.append(turn[0])
    return found


def ended(turns: Turns[int], shares: Iterable[Share]) -> list[Share]:
    """Who starts while these end, one after the other."""
    found = []
    for share in shares:
        turns.end(share)
        found += started(turns)
    return found


def test_alone_a_project_uses_all_threads(turns: Turns[int]) -> None:
    assert add(turns, ADA, 20) == [ADA] * THREADS


def test_another_project_does_not_wait_for_one_that_holds_more_than_half(turns: Turns[int]) -> None:
    add(turns, ADA, 20)
    assert add(turns, CY, 20) == [CY] * SPARE


def test_beside_another_a_project_keeps_to_half(turns: Turns[int]) -> None:
    add(turns, ADA, 20)
    add(turns, CY, 20)
    assert ended(turns, [ADA] * 4) == []
    assert ended(turns, [ADA, CY]) == [ADA, CY]


def test_a_place_is_kept_for_who_was_at_work_lately(turns: Turns[int], clock: Clock) -> None:
    add(turns, CY, 1)
    ended(turns, [CY])
    assert add(turns, ADA, 20) == [ADA] * (THREADS // 2)
    clock.now += EXPECTED_SECONDS + 1
    assert started(turns) == [ADA] * (THREADS // 2)


def test_the_people_of_a_project_share_its_part(turns: Turns[int]) -> None:
    add(turns, CY, 1)
    assert add(turns, ADA, 20) == [ADA] * 4
    assert add(turns, BEN, 20) == [BEN] * 2
    assert ended(turns, [ADA, ADA]) == []
    assert ended(turns, [ADA, BEN]) == [ADA, BEN]


def test_alone_in_the_hub_people_share_all_threads(turns: Turns[int]) -> None:
    assert add(turns, ADA, 20) == [ADA] * 8
    assert add(turns, BEN, 20) == [BEN] * 4


def test_many_tokens_of_a_project_take_no_more_than_one(turns: Turns[int]) -> None:
    add(turns, CY, 1)
    ended(turns, [CY])
    crowd = [Share("apollo", f"person {number}") for number in range(30)]
    assert sum(len(add(turns, one, 1)) for one in crowd) == THREADS // 2
    assert add(turns, CY, 4) == [CY] * 4


def test_who_has_least_at_work_is_next(turns: Turns[int]) -> None:
    shares = [Share(f"project {number}", "one") for number in range(THREADS)]
    for share in shares:
        add(turns, share, 1)
    add(turns, shares[0], 5)
    add(turns, CY, 5)
    assert ended(turns, shares[1:4]) == [CY, shares[0], CY]


def test_those_alike_take_turns(turns: Turns[int]) -> None:
    first, second = Share("a", "one"), Share("b", "one")
    busy = [Share(f"project {number}", "one") for number in range(THREADS)]
    for share in busy:
        add(turns, share, 1)
    add(turns, first, 3)
    add(turns, second, 3)
    assert ended(turns, busy[:4]) == [first, second, first, second]


def test_those_not_seen_for_long_are_forgotten(turns: Turns[int], clock: Clock) -> None:
    for number in range(1_000):
        share = Share(f"project {number % 100}", f"person {number}")
        add(turns, share, 1)
        ended(turns, [share])
        clock.now += 1
    assert sum(map(len, turns._people.values())) <= EXPECTED_SECONDS + 1
    assert len(turns._projects) <= EXPECTED_SECONDS + 1
