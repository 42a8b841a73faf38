"""How far the code of an operation is spread: `python -m benchmarks.journey [decision.set brief.for ...]`.

Follows one call of each operation through the project's own functions, after a first call that loads what is
loaded once. `files` and `folders`: those that it enters; `functions`: how many different ones; `moves`:
calls of a function that lies in another folder than its caller. `--list`: the files in the order of entering.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

from benchmarks.databases import Engine, databases
from benchmarks.inside import connected

if TYPE_CHECKING:
    from ctxhub.core.kit.caller import Caller

ROOT = Path(__file__).parent.parent
APPS = ("ctxhub", "memory", "messaging", "tracking", "sessions")
CALLS: dict[str, dict[str, Any]] = {
    "decision.set": {"key": "db/engine", "value": "PostgreSQL", "tags": ["database"], "paths": ["src/db/"]},
    "decision.list": {"status": "active"},
    "memory.add": {"context": "Shop", "title": "Retries", "content": "Payments are retried three times."},
    "message.send": {"to": ["ben"], "text": "See decision:db/engine."},
    "file.lease": {"paths": ["src/db/"]},
    "search": {"query": "which database"},
    "brief": {"task": "change the database"},
}


@dataclass
class Journey:
    """What a call has entered. `files` in order, from the project's root."""

    files: dict[str, None] = field(default_factory=dict)
    functions: set[CodeType] = field(default_factory=set)
    moves: int = 0

    @property
    def folders(self) -> set[str]:
        return {_folder(file) for file in self.files}

    def enter(self, frame: FrameType) -> None:
        file = _own(frame)
        if not file:
            return
        self.files.setdefault(file)
        self.functions.add(frame.f_code)
        caller = frame.f_back
        while caller is not None and not (origin := _own(caller)):
            caller = caller.f_back
        self.moves += caller is not None and _folder(origin) != _folder(file)


@contextmanager
def followed() -> Iterator[Journey]:
    """The journey of what is called inside, in this thread."""
    journey = Journey()

    def profile(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            journey.enter(frame)

    sys.setprofile(profile)
    try:
        yield journey
    finally:
        sys.setprofile(None)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.journey")
    parser.add_argument("operations", nargs="*", metavar="operation", help=f"default: {' '.join(CALLS)}")
    parser.add_argument(
        "--arguments", type=json.loads, help="as JSON, of an operation that is not among them"
    )
    parser.add_argument("--list", action="store_true", help="also the files")
    options = parser.parse_args()
    with databases(Engine.SQLITE) as factory, connected(factory.empty(), web=True):
        caller = _caller()
        print("| operation | files | folders | functions | moves |\n|---|---|---|---|---|")
        for operation in options.operations or CALLS:
            arguments = options.arguments or CALLS.get(operation, {})
            journey = _journey(caller, operation, arguments)
            print(
                f"| {operation} | {len(journey.files)} | {len(journey.folders)} |"
                f" {len(journey.functions)} | {journey.moves} |"
            )
            if options.list:
                print("".join(f"    {file}\n" for file in journey.files))


def _caller() -> "Caller":
    from django.core.management import call_command

    from benchmarks.seeding import register
    from ctxhub.core.accounts.projects import create_project
    from ctxhub.core.kit.caller import Caller

    call_command("migrate", verbosity=0)
    project = create_project(slug="bench")
    register(Caller(project=project, agent="ben"))
    return register(Caller(project=project, agent="ada"))


def _journey(caller: "Caller", operation: str, arguments: dict[str, Any]) -> Journey:
    from ctxhub.toolbox.dispatch import call

    tool, _, action = operation.partition(".")
    given = {**arguments, **({"action": action} if action else {})}
    call(caller, tool, _another(given))
    with followed() as journey:
        answer = call(caller, tool, given)
    assert "error" not in answer, answer
    return journey


def _another(arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments of the first call, which writes something else."""
    return {
        name: f"other {value}" if name in ("key", "title", "text") else value
        for name, value in arguments.items()
    }


def _own(frame: FrameType) -> str:
    """The file of the frame from the project's root; "" of other packages'."""
    file = frame.f_code.co_filename
    path = file[len(str(ROOT)) + 1 :] if file.startswith(str(ROOT)) else ""
    return path if path.partition("/")[0] in APPS else ""


def _folder(file: str) -> str:
    return file.rpartition("/")[0]


if __name__ == "__main__":
    main()
