"""Sets, deletes and applies templates. All writes go through here."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, Unpack

# Pydantic builds the answer's schema and needs this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.emptying import delete_objects
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import NotAllowed
from ctxhub.core.kit.inputs import clean_name
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.kit.unset import UNSET, Unset, if_set
from ctxhub.core.registry import refuse_ref_as_name
from ctxhub.core.vocabulary.names import Vocabulary, find_vocabulary, register_agent
from memory.decisions.inputs import DecisionArguments, clean_fields
from memory.decisions.services import SetAnswer, store_decision
from memory.templates.history import HISTORY
from memory.templates.inputs import TemplateArguments, TemplateFields, clean_defaults, clean_template
from memory.templates.queries import get_template
from memory.templates.rows import OWN_TEMPLATES, TemplateRow, find_own_template
from memory.templates.rules import BUILT_IN, TEMPLATES, Template, check_required, with_defaults


class TemplateAnswer(TypedDict):
    name: str
    result: Literal["created", "updated", "unchanged"]


class DeleteAnswer(TypedDict):
    name: str
    result: Literal["deleted"]


def set_template(*, caller: Caller, name: str, **rest: Unpack[TemplateArguments]) -> TemplateAnswer:
    """Create a template or change it; absent arguments stay unchanged.

    A template named like a built-in one starts with its fields and overrides it in this project.
    """
    fields = clean_template(caller, name=name, **rest)
    with write_transaction(caller.project_id):
        return _store(caller, fields)


def change_template(*, caller: Caller, name: str, **rest: Unpack[TemplateArguments]) -> TemplateAnswer:
    """Change an existing template, built-in or the project's own. Raises NotFound."""
    fields = clean_template(caller, name=name, **rest)
    with write_transaction(caller.project_id):
        get_template(caller.project_id, fields.name)
        return _store(caller, fields)


def replace_template(*, caller: Caller, name: str, **rest: Unpack[TemplateArguments]) -> TemplateAnswer:
    """Create or replace a template; absent arguments are cleared."""
    arguments: TemplateArguments = {"defaults": None, "require": None, "patterns": None, **rest}
    return set_template(caller=caller, name=name, **arguments)


def delete_template(*, caller: Caller, name: str) -> DeleteAnswer:
    """Delete a project's own template; it no longer overrides a built-in one. Decisions are unchanged."""
    with write_transaction(caller.project_id):
        own = find_own_template(caller.project_id, clean_name(name, "name"))
        if own is None:
            template = get_template(caller.project_id, name)
            raise NotAllowed(f"{template.name!r} is built in.", hint="Set one of its name to replace it.")
        delete_objects(caller, [own], history=HISTORY)
    return {"name": own.name, "result": "deleted"}


def set_from_template(
    *, caller: Caller, name: str, key: str, value: str | int | float, **rest: Unpack[DecisionArguments]
) -> SetAnswer:
    """Set a decision with a template's defaults.

    The caller's arguments override the defaults; tags and metadata of both are combined.
    Raises NotFound for an unknown template, InvalidInput with `missing` for required fields that are empty.
    """
    template = get_template(caller.project_id, name)
    arguments = with_defaults(_with_valid_defaults(caller, template, rest.get("layer", UNSET)), rest)
    fields = clean_fields(caller, key=key, value=value, **arguments)
    check_required(template, {**arguments, "key": key, "value": value})
    return store_decision(caller, fields)


def _with_valid_defaults(caller: Caller, template: Template, layer: str | None | Unset) -> Template:
    """Validate the defaults; drop a built-in template's layer if the project does not have it."""
    defaults = clean_defaults(template.defaults, caller)
    if template.origin == BUILT_IN and layer is UNSET:
        defaults = _without_unknown_layer(defaults, find_vocabulary(caller.project_id, layers=True))
    return replace(template, defaults=defaults)


def _store(caller: Caller, fields: TemplateFields) -> TemplateAnswer:
    project_id = caller.project_id
    own = find_own_template(project_id, fields.name)
    if own is None:
        refuse_ref_as_name(fields.name, "template")
    base = own or TEMPLATES.get(fields.name.casefold()) or Template(fields.name)
    vocabulary = find_vocabulary(project_id, layers=True)
    if isinstance(fields.defaults, Unset):
        defaults = dict(base.defaults) if own else _without_unknown_layer(base.defaults, vocabulary)
    else:
        defaults = dict(fields.defaults)
        if layer := defaults.get("layer"):
            defaults["layer"] = vocabulary.layer(layer)[1]
    at = clock.now()
    new = TemplateRow(
        id=own.id if own else 0,
        name=own.name if own else fields.name,
        defaults=defaults,
        require=if_set(fields.require, base.require),
        patterns=if_set(fields.patterns, base.patterns),
        created_at=own.created_at if own else at,
        updated_at=at,
    )
    if own and not HISTORY.change(own, new).changed:
        return {"name": own.name, "result": "unchanged"}
    agent_id = register_agent(caller, at)
    new = replace(new, agent=caller.agent, agent_id=agent_id)
    if own:
        OWN_TEMPLATES.update(project_id, own, new)
    else:
        [new] = OWN_TEMPLATES.insert(project_id, [new])
    HISTORY.record(project_id=project_id, agent_id=agent_id, changes=[HISTORY.change(own, new)], at=at)
    return {"name": new.name, "result": "updated" if own else "created"}


def _without_unknown_layer(defaults: Mapping[str, Any], vocabulary: Vocabulary) -> dict[str, Any]:
    layers = vocabulary.layers
    return {name: value for name, value in defaults.items() if name != "layer" or value.casefold() in layers}
