"""What each noun takes and answers on every face, for the tests that all nouns share."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.contract.faces import Face

Json = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Contract:
    """`create`, `batch`, `list` and `change` are actions of `tool`; "": it has none.

    `path` is REST's. `is_deleted`: by the tool `delete`, with the scope `deleted_by`. `everything`: all
    fields that can be given when it is made; `other`: another one, which no filter of `filters` finds.
    `changes`: a new value for each field. `stored`: what is read back where it is not what was given; None:
    nothing. `name`: the field of an item that identifies it in refs and URLs, `made`: that of the answer of
    `create`, `argument`: that of calls. `listing`: the query that lists all. `acts`: other writes that need
    no more than its name, under which REST has an address each. `of_the_noun`: fields that the noun's own
    tests cover, because they are read back in another shape, or set by another action. `of_the_hub`: stored
    fields that no change sets: computed, counted, or set when it is made.
    """

    kind: str
    tool: str
    path: str
    create: str
    everything: Json
    other: Json
    batch: str = ""
    list: str = "list"
    listing: Json = field(default_factory=dict)
    filters: Json = field(default_factory=dict)
    change: str = ""
    changes: Json = field(default_factory=dict)
    is_deleted: bool = False
    deleted_by: str = "write"
    name: str = "id"
    made: str = "id"
    argument: str = "id"
    stored: Mapping[str, Any] = field(default_factory=dict)
    has_put: bool = False
    acts: tuple[str, ...] = ()
    of_the_noun: tuple[str, ...] = ()
    of_the_hub: tuple[str, ...] = ()
    needs: Callable[["Face"], Json] = lambda face: {}

    def __str__(self) -> str:
        return self.kind


def beside_another_context(face: "Face") -> Json:
    face.create(CONTEXT, {"name": "depot"})
    return {}


def in_a_workflow(face: "Face") -> Json:
    return {"workflow_id": face.create(WORKFLOW, {"name": "Refactoring"})["workflow_id"]}


DECISION = Contract(
    kind="decision",
    tool="decision",
    path="decisions/",
    create="set",
    everything={
        "key": "api/auth/method",
        "value": "JWT",
        "layer": "business",
        "tags": ["api"],
        "scopes": ["users/login"],
        "paths": ["src/auth/**"],
        "status": "active",
        "version": "2.0.0",
        "rationale": "Stateless.",
        "alternatives": ["Sessions"],
        "tradeoffs": {"pros": ["quick"], "cons": ["revocation"]},
        "metadata": {"severity": "low"},
    },
    other={"key": "db/engine", "value": 16, "layer": "data", "tags": ["db"], "status": "draft"},
    batch="set_batch",
    listing={"status": "any"},
    filters={
        "status": "active",
        "layer": "business",
        "tags": ["api"],
        "exclude_tags": ["db"],
        "scope": "users/*",
        "by": "ada",
        "text": "stateless",
    },
    change="set",
    changes={
        "value": "JWT, 15 minutes",
        "layer": "data",
        "tags": ["auth"],
        "scopes": ["users/logout"],
        "paths": ["src/tokens.py"],
        "status": "draft",
        "rationale": "Any worker checks it.",
        "alternatives": ["Basic"],
        "tradeoffs": {"pros": [], "cons": ["size"]},
        "metadata": {"severity": "high"},
    },
    is_deleted=True,
    deleted_by="admin",
    name="key",
    made="key",
    argument="key",
    of_the_noun=("reason", "superseded_by"),
    of_the_hub=("value_type",),
)
TEMPLATE = Contract(
    kind="template",
    tool="decision",
    path="templates/",
    create="template_set",
    everything={
        "name": "incident",
        "defaults": {"layer": "infrastructure", "tags": ["incident"]},
        "require": ["rationale", "severity"],
        "patterns": {"severity": "^(low|high)$"},
    },
    other={"name": "audit", "require": ["rationale"]},
    list="templates",
    change="template_set",
    changes={"defaults": {"layer": "data"}, "require": ["rationale"], "patterns": {"text": "x"}},
    name="name",
    made="name",
    argument="name",
    has_put=True,
)
CONSTRAINT = Contract(
    kind="constraint",
    tool="constraint",
    path="constraints/",
    create="add",
    everything={
        "category": "security",
        "text": "Every address asks for a token.",
        "priority": "critical",
        "layer": "business",
        "tags": ["api"],
        "scopes": ["users/login"],
        "paths": ["src/api/**"],
        "reason": "It is reachable from the internet.",
    },
    other={"category": "performance", "text": "Answers take 50 ms.", "priority": "low", "layer": "data"},
    filters={
        "category": "security",
        "layer": "business",
        "priority": "critical",
        "tags": ["api"],
        "scope": "users/*",
        "by": "ada",
    },
    acts=("deactivate", "activate"),
    of_the_noun=("status",),
)
CONTEXT = Contract(
    kind="context",
    tool="memory",
    path="contexts/",
    create="context_create",
    everything={
        "name": "Shop",
        "description": "The shop's backend.",
        "tags": ["api"],
        "stack": "Django",
        "metadata": {"team": "blue"},
    },
    other={"name": "Depot"},
    list="contexts",
    filters={"text": "backend", "by": "ada"},
    change="context_update",
    changes={
        "name": "Store",
        "description": "The store.",
        "tags": ["web"],
        "stack": "Flask",
        "metadata": {"team": "red"},
    },
    is_deleted=True,
    argument="context",
    of_the_hub=("changed_at", "memory_count"),
)
MEMORY = Contract(
    kind="memory",
    tool="memory",
    path="memories/",
    create="add",
    everything={
        "title": "Caching the product list",
        "content": "Keep it in Redis for five minutes.",
        "context": "shop",
        "type": "reference",
        "stack": "django",
        "difficulty": "hard",
        "tags": ["cache"],
        "paths": ["shop/cache.py"],
        "metadata": {"source": "review"},
    },
    other={
        "title": "Sessions",
        "content": "They live in the database.",
        "type": "task",
        "difficulty": "easy",
    },
    filters={
        "context": "shop",
        "type": "reference",
        "stack": "django",
        "difficulty": "hard",
        "tags": ["cache"],
        "by": "ada",
    },
    change="update",
    changes={
        "title": "Caching",
        "content": "Keep it for ten minutes.",
        "context": "depot",
        "type": "task",
        "stack": "redis",
        "difficulty": "easy",
        "tags": ["redis"],
        "paths": ["depot/cache.py"],
        "metadata": {"source": "incident"},
    },
    is_deleted=True,
    needs=beside_another_context,
    of_the_hub=("digest", "revision", "tokens"),
)
WORKFLOW = Contract(
    kind="workflow",
    tool="scratchpad",
    path="workflows/",
    create="create_workflow",
    everything={"name": "Refactoring", "metadata": {"keep": "never"}},
    other={"name": "Review"},
    list="workflows",
    filters={"text": "refactoring", "by": "ada"},
    is_deleted=True,
    made="workflow_id",
    argument="workflow_id",
    of_the_noun=("active",),
)
SCRATCHPAD = Contract(
    kind="scratchpad",
    tool="scratchpad",
    path="scratchpads/",
    create="create",
    everything={"name": "findings", "content": "# Findings\n1. A slow query"},
    other={"name": "plan", "content": "First measure."},
    filters={"by": "ada"},
    change="update",
    changes={"content": "Nothing left."},
    is_deleted=True,
    made="scratchpad_id",
    argument="scratchpad_id",
    needs=in_a_workflow,
    of_the_hub=("length", "revision", "size"),
    of_the_noun=("workflow_id",),
)
MESSAGE = Contract(
    kind="message",
    tool="message",
    path="messages/",
    create="send",
    everything={
        "text": "The login tests fail.",
        "to": ["ben"],
        "type": "request",
        "priority": "high",
        "payload": {"branch": "main"},
        "choices": ["Revert it", "Wait"],
        "ack": True,
        "ack_within": "2h",
    },
    other={"text": "Deploy at noon.", "to": ["ben"]},
    batch="send_batch",
    list="inbox",
    filters={"priority": "high", "type": "request", "state": "open"},
    stored={"ack_within": None},
    acts=("claim", "done"),
    of_the_hub=(
        *(
            "sender",
            "reply_to",
            "choice",
            "thread",
            "to_everyone",
            "to_people",
            "ack_due_at",
            "ack_overdue",
            "escalated",
        ),
        *("state", "claimed_by", "claimed_session", "claimed_made_up", "claimed_until"),
        *("done_at", "result_refs"),
    ),
)
CHANGE = Contract(
    kind="change",
    tool="file",
    path="changes/",
    create="record",
    everything={
        "path": "src/auth.py",
        "change": "modified",
        "layer": "business",
        "description": "Tokens rotate.",
    },
    other={"path": "db/schema.sql", "change": "created", "layer": "data"},
    batch="record_batch",
    list="changes",
    filters={"path": "src/**", "by": "ada", "layer": "business", "change": "modified"},
    of_the_hub=("at", "resource"),
)
LEASE = Contract(
    kind="lease",
    tool="file",
    path="leases/",
    create="lease",
    everything={"paths": ["src/api/**"], "minutes": 30, "exclusive": False, "reason": "Token rotation."},
    other={"paths": ["db/**"]},
    list="leases",
    filters={"path": "src/api/auth.py", "by": "ada"},
    name="lease_id",
    made="lease_id",
    stored={"minutes": None},
    of_the_hub=("exclusive", "reason", "expires_at", "released_at", "released_by", "session", "made_up"),
)
SNAPSHOT = Contract(
    kind="snapshot",
    tool="snapshot",
    path="snapshots/",
    create="save",
    everything={
        "content": "The login tests fail since tokens rotate. We sign them anew.",
        "summary": "Tokens are signed anew",
        "action_type": "decision",
        "rationale": "The tests rely on the old key.",
        "tags": ["api"],
        "source": "editor",
        "metadata": {"branch": "main"},
    },
    other={"content": "Two pools leak.", "action_type": "research", "tags": ["db"]},
    filters={"action_type": "decision", "tags": ["api"], "by": "ada", "text": "rotate"},
    is_deleted=True,
    deleted_by="admin",
    of_the_noun=("caused_by", "dependencies", "session"),
    of_the_hub=(
        *("caused_by", "session_id", "tier", "tokens", "access_count", "last_accessed", "last_accessed_by"),
        *("predicted_at", "predicted_next", "prediction_score", "reasons"),
        *("temporal", "causal", "frequency"),
    ),
)
SESSION = Contract(
    kind="session",
    tool="session",
    path="sessions/",
    create="save",
    everything={
        "workspace_id": "shop",
        "token_count": 90,
        "summary": "The basket asks once for each row; a join is half written.",
    },
    other={"summary": "Nothing is left."},
    filters={"workspace_id": "shop", "by": "ada"},
    is_deleted=True,
    # Its own agent, with write, and administrators.
    deleted_by="admin",
    name="session",
    made="session",
    argument="session",
    of_the_noun=(
        *("conversation", "items", "files", "active_project", "enabled_mcps", "settings", "branch"),
        *("worktree", "parent", "session", "name", "is_implicit", "saved_at", "ended"),
    ),
    of_the_hub=("current_at",),
)
CONTRACTS = [
    DECISION,
    TEMPLATE,
    CONSTRAINT,
    CONTEXT,
    MEMORY,
    WORKFLOW,
    SCRATCHPAD,
    MESSAGE,
    CHANGE,
    LEASE,
    SNAPSHOT,
    SESSION,
]
# Nouns that agents do not make by themselves, and whose tests are their own.
OF_OTHERS = {"relationship": "between two objects", "resource": "the files of changes and leases"}
# Their lists give no total.
UNCOUNTED = {"template", "message", "change", "lease"}
# Parameters of lists that do not filter.
OF_THE_PAGE = {"limit", "cursor", "max_tokens", "full", "match", "sort", "order", "include_content"}
# Filters by moments, readers, senders and parents: the tests of the nouns cover them.
OF_THE_NOUN = {
    "decision": {"since", "until", "key", "include", "stale"},
    "constraint": {"status", "stale"},
    "memory": {"stale"},
    "workflow": {"active"},
    "scratchpad": {"workflow_id"},
    "message": {"unread", "since", "wait_seconds", "by"},
    "change": {"since"},
    "snapshot": {"since", "until", "tier"},
    "session": {"parent", "implicit", "live"},
}
