"""The template actions of the tool `decision`."""

from typing import Annotated, Unpack

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.limits import WORD
from ctxhub.core.kit.listing import Listing
from ctxhub.core.kit.unset import UNSET, Unset
from ctxhub.toolbox.actions import action
from ctxhub.toolbox.argument_types import NAMES_FILES, About, Cursor, Limit, Object, Value, Words, also_called
from memory.decisions.inputs import DecisionArguments
from memory.decisions.services import SetAnswer
from memory.decisions.tools import NewKey
from memory.templates import services
from memory.templates.inputs import DEFAULTS, PATTERNS
from memory.templates.queries import list_templates

Defaults = Annotated[Object, NAMES_FILES, About("Arguments of a decision, beside key and value.", DEFAULTS)]
Patterns = Annotated[Object, About("{field: regular expression (RE2)}, found anywhere in it.", PATTERNS)]
TemplateName = Annotated[str, also_called("template", "template_name")]
Required = Annotated[Words, About("What has to be said: arguments, or names in metadata.", items=WORD)]


@action(
    "decision",
    "template_set",
    quiet=True,
    writes=True,
    idempotent=True,
    example={
        "name": "incident",
        "defaults": {"layer": "infrastructure", "tags": ["incident"]},
        "require": ["rationale", "severity"],
        "patterns": {"severity": "^(low|high)$"},
    },
    also_known_as=("create_template", "create_policy"),
)
def template_set(
    caller: Caller,
    name: TemplateName,
    defaults: Defaults | None | Unset = UNSET,
    require: Required | None | Unset = UNSET,
    patterns: Patterns | None | Unset = UNSET,
) -> services.TemplateAnswer:
    """Make a template for decisions, or change it; what you leave out stays as it is, {} or [] clears.

    `defaults`: arguments of set. `require`: what a decision has to say, arguments of set or names in
    metadata. `patterns`: {field: regular expression}, found anywhere in the field where it is said (RE2; ^ $
    anchor it); `text` is value and rationale together. One of a built-in's name takes its place.
    """
    return services.set_template(
        caller=caller, name=name, defaults=defaults, require=require, patterns=patterns
    )


@action(
    "decision",
    "templates",
    quiet=True,
    example={"limit": 20},
    also_known_as=("list_templates", "list_policies"),
)
def templates(caller: Caller, limit: Limit = 20, cursor: Cursor | None = None) -> Listing:
    """Templates by name, the project's own and those built in."""
    return list_templates(caller.project_id, limit=limit, cursor=cursor)


@action(
    "decision",
    "from_template",
    quiet=True,
    writes=True,
    takes_all_of="set",
    example={
        "name": "security_vulnerability",
        "key": "security/openssl",
        "value": "Upgrade to 3.0.16.",
        "metadata": {"cve_id": "CVE-2026-12345", "severity": "high"},
    },
    also_known_as=("set_from_template", "set_from_policy"),
)
def from_template(
    caller: Caller,
    name: TemplateName,
    key: NewKey,
    value: Value,
    **rest: Unpack[DecisionArguments],
) -> SetAnswer:
    """Set a decision with a template's defaults, if it says what the template requires.

    What you say stands before the defaults; your tags are added to them. Fields that are no arguments of set,
    such as cve_id, go into metadata. `templates` shows what each requires.
    """
    return services.set_from_template(caller=caller, name=name, key=key, value=value, **rest)
