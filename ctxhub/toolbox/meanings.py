"""What the names in a call say, whether the hub has them or not: who speaks, which object, reads or writes.

All names are in snake case, nouns in the singular.
"""

from collections.abc import Mapping


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# -- Arguments -------------------------------------------------------------------------------------

# Whose work it is. On a list with the filter `by` that is meant; a write is always by the agent that speaks.
AUTHORS = _words(
    "added_by agent_from author authored_by by changed_by created_by decided_by from from_agent made_by "
    "posted_by recorded_by reported_by requested_by requester sender sender_id sender_name sent_by set_by "
    "speaker updated_by written_by"
)
# An agent: who wrote, on a list with the filter `by`; else who calls, if servers learn it from arguments.
AGENTS = frozenset(["agent_id", "agent_name", "owner", "user", "user_id", "user_name", "username"])
# Who calls, or for whom something is.
SELVES = _words("assigned_to assignee caller for_agent me my_name recipient self to_agent")
PROJECTS = frozenset(
    ["project", "project_id", "project_key", "project_name", "project_scope", "project_slug"]
)
# The value with which leaving it out says the same, and an argument of the operations where that is so.
SAME_WITHOUT: Mapping[str, tuple[object, str]] = {
    "active_only": (True, "status"),
    "include_content": (False, ""),
    "offset": (0, "cursor"),
    "only_active": (True, "status"),
    "page": (1, "cursor"),
    "skip": (0, "cursor"),
    "verbose": (False, ""),
}
# What holds the arguments of a call, or its filters.
WRAPPERS = _words(
    "arg args argument arguments body criteria data filter filters input inputs kwargs options opts param "
    "parameters params payload query request tool_input where"
)
ACTION_WORDS = ("operation", "op", "method", "command", "cmd", "verb", "function", "tool_action")
# What tells of an object: it fills an empty text, but never replaces the text of an object.
TELLING = frozenset(["comment", "description", "detail", "details", "note", "notes", "summary"])
MAIN_TEXTS = frozenset({"content", "text", "value"})
# The argument that says which kind of object an id is of.
KIND_WORDS = ("kind", "type", "noun", "object_type", "object_kind", "table", "entity_type", "resource_type")

# -- Nouns -----------------------------------------------------------------------------------------

NOUN_KINDS: Mapping[str, str] = {
    "checkpoint": "session",
    "collection": "context",
    "constraint": "constraint",
    "context": "context",
    "conversation": "session",
    "decision": "decision",
    "entity": "memory",
    "knowledge": "memory",
    "lease": "lease",
    "lock": "lease",
    "mail": "message",
    "memory": "memory",
    "message": "message",
    "node": "memory",
    "note": "memory",
    "pad": "scratchpad",
    "reservation": "lease",
    "rule": "constraint",
    "scratchpad": "scratchpad",
    "session": "session",
    "snapshot": "snapshot",
    "task": "message",
    "template": "template",
    "thread": "message",
    "todo": "message",
    "workflow": "workflow",
}

# The kind of object that an operation writes, where it is not the one that the tool is named after.
WRITTEN: Mapping[tuple[str, str], str] = {
    ("decision", "template_set"): "template",
    ("file", "lease"): "lease",
    ("file", "record"): "change",
    ("file", "record_batch"): "change",
    ("file", "release"): "lease",
    ("file", "renew"): "lease",
    ("memory", "context_create"): "context",
    ("memory", "context_update"): "context",
    ("memory", "relate"): "relationship",
    ("memory", "relationships"): "relationship",
    ("memory", "unrelate"): "relationship",
    ("scratchpad", "close_workflow"): "workflow",
    ("scratchpad", "create_workflow"): "workflow",
    ("session", "depend"): "dependency",
    ("session", "track"): "access",
}

# A tool writes them beside the objects it is named after: only a name that says so leads to them.
KINDS_OF_THEIR_OWN = frozenset({"context", "relationship", "template", "workflow"})

# Lists of what bears on files, which `check` finds by their paths.
CHECKED = frozenset({("constraint", "list"), ("decision", "list")})
FILES = _words("file file_name file_path file_paths filename filepath files glob globs path paths")

# -- Verbs -----------------------------------------------------------------------------------------

READING = _words(
    "all analyze any audit browse check compare count describe diff dump exists explain export fetch find "
    "get has head history info inspect is last latest list load look lookup news open overview peek poll "
    "preview print query read recall recent retrieve review search select show stat statistics stats "
    "status summary tail trace track view watch what when where which who why"
)
# What takes something back, or puts something older in its place: only a word that says so leads there.
TAKES_BACK = frozenset(
    {
        ("constraint", "deactivate"),
        ("decision", "deprecate"),
        ("file", "release"),
        ("memory", "restore"),
        ("memory", "unrelate"),
        ("scratchpad", "close_workflow"),
        ("scratchpad", "restore"),
    }
)
# What no operation of a tool does, and how it is done all the same. Lists of operations stand in braces.
DONE_OTHERWISE: Mapping[tuple[str, str], str] = {
    ("constraint", verb): "A constraint does not change: add the new one with {constraint add}, and end the "
    "old one with {constraint deactivate}."
    for verb in ("change", "edit", "modify", "patch", "replace", "set", "update", "upsert")
}
# Words of a name that say neither what is done nor with what.
FILLING = frozenset({"a", "all", "an", "by", "id", "key", "my", "one", "the", "this"})
ENDING = _words(
    "abandon archive cancel clear close complete deactivate delete deprecate destroy disable discard drop "
    "end erase expire finish forget free invalidate purge release remove reset restore retire revert "
    "revoke rollback stop undo unlock wipe"
)
