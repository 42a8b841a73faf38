"""The history of a decision: each version with who wrote it, when, and what it changed."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ctxhub.console.fields import LinesField, one_line
from ctxhub.console.text_diff import Piece, diff
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.templatetags.agents import SYSTEM
from memory.decisions.models import DecisionRevision, DecisionStatus, typed_value

if TYPE_CHECKING:
    from memory.decisions.rows import DecisionRow


BAR = " | "


def line_of(alternative: Any) -> str:
    """Return one line for an alternative: a text, or an option and the reason against it."""
    if not isinstance(alternative, dict):
        return one_line(str(alternative))
    why_not = alternative.get("why_not")
    option = one_line(str(alternative.get("option", "")))
    return f"{option}{BAR}{one_line(str(why_not))}" if why_not else option


class AlternativesField(LinesField):
    def line_of(self, entry: Any) -> str:
        return line_of(entry)

    def entry_of(self, line: str) -> Any:
        option, bar, why_not = line.partition(BAR)
        return {"option": option.strip(), "why_not": why_not.strip()} if bar else line


WORDS = ("status", "layer", "superseded_by")
NAMES = ("tags", "scopes", "paths")
TEXTS = ("rationale", "reason")
SHORT = 60


@frozen
class Version:
    """A past or current version of a decision. `state` holds its non-empty fields by their API names."""

    agent: str
    agent_id: int | None
    at: datetime
    state: Mapping[str, Any]


@frozen
class FieldChange:
    """A change of one field: a text diff, or added and removed entries, or the values before and after."""

    name: str
    pieces: Sequence[Piece] = ()
    added: Sequence[str] = ()
    removed: Sequence[str] = ()
    before: str = ""
    after: str = ""

    @property
    def label(self) -> str:
        """Return a readable name of the field; a metadata key is shown unchanged."""
        field, colon, key = self.name.partition(":")
        return f"{field.replace('_', ' ').capitalize()}{colon}{key}"


@frozen
class VersionStep:
    """A version and its changes from the version before it."""

    version: Version
    changes: Sequence[FieldChange]
    is_first: bool
    is_current: bool


# -- Versions --------------------------------------------------------------------------------------


def steps(project_id: int, row: "DecisionRow", *, count: int, skip: int = 0) -> list[VersionStep]:
    """Return up to `count` versions, newest first, after skipping `skip`. Runs one query."""
    # One more than shown, to compare the oldest shown version with.
    older = _revisions(project_id, row)[max(skip - 1, 0) : skip + count]
    versions = [past_version(revision) for revision in older]
    if skip == 0:
        versions.insert(0, current_version(row))
    return list(_steps(versions, count, skip))


def count_versions(project_id: int, row: "DecisionRow") -> int:
    return 1 + DecisionRevision.objects.in_project(project_id).filter(decision_id=row.id).count()


def last_revision_id(project_id: int, row: "DecisionRow") -> int:
    """Return the newest revision id, 0 if none. It changes with every change of the decision."""
    newest = _revisions(project_id, row).values_list("pk", flat=True).first()
    return newest or 0


def version_at(project_id: int, row: "DecisionRow", revision_id: int) -> Version:
    """Return the version that was current when `revision_id` was newest: the next revision, or the row."""
    following = _revisions(project_id, row).filter(pk__gt=revision_id).order_by("pk").first()
    return past_version(following) if following else current_version(row)


def current_version(row: "DecisionRow") -> Version:
    state = {
        "value": row.typed_value,
        "version": row.version,
        "status": row.status_label,
        **row.revision_data,
    }
    return Version(row.agent, row.agent_id, row.updated_at, state)


def past_version(revision: DecisionRevision) -> Version:
    state = {
        "value": typed_value(revision.value, revision.value_type),
        "version": revision.version,
        "status": str(DecisionStatus(revision.status).label),
        **revision.data,
    }
    return Version(revision.agent.name if revision.agent else SYSTEM, revision.agent_id, revision.at, state)


def _revisions(project_id: int, row: "DecisionRow") -> Any:
    revisions = DecisionRevision.objects.in_project(project_id).filter(decision_id=row.id)
    return revisions.select_related("agent").order_by("-pk")


def _steps(versions: Sequence[Version], count: int, skip: int) -> Iterator[VersionStep]:
    for index, version in enumerate(versions[:count]):
        before = versions[index + 1] if index + 1 < len(versions) else None
        changes = changes_between(before.state, version.state) if before else []
        yield VersionStep(version, changes, is_first=before is None, is_current=skip + index == 0)


# -- What changed ----------------------------------------------------------------------------------


def changes_between(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[FieldChange]:
    found = [
        _value_change(old["value"], new["value"]),
        *(_word_change(name, old.get(name), new.get(name)) for name in WORDS),
        *(_list_change(name, old.get(name, []), new.get(name, [])) for name in NAMES),
        *(_text_change(name, old.get(name, ""), new.get(name, "")) for name in TEXTS),
        _list_change("alternatives", *(list(map(line_of, s.get("alternatives", []))) for s in (old, new))),
        *(
            _list_change(side, *(state.get("tradeoffs", {}).get(side, []) for state in (old, new)))
            for side in ("pros", "cons")
        ),
        *_metadata_changes(old.get("metadata", {}), new.get("metadata", {})),
    ]
    return [change for change in found if change]


def _value_change(old: Any, new: Any) -> FieldChange | None:
    if isinstance(old, str) and isinstance(new, str):
        return _text_change("value", old, new)
    if (type(old), old) == (type(new), new):
        return None
    # As JSON a text has quotes, so that a change from "5" to 5 is visible.
    return FieldChange("value", before=_json(old), after=_json(new))


def _text_change(name: str, old: str, new: str) -> FieldChange | None:
    if old == new:
        return None
    pieces = diff(old, new)
    is_short = max(len(old), len(new)) <= SHORT and "\n" not in old + new
    if is_short and not any(piece.kind == "same" for piece in pieces):
        return FieldChange(name, before=old, after=new)
    return FieldChange(name, pieces=pieces)


def _word_change(name: str, old: str | None, new: str | None) -> FieldChange | None:
    return FieldChange(name, before=old or "", after=new or "") if old != new else None


def _list_change(name: str, old: Sequence[str], new: Sequence[str]) -> FieldChange | None:
    added = [entry for entry in new if entry not in old]
    removed = [entry for entry in old if entry not in new]
    if added or removed:
        return FieldChange(name, added=added, removed=removed)
    return FieldChange(name, before="another order", after=", ".join(new)) if list(old) != list(new) else None


def _metadata_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[FieldChange]:
    for key in sorted({*old, *new}):
        if old.get(key) != new.get(key):
            before, after = (_json(side[key]) if key in side else "" for side in (old, new))
            yield FieldChange(f"metadata: {key}", before=before, after=after)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
