"""Which tables could be sharded by project with Citus, and what each would need; read from the models.

    python -m benchmarks.sizing.distribution [--check]

It writes the tables of docs/sizing.md and docs/sizing/tables.md; `--check` only tells whether they are right.

Citus wants the column by which a table is sharded in each of its unique keys, and in each foreign key between
two such tables. A reference table needs neither: every node has a copy. It refers to no sharded table.
"""

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from benchmarks.report import table

ROOT = Path(__file__).resolve().parents[2]
PAGE, LIST = ROOT / "docs" / "sizing.md", ROOT / "docs" / "sizing" / "tables.md"
PROJECT = "project_id"
# Read before a project is chosen: of which a person is a member.
ASKED_WITHOUT_PROJECT = {"core_membership"}
Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reference:
    """A foreign key: its column, and the table that it refers to. The key has that column alone."""

    column: str
    to: str
    is_enforced: bool


@dataclass(frozen=True)
class Place:
    """A table: its unique keys besides that of its id, and why it cannot be sharded; "" if it can."""

    name: str
    unique: Sequence[Key]
    references: Sequence[Reference]
    why_everywhere: str

    @property
    def is_sharded(self) -> bool:
        return not self.why_everywhere

    @cached_property
    def narrow(self) -> Sequence[Key]:
        """The unique keys without the project."""
        return [key for key in self.unique if PROJECT not in key]


@dataclass(frozen=True)
class Plan:
    """All tables, by name."""

    tables: Sequence[Place]

    @cached_property
    def sharded(self) -> Sequence[Place]:
        return [each for each in self.tables if each.is_sharded]

    @cached_property
    def everywhere(self) -> Sequence[Place]:
        return [each for each in self.tables if not each.is_sharded]

    @cached_property
    def _names(self) -> set[str]:
        return {each.name for each in self.sharded}

    def to_widen(self, place: Place) -> Sequence[Reference]:
        """The foreign keys between sharded tables: each needs the project, and none has it."""
        return [each for each in place.references if place.is_sharded and each.to in self._names]

    def to_drop(self) -> Iterator[tuple[Place, Reference]]:
        """The foreign keys from a table that is everywhere to a sharded one, which Citus does not have."""
        for place in self.everywhere:
            for each in place.references:
                if each.to in self._names and each.is_enforced:
                    yield place, each


def plan() -> Plan:
    """Needs Django to be set up, with the apps of the web."""
    from django.apps import apps

    models = apps.get_models(include_auto_created=True)
    return Plan(sorted((_place(model) for model in models), key=lambda one: one.name))


def _place(model: Any) -> Place:
    meta = model._meta
    if meta.pk.column not in {"id", *(field.column for field in meta.concrete_fields if field.one_to_one)}:
        # Django's sessions alone.
        assert meta.db_table == "django_session", f"{meta.db_table} has another primary key than id"
    unique = sorted(_unique_keys(meta))
    references = [
        Reference(field.column, field.related_model._meta.db_table, field.db_constraint)
        for field in meta.concrete_fields
        if field.many_to_one or field.one_to_one
    ]
    named = {each.column for each in references}
    project = next((field for field in meta.concrete_fields if field.column == PROJECT), None)
    # What a call knows before its project: a token, a link, a code.
    without = [key[0] for key in unique if len(key) == 1 and key[0] not in named]
    if project is None:
        why = "no project"
    elif project.null:
        why = "a project is not known at first"
    elif without:
        why = f"found by {', '.join(without)} alone"
    else:
        why = "read for a person" if meta.db_table in ASKED_WITHOUT_PROJECT else ""
    return Place(meta.db_table, unique, references, why)


def _unique_keys(meta: Any) -> Iterator[Key]:
    from django.db.models import UniqueConstraint

    for field in meta.concrete_fields:
        if field.unique and field.column != "id":
            yield (field.column,)
    groups = [*meta.unique_together]
    groups += [each.fields for each in meta.constraints if isinstance(each, UniqueConstraint)]
    for names in groups:
        if not names:
            raise ValueError(f"{meta.db_table} has a unique key of expressions, which is not understood here")
        yield tuple(meta.get_field(name).column for name in names)


# -- As tables -------------------------------------------------------------------------------------


def summary(found: Plan) -> str:
    keys = [key for place in found.sharded for key in place.unique]
    narrow = [key for place in found.sharded for key in place.narrow]
    enforced = [each for place in found.sharded for each in found.to_widen(place) if each.is_enforced]
    outward = sum(len(place.references) - len(found.to_widen(place)) for place in found.sharded)
    dropped = [f"`{place.name}.{each.column}`" for place, each in found.to_drop()]
    return table(
        ["", "how many", "as they are", "to be changed"],
        [
            [
                "tables sharded by project",
                f"{len(found.sharded)}",
                "all have `project_id`, never null",
                "none",
            ],
            ["their primary keys", f"{len(found.sharded)}", "0", "all: `(project_id, id)` for `id`"],
            ["their other unique keys", f"{len(keys)}", f"{len(keys) - len(narrow)}", f"{len(narrow)}"],
            ["foreign keys between them", f"{len(enforced)}", "0", "all: `(project_id, x_id)` for `x_id`"],
            ["foreign keys to tables on every node", f"{outward}", "all", "none"],
            ["tables on every node", f"{len(found.everywhere)}", "all", "none"],
            [
                "foreign keys from these to sharded ones",
                f"{len(dropped)}",
                "0",
                f"dropped: {', '.join(dropped)}",
            ],
        ],
    )


def everywhere(found: Plan) -> str:
    reasons = dict.fromkeys(place.why_everywhere for place in found.everywhere)
    return table(
        ["on every node, or on one", "because of"],
        [
            [", ".join(f"`{place.name}`" for place in found.everywhere if place.why_everywhere == why), why]
            for why in reasons
        ],
    )


def every_table(found: Plan) -> str:
    return table(
        ["sharded table", "unique keys with the project", "without it", "foreign keys that need it"],
        [
            [
                f"`{place.name}`",
                _keys([key for key in place.unique if PROJECT in key]),
                _keys(place.narrow),
                ", ".join(
                    f"`{each.column}`" + ("" if each.is_enforced else " (not enforced)")
                    for each in found.to_widen(place)
                ),
            ]
            for place in found.sharded
        ],
    )


def _keys(keys: Sequence[Key]) -> str:
    return "; ".join(f"`{', '.join(key)}`" for key in keys)


def made(found: Plan) -> dict[Path, dict[str, str]]:
    """The tables of each page, by the name of their place."""
    return {
        PAGE: {"keys": summary(found), "everywhere": everywhere(found)},
        LIST: {"tables": every_table(found)},
    }


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sizing.distribution")
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit with 1 if a page is not current"
    )
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ctxhub.settings")
    os.environ["CTXHUB_WEB"] = "true"
    import django

    django.setup()
    from benchmarks.sizing.places import fill_places

    stale = []
    for page, tables in made(plan()).items():
        old = page.read_text()
        new = fill_places(old, tables)
        if new != old:
            stale.append(page.relative_to(ROOT))
            if not options.check:
                page.write_text(new)
    for page in stale:
        print(f"{page} {'is not current' if options.check else 'is written'}.")
    return 1 if stale and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
