"""The built-in templates, and how a template applies to the arguments of a decision. No database access."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from typing import Any

from ctxhub.core.kit.errors import InvalidInput, shown, shown_all
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.unset import UNSET
from ctxhub.core.text.patterns import check_pattern
from memory.decisions.inputs import TRADEOFFS, DecisionArguments
from memory.templates.inputs import SHAPES, is_empty, matches

OWN, BUILT_IN = "own", "built-in"

# A pseudo field for patterns: the value and the rationale of a decision together.
TEXT = "text"


@frozen
class Template:
    """Default arguments, required fields, and patterns that fields must match, for decisions of one kind."""

    name: str
    defaults: Mapping[str, Any] = field(default_factory=dict)
    require: Sequence[str] = ()
    patterns: Mapping[str, str] = field(default_factory=dict)
    origin: str = OWN


TEMPLATES = {
    template.name: template
    for template in (
        Template(
            "architecture_decision",
            {"layer": "infrastructure", "tags": ["architecture", "adr"]},
            ["rationale", "alternatives", "tradeoffs"],
            origin=BUILT_IN,
        ),
        Template(
            "breaking_change",
            {"layer": "business", "tags": ["breaking"]},
            ["rationale", "alternatives"],
            {TEXT: r"(?i)\b(migrat|upgrad)"},
            origin=BUILT_IN,
        ),
        Template("deprecation", {"layer": "business", "tags": ["deprecation"]}, origin=BUILT_IN),
        Template("performance_optimization", {"layer": "business", "tags": ["performance"]}, origin=BUILT_IN),
        Template(
            "security_vulnerability",
            {"layer": "infrastructure", "tags": ["security", "vulnerability"]},
            ["cve_id", "severity"],
            {"cve_id": r"^CVE-\d{4}-\d{4,}$", "severity": "(?i)^(low|medium|high|critical)$"},
            origin=BUILT_IN,
        ),
    )
}


# Of what a model would write otherwise than it is taken.
EXAMPLES = {
    "alternatives": '[{"option": "Redis", "why_not": "One more server."}]',
    "tradeoffs": json.dumps(TRADEOFFS["example"]),
}
ARGUMENTS = ("key", "value", *SHAPES, "expected_version")


def with_defaults(template: Template, arguments: DecisionArguments) -> DecisionArguments:
    """Fill absent arguments with the template's defaults; tags and metadata of both are combined."""
    given: dict[str, Any] = {name: value for name, value in arguments.items() if value is not UNSET}
    combined: Any = {**template.defaults, **given}
    if "tags" in given:
        combined["tags"] = [*template.defaults.get("tags", ()), *(given["tags"] or ())]
    if given.get("metadata") is not None:
        combined["metadata"] = {**template.defaults.get("metadata", {}), **given["metadata"]}
    filled: DecisionArguments = combined
    return filled


def check_required(template: Template, arguments: Mapping[str, Any]) -> None:
    """Raise InvalidInput if a required field is empty or a field does not match its pattern."""
    if missing := [name for name in template.require if is_empty(_value_of(name, arguments))]:
        raise InvalidInput(
            f"The template {template.name!r} needs {', '.join(missing)}.",
            missing=missing,
            hint=" ".join(filter(None, (_metadata_hint(missing), how_to_write(missing)))),
        )
    wrong = []
    for name, pattern in template.patterns.items():
        check_pattern(pattern, f"patterns of the template {template.name!r}: that of {shown(name)}")
        value = _value_of(name, arguments)
        if not is_empty(value) and not matches(pattern, value):
            wrong.append(f"{name} {shown(value)} has to match {pattern}")
    if wrong:
        raise InvalidInput(f"The template {template.name!r} refuses it: {'; '.join(wrong)}.")


def _value_of(name: str, arguments: Mapping[str, Any]) -> Any:
    """Return a field: an argument, `text` for value and rationale together, or a name in metadata."""
    if name in ARGUMENTS:
        return arguments.get(name)
    metadata = arguments.get("metadata") or {}
    if name == TEXT and TEXT not in metadata:
        parts = (arguments.get(part) for part in ("value", "rationale"))
        return "\n".join(str(part) for part in parts if not is_empty(part))
    return metadata.get(name)


def how_to_write(names: Collection[str]) -> str:
    """An example of each of these fields that is no plain text; "" if all are."""
    return " ".join(f"{name}: {EXAMPLES[name]}." for name in names if name in EXAMPLES)


def _metadata_hint(missing: list[str]) -> str:
    in_metadata = [name for name in missing if name not in ARGUMENTS]
    return f"In metadata: {shown_all(in_metadata)}." if in_metadata else ""
