"""What a template makes of a decision's arguments, and what it demands of them: no database."""

from collections.abc import Mapping
from typing import Any

from ctxhub.core.kit.errors import InvalidInput, shown, shown_all
from ctxhub.core.kit.unset import UNSET
from ctxhub.core.text.patterns import check_pattern
from memory.decisions.inputs.decisions import DecisionArguments
from memory.decisions.inputs.template_patterns import matches
from memory.decisions.inputs.templates import SHAPES, is_empty
from memory.decisions.selectors.builtin_templates import TEXT, Template

ARGUMENTS = ("key", "value", *SHAPES, "expected_version")


def with_defaults(template: Template, said: DecisionArguments) -> DecisionArguments:
    """The arguments, and the template's where the caller said nothing; tags and metadata of both."""
    given: dict[str, Any] = {name: value for name, value in said.items() if value is not UNSET}
    both: dict[str, Any] = {**template.defaults, **given}
    if "tags" in given:
        both["tags"] = [*template.defaults.get("tags", ()), *(given["tags"] or ())]
    if given.get("metadata") is not None:
        both["metadata"] = {**template.defaults.get("metadata", {}), **given["metadata"]}
    arguments: Any = both
    whole: DecisionArguments = arguments
    return whole


def check_required(template: Template, said: Mapping[str, Any]) -> None:
    """Raise InvalidInput unless the arguments hold all that the template requires, each as it has to be."""
    if missing := [name for name in template.require if is_empty(_said(name, said))]:
        raise InvalidInput(
            f"The template {template.name!r} needs {', '.join(missing)}.",
            missing=missing,
            hint=_where(missing),
        )
    wrong = []
    for field, pattern in template.patterns.items():
        check_pattern(pattern, f"patterns of the template {template.name!r}: that of {shown(field)}")
        value = _said(field, said)
        if not is_empty(value) and not matches(pattern, value):
            wrong.append(f"{field} {shown(value)} has to match {pattern}")
    if wrong:
        raise InvalidInput(f"The template {template.name!r} refuses it: {'; '.join(wrong)}.")


def _said(name: str, said: Mapping[str, Any]) -> Any:
    """What the caller said of a field: an argument, `text` for all that it says in words, else metadata."""
    if name in ARGUMENTS:
        return said.get(name)
    metadata = said.get("metadata") or {}
    if name == TEXT and TEXT not in metadata:
        return "\n".join(str(said[part]) for part in ("value", "rationale") if not is_empty(said.get(part)))
    return metadata.get(name)


def _where(missing: list[str]) -> str:
    in_metadata = [name for name in missing if name not in ARGUMENTS]
    return f"In metadata: {shown_all(in_metadata)}." if in_metadata else ""
