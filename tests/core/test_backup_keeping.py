"""Which backups a rule keeps, and what is removed from a folder."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxhub.management.backups.archive import describe, write_archive
from ctxhub.management.backups.folders import dated_name, remove_superseded
from ctxhub.management.backups.keeping import BadRule, Part, kept, read_rule
from ctxhub.management.backups.manifest import KEY, Manifest

NOW = datetime(2026, 11, 27, 12, tzinfo=UTC)
DATABASE = "database.dump"
times = st.lists(st.integers(0, 4_000_000).map(lambda minutes: NOW - timedelta(minutes=minutes)), max_size=60)
rules = st.lists(
    st.builds(Part, st.integers(1, 20), st.sampled_from("dwmy")),
    min_size=1,
    max_size=4,
    unique_by=lambda part: part.unit,
)
PERIODS: dict[str, Callable[[datetime], object]] = {
    "d": datetime.date,
    "w": lambda at: (at - timedelta(days=at.weekday())).date(),
    "m": lambda at: at.strftime("%Y-%m"),
    "y": lambda at: at.year,
}


@given(times, rules)
def test_each_part_keeps_the_newest_of_its_periods(found: list[datetime], rule: list[Part]) -> None:
    keeps = kept(found, rule)
    assert keeps <= {*found}
    for part in rule:
        period = PERIODS[part.unit]
        newest = {period(at): at for at in sorted(found)}  # The later one of each period stays.
        assert {*sorted(newest.values())[-part.count :]} <= keeps
    assert len(keeps) <= sum(part.count for part in rule)


@given(times.filter(bool), rules)
def test_the_newest_stays_under_any_rule(found: list[datetime], rule: list[Part]) -> None:
    assert max(found) in kept(found, rule)


@given(times, rules)
def test_what_is_kept_is_kept_again(found: list[datetime], rule: list[Part]) -> None:
    """So that nothing is lost by repeating it, nor by time that passes without a backup."""
    once = kept(found, rule)
    assert kept(once, rule) == once


def test_a_daily_backup_leaves_seven_days_and_four_weeks() -> None:
    """Taken day by day, as a timer does."""
    left: set[datetime] = set()
    for day in range(100):
        left = kept({*left, NOW + timedelta(days=day)}, read_rule("7d,4w"))
    last = NOW + timedelta(days=99)
    days = {last - timedelta(days=days) for days in range(7)}
    sundays = {last - timedelta(days=last.weekday() + 1, weeks=weeks) for weeks in range(3)}
    assert left == days | sundays


def test_a_rule_is_read() -> None:
    assert read_rule("7d, 4w,12m,2y") == [Part(7, "d"), Part(4, "w"), Part(12, "m"), Part(2, "y")]


@pytest.mark.parametrize("text", ["", "7", "d", "0d", "-1d", "7x", "7d;4w", "7d,", "7d,3d", "99999d", "٣d"])
def test_a_rule_that_cannot_be_read_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(BadRule, match="7d,4w,12m,2y"):
        read_rule(text)


# -- In a folder -----------------------------------------------------------------------------------


def backup_in(folder: Path, at: datetime, *, hub: str = "ours", name: str = "") -> Path:
    (folder / "content").write_text("content")
    member = describe(folder / "content")
    manifest = Manifest("1", "postgresql", hub, at, "", 0, (), {}, {KEY: member, DATABASE: member})
    path = folder / (name or dated_name(at))
    path.touch()
    write_archive(path, manifest, {KEY: folder / "content", DATABASE: folder / "content"})
    (folder / "content").unlink()
    return path


def test_only_the_dated_backups_of_the_hub_are_removed(tmp_path: Path) -> None:
    days = [NOW - timedelta(days=days) for days in range(5)]
    ours = [backup_in(tmp_path, at) for at in days]
    others = [
        backup_in(tmp_path, NOW - timedelta(days=20), name="by-hand.tar"),
        backup_in(tmp_path, NOW - timedelta(days=21), hub="theirs"),
        backup_in(tmp_path, NOW - timedelta(days=22), name=dated_name(NOW - timedelta(days=23))),
        tmp_path / "ctxhub-2026-11-01T000000Z.tar",
        tmp_path / "notes.txt",
    ]
    others[3].write_text("no backup")
    others[4].write_text("notes")
    link = tmp_path / dated_name(NOW - timedelta(days=30))
    link.symlink_to(ours[0])
    removed = remove_superseded(tmp_path, read_rule("2d"), hub="ours")
    assert removed == ours[:1:-1]
    assert {*tmp_path.iterdir()} == {*ours[:2], *others, link}


def test_a_torn_one_does_not_take_the_place_of_a_good_one(tmp_path: Path) -> None:
    good, torn = (backup_in(tmp_path, NOW - timedelta(hours=hours)) for hours in (5, 1))
    torn.write_bytes(torn.read_bytes()[:-600])
    assert remove_superseded(tmp_path, read_rule("1d"), hub="ours") == []
    assert good.exists()


def test_a_hub_without_an_id_removes_nothing(tmp_path: Path) -> None:
    for days in range(3):
        backup_in(tmp_path, NOW - timedelta(days=days), hub="")
    assert remove_superseded(tmp_path, read_rule("1d"), hub="") == []
