"""The templates that every project has, unless it has made one of the same name its own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

OWN, BUILT_IN = "own", "built-in"

# A pattern for it is looked for in what a decision says in words: its value and its rationale.
TEXT = "text"


@dataclass(frozen=True, slots=True)
class Template:
    """What decisions of one kind begin with, what each has to say, and what some of it must match."""

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
