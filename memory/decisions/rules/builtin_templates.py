"""The built-in templates, which every project has unless it overrides them by name."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from ctxhub.core.kit.frozen import frozen

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
