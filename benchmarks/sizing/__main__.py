"""`python -m benchmarks.sizing`: measures hubs of 5, 20 and 100 people on both engines."""

import argparse
import sys
import time
from collections.abc import Mapping, Sequence

from benchmarks import machine
from benchmarks.databases import ROOT, Engine
from benchmarks.sizing.arithmetic import measures, needs_table
from benchmarks.sizing.measuring import Measured, measure, place_of, weigh
from benchmarks.sizing.model import Team
from benchmarks.sizing.places import fill_places
from benchmarks.sizing.report import model_tables, tables
from tests.postgres import Stopped, stop_on_signals

PAGE = ROOT / "docs" / "sizing.md"
TEAMS = (5, 20, 100)
# Those of the model alone also show what no machine here can be asked for.
SHOWN = (*TEAMS, 1_000, 500_000)


def main() -> int:
    options = _parser().parse_args()
    stop_on_signals()
    started, facts = time.perf_counter(), machine.describe()
    try:
        measured, weights = _measure(options)
    except Stopped as stopped:
        return 128 + stopped.signum
    made = {
        **model_tables([Team(people) for people in SHOWN]),
        **tables(measured, weights, facts, options.note),
        **_beyond(measured, weights),
    }
    if options.write:
        PAGE.write_text(fill_places(PAGE.read_text(), made))
    for name, table in made.items():
        print(f"<!-- {name} -->\n{table}\n<!-- end -->\n")
    errors = [error for one in measured for error in one.errors]
    for error in errors[:5]:
        print(f"benchmarks: {error}", file=sys.stderr)
    _say(f"{time.perf_counter() - started:.0f} s in all, {len(errors)} errors")
    return 1 if errors else 0


def _measure(options: argparse.Namespace) -> tuple[list[Measured], dict[str, dict[str, int]]]:
    measured, weights = [], {}
    for engine in options.engines:
        with place_of(engine) as place:
            _say(f"what rows take on {engine}")
            weights[str(engine)] = dict(weigh(place, options.rows))
            for people in options.people:
                team = Team(people)
                _say(f"{people} people on {engine}")
                measured.append(
                    measure(
                        place,
                        team,
                        workers=options.workers or (2 if people >= 100 else 1),
                        months=options.months,
                        seconds=options.seconds,
                    )
                )
    return sorted(measured, key=lambda one: one.team.people), weights


def _beyond(measured: Sequence[Measured], weights: Mapping[str, Mapping[str, int]]) -> dict[str, str]:
    """Computed from the largest team that was measured on PostgreSQL, if one was."""
    found = [one for one in measured if one.engine == Engine.POSTGRES]
    if not found:
        return {}
    known = measures(found[-1], weights[Engine.POSTGRES])
    return {"beyond": needs_table([Team(people) for people in SHOWN], known)}


def _say(text: str) -> None:
    print(f"benchmarks: {text}", file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sizing", description="Measure hubs of teams.")
    add = parser.add_argument
    add("--engines", type=_engines, default=list(Engine), help="sqlite,postgres")
    add("--people", type=_numbers, default=list(TEAMS), help="5,20,100")
    add("--workers", type=int, default=0, help="left out: 1, and 2 for 100 people")
    add("--months", type=float, default=1, help="how long the team has decided and remembered")
    add("--rows", type=int, default=1_000, help="of each noun, to see what they take")
    add("--seconds", type=float, default=20, help="how long the rate of a team lasts")
    add("--note", default="", help="a sentence about the measurement, for the page")
    add("--write", action="store_true", help=f"put the tables into {PAGE.relative_to(ROOT)}")
    return parser


def _engines(text: str) -> list[Engine]:
    return [Engine(part) for part in text.split(",")]


def _numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


if __name__ == "__main__":
    sys.exit(main())
