"""Imports of databases of other programs."""

from datetime import UTC, datetime
from pathlib import Path

from tests.golden.hour import Hour
from tests.importing.old_knowledge import OldKnowledge
from tests.importing.old_pads import OldPads
from tests.sqlew.importing import imported
from tests.sqlew.old_file import OldFile

THEN = datetime(2026, 3, 1, 12, tzinfo=UTC)


def import_all_twice(hour: Hour, folder: Path) -> None:
    """Import each file twice: the second import finds all rows."""
    hour.chapter("Imported")
    for command, file in (
        ("import_sqlew", _old_file(folder)),
        ("import_free_context", _old_knowledge(folder)),
        ("import_scratchpads", _old_pads(folder)),
    ):
        for _ in range(2):
            hour.does("somebody", f"runs {command}", lambda: _report(file, command))  # noqa: B023


def _report(file: Path, command: str) -> str:
    return imported(file, command=command).text.replace(str(file.parent), "FOLDER").strip()


def _old_file(folder: Path) -> Path:
    old = OldFile(folder / "sqlew.db", 3)
    labels = {"tags": ["api", "old"], "scopes": ["old"]}
    old.decision("old/text", "v", layer="data", at=THEN, **labels)  # type: ignore[arg-type]
    old.past("old/text", "was", agent="ben", at=THEN)
    old.why("old/text", "So.", ["Nothing"], {"pros": ["x"]})
    old.decision("old/number", 5, agent="cyd", status=2, at=THEN)
    old.decision("db/engine", "Oracle", at=THEN)
    old.constraint("Must hold.", tags=["api"], layer="business", at=THEN)
    old.message("Look.", to="ben", at=THEN)
    old.message(payload='"All"', at=THEN)
    old.change("src/old.py", description="d", layer="data", at=THEN)
    return old.close()


def _old_knowledge(folder: Path) -> Path:
    old = OldKnowledge(folder / "context.db")
    old.context(tags=["api"], stack="React", description="Of old.")
    old.memory(metadata={"tags": ["hooks"], "a": 1})
    old.memory("m2", title="Effects", content="useEffect runs after render.", difficulty="hard")
    old.memory("m3", content="")
    old.relationship("m1", "m2", "depends_on", 80)
    old.relationship("m1", "nosuch")
    return old.close()


def _old_pads(folder: Path) -> Path:
    old = OldPads(folder / "scratchpad.db", "program")
    old.workflow()
    old.workflow("w2", name="Closed", is_active=0)
    old.pad()
    old.pad("more", "one\ntwo", "w2")
    old.pad("lost", "x", "nosuch")
    return old.close()
