"""Names of actions and arguments that other tools have lead to ours."""

from typing import Any

import pytest

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import CtxhubError
from ctxhub.toolbox.dispatch import call

ACTIONS: dict[str, dict[str, str]] = {
    "constraint": {
        "add_constraint": "add",
        "get_constraints": "list",
        "deactivate_constraint": "deactivate",
    },
    "decision": {
        "create_template": "template_set",
        "list_policies": "templates",
        "set_from_policy": "from_template",
    },
    "file": {
        "get_file_changes": "changes",
        "record_file_change": "record",
        "check_file_lock": "check_lock",
        "get": "changes",
    },
    "memory": {
        "create_context": "context_create",
        "list_contexts": "contexts",
        "get_context": "context_get",
        "update_context": "context_update",
        "delete_context": "delete",
        "add_memory": "add",
        "get_memory": "get",
        "update_memory": "update",
        "delete_memory": "delete",
        "list_memories": "list",
        "search_memories": "search",
        "smart_search": "search",
        "fuzzy_search": "fuzzy",
    },
    "message": {"send_message": "send", "get_messages": "inbox", "mark_read": "read"},
    "scratchpad": {
        "begin": "create_workflow",
        "list_scratchpads": "list",
        "create-scratchpad": "create",
        "get_scratchpad": "get",
        "append-scratchpad": "append",
        "search_scratchpads": "search",
        "update-workflow-status": "close_workflow",
        "list-workflows": "workflows",
        "tail-scratchpad": "get",
        "undo": "restore",
    },
}
ARGUMENTS: dict[tuple[str, str], dict[str, str]] = {
    ("constraint", "add"): {"constraint_text": "text"},
    ("constraint", "list"): {"active_only": "status"},
    ("decision", "set"): {"labels": "tags", "context_key": "key", "valeu": "value"},
    ("decision", "list"): {"decided_by": "by", "updated_after": "since", "lmit": "limit"},
    ("decision", "template_set"): {"required_fields": "require", "validation_rules": "patterns"},
    ("decision", "analytics"): {"key_pattern": "pattern"},
    ("file", "record"): {"file_path": "path", "change_type": "change"},
    ("file", "record_batch"): {"file_changes": "items"},
    ("file", "changes"): {"changed_by": "by"},
    ("file", "check_lock"): {"lock_duration": "within_seconds"},
    ("memory", "context_get"): {"contextId": "context", "context_id": "context", "context_name": "context"},
    ("memory", "add"): {"contextId": "context"},
    ("memory", "get"): {"memoryId": "id"},
    ("memory", "search"): {"mode": "detail"},
    ("memory", "list"): {"offset": "cursor"},
    ("message", "send"): {"message": "text", "to_agent": "to", "msg_type": "type"},
    ("message", "inbox"): {
        "unread_only": "unread",
        "priority_filter": "priority",
        "msg_type_filter": "type",
    },
    ("message", "send_batch"): {"messages": "items"},
    ("scratchpad", "update"): {
        "line_number": "line",
        "start_line": "line",
        "end_line": "end",
        "section_marker": "section",
    },
    ("scratchpad", "get"): {
        "line_range": "lines",
        "tail_size": "tail",
        "max_content_chars": "max_tokens",
    },
    ("scratchpad", "append"): {"pad_id": "scratchpad_id"},
    ("scratchpad", "workflows"): {"is_active": "active"},
    ("scratchpad", "list"): {"offset": "cursor"},
}


def meant(caller: Caller, tool: str, arguments: dict[str, Any]) -> Any:
    with pytest.raises(CtxhubError) as refused:
        call(caller, tool, arguments)
    return refused.value.body().get("did_you_mean")


def test_an_action_of_another_tool_leads_to_ours(ada: Caller) -> None:
    for tool, names in ACTIONS.items():
        assert {name: meant(ada, tool, {"action": name}) for name in names} == names


def test_an_argument_of_another_tool_leads_to_ours(ada: Caller) -> None:
    for (tool, action), names in ARGUMENTS.items():
        found = {name: meant(ada, tool, {"action": action, name: "x"}) for name in names}
        assert found == {name: {name: expected} for name, expected in names.items()}
