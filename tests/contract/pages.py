"""What each noun's pages in the admin show and take, for the tests that all of them share."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Model

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Membership
from ctxhub.toolbox.dispatch import call
from memory.models import (
    Constraint,
    Context,
    Decision,
    DecisionTemplate,
    Memory,
    Relationship,
    Scratchpad,
    Snapshot,
    Workflow,
)
from messaging.models import Message
from sessions.models import AgentSession
from tests.contract import nouns
from tests.contract.nouns import Contract, Json
from tests.people import ADMIN, MEMBER
from tracking.models import FileChange, Lease, Resource

TOKEN = "ghp_" + "a1B2" * 9
SEEMS = "seems to hold a credential"


@dataclass(frozen=True, kw_only=True)
class Page:
    """Its row is what the noun's `everything` makes, with the fields of `more` and of `needs`.

    `cells` are shown in its line of the list, `shows` on its page, `deletion` where it is confirmed: texts
    separated by bars. `finds` and `hides`: queries of its list, with `{id}` and `{source}`, an end of it.
    `form` adds a row that holds `becomes`; `edits` are typed into the form of the row, which then holds
    `edited`, by a write that the log calls `verb`. `refuses`: a field, what is typed, and the sentence that
    refuses it. `posts`: what its further addresses take. `grow` adds the nth row of those that a page may
    show. `free`: fields that take any text.
    """

    noun: Contract
    model: type[Model]
    more: Json = field(default_factory=dict)
    needs: Callable[[Caller], Json] = lambda caller: {}
    cells: str
    shows: str
    finds: str = ""
    hides: str = ""
    form: Json = field(default_factory=dict)
    becomes: Json = field(default_factory=dict)
    edits: Json = field(default_factory=dict)
    edited: Json = field(default_factory=dict)
    refuses: tuple[tuple[str, str, str], ...] = ()
    posts: Json = field(default_factory=dict)
    grow: Callable[[Caller, Any, int], object]
    free: str
    made: str = "created"
    deleted_by: Membership.Role | None = ADMIN
    deletion: str = ""

    def __str__(self) -> str:
        return self.noun.kind

    def make(self, caller: Caller, **fields: Any) -> Any:
        """A new row."""
        write(caller, self.noun, **{**self.needs(caller), **self.noun.everything, **self.more, **fields})
        return self.model._base_manager.filter(project=caller.project_id).latest("pk")

    def make_with(self, caller: Caller, text: str) -> Any:
        """A new row, with the text in every field that takes any."""
        everything = {**self.noun.everything, **self.more}

        def value(name: str) -> Any:
            texts: dict[type, Any] = {dict: {text: text}, list: [text]}
            return texts.get(type(everything.get(name)), f"{text} {name}")

        return self.make(caller, **{name: value(name) for name in self.free.split()})


def write(caller: Caller, noun: Contract, **fields: Any) -> Any:
    """The name of a new object."""
    return call(caller, noun.tool, {"action": noun.create, **fields})[noun.made]


def of_a_new_agent(write: Callable[[Caller, Any, int], object]) -> Callable[[Caller, Any, int], object]:
    return lambda caller, row, n: write(caller.speaking_as(f"agent-{n}"), row, n)


def in_a_workflow(caller: Caller) -> Json:
    return {"workflow_id": write(caller, nouns.WORKFLOW, name="Refactoring")}


def between_two(caller: Caller) -> Json:
    write(caller, nouns.DECISION, key="cache/engine", value="Redis")
    return {"source": f"memory:{remembered(caller, 'Eviction')}", "target": "decision:cache/engine"}


def remembered(caller: Caller, title: str, **fields: Any) -> Any:
    return write(caller, nouns.MEMORY, title=title, content="Use allkeys-lru for sessions.", **fields)


def as_decision(caller: Caller, row: Decision, n: int) -> None:
    write(caller, nouns.DECISION, key=f"key/{n}", value=n, tags=[f"t{n}"], scopes=["s"], layer="data")
    write(caller, nouns.DECISION, key=row.key, value=f"value {n}")
    deprecated = {"action": "deprecate", "key": f"key/{n}", "superseded_by": row.key}
    call(caller, "decision", deprecated)


def as_memory(caller: Caller, row: Memory, n: int) -> None:
    near = remembered(caller, f"Redis {n}", context=f"c{n}", tags=[f"t{n}"])
    relate(caller, row.ref, f"memory:{near}")
    relate(caller, f"memory:{near}", f"memory:{remembered(caller, f'Far {n}')}")


def as_context(caller: Caller, row: Context, n: int) -> None:
    write(caller, nouns.CONTEXT, name=f"c{n}", tags=[f"t{n}"])
    remembered(caller, f"m{n}", context=row.name)


def as_relationship(caller: Caller, row: Relationship, n: int) -> None:
    write(caller, nouns.DECISION, key=f"k{n}", value="x")
    relate(caller, f"memory:{remembered(caller, f'm{n}')}", f"decision:k{n}")


def as_workflow(caller: Caller, row: Workflow, n: int) -> None:
    write(caller, nouns.WORKFLOW, name=f"w{n}")
    write(caller, nouns.SCRATCHPAD, workflow_id=row.pk, name=f"p{n}", content="x")


def as_pad(caller: Caller, row: Scratchpad, n: int) -> None:
    write(caller, nouns.SCRATCHPAD, workflow_id=row.workflow_id, name=f"p{n}", content="x")
    call(caller, "scratchpad", {"action": "append", "scratchpad_id": row.pk, "content": "x"})


def as_snapshot(caller: Caller, row: Snapshot, n: int) -> None:
    cause = write(caller, nouns.SNAPSHOT, content=f"s{n}", tags=[f"t{n}"], caused_by=row.pk)
    row.dependencies.add(cause, through_defaults={"project": row.project})


def as_message(caller: Caller, row: Message, n: int) -> None:
    write(caller, nouns.MESSAGE, text=f"m{n}", to=["ben", f"a{n}"], ack=True, reply_to=row.pk)


def as_session(caller: Caller, row: AgentSession, n: int) -> None:
    write(caller, nouns.SESSION, session=f"child-{n}", parent=row.pk, summary="s")
    write(
        caller.speaking_as("ada"),
        nouns.SESSION,
        session=str(row.pk),
        conversation=f"More {n}.",
        branch=f"b{n}",
    )


def relate(caller: Caller, source: str, target: str) -> None:
    call(caller, "memory", {"action": "relate", "source": source, "target": target})


PAGES = [
    Page(
        noun=nouns.DECISION,
        model=Decision,
        more={"tags": ["api", "security"], "scopes": ["api/auth"], "rationale": "Any worker checks it."}
        | {"alternatives": [{"option": "Sessions", "why_not": "one more store"}, "Mutual TLS"]},
        cells="method</code>|JWT|2.0.0|active|business|security|ada|just now",
        shows="Any worker checks it.|<strong>Sessions</strong>: one more store|Mutual TLS|quick"
        "|revocation|severity|src/auth/**",
        finds="q=JWT q=any+worker q=jwt+workers q=worker+jw q=api/auth/met q=sessions+security q=+"
        " q=decision:api/auth/method tag=Security scope=api/auth layer=business status__exact=1",
        hides="q=jw+worker q=JWT+-worker q=%2B%2B q=decision:api/auth q=decision: layer=data status__exact=2",
        form={"key": " db/pool ", "value": "20", "kind": "number", "status": "draft", "seen_revision": "0"}
        | {"tags": "database, new", "layer": "data", "rationale": "Enough."},
        becomes={"key": "db/pool", "value": "20", "status": "draft", "layer": "data"}
        | {"tags": ["database", "new"], "rationale": "Enough."},
        edits={"tags": 'api, "quoted, twice", new', "layer": "", "paths": "src/auth/**\r\nsrc/api/**"}
        | {"pros": "no store\r\nfast", "metadata": '{"ticket": "OPS-8"}'},
        edited={"tags": ["api", "new", "quoted", "twice"], "layer": None, "agent": "vi"}
        | {"paths": ["src/auth/**", "src/api/**"], "metadata": {"ticket": "OPS-8"}}
        | {"tradeoffs": {"pros": ["no store", "fast"], "cons": ["revocation"]}},
        refuses=(
            ("key", "", "This field is required."),
            ("metadata", "[1, 2]", "Write a JSON object"),
            ("metadata", "[" * 100_000, "Write a JSON object"),
            ("paths", "/etc/passwd", "must be relative"),
            ("tags", ",".join(f"t{n}" for n in range(60)), "the limit is 50"),
            ("rationale", "a\x00b", "Null characters are not allowed"),
            ("rationale", TOKEN, "credential"),
            ("layer", "nosuch", "Select a valid choice"),
            ("seen_revision", "", "Please correct the error"),
        ),
        posts={"reason": "Old."},
        grow=of_a_new_agent(as_decision),
        free="value rationale tags scopes alternatives metadata",
    ),
    Page(
        noun=nouns.TEMPLATE,
        model=DecisionTemplate,
        cells="incident|severity|ada|just now",
        shows="incident|rationale|security_vulnerability",
        form={"name": " t ", "defaults": '{"tags": ["a"]}', "require": "rationale", "patterns": "key: ^x/"},
        becomes={"name": "t", "defaults": {"tags": ["a"]}, "require": ["rationale"]}
        | {"patterns": {"key": "^x/"}, "agent": "vi"},
        edits={"patterns": "key: ^x/", "require": "rationale"},
        edited={"patterns": {"key": "^x/"}, "require": ["rationale"]},
        refuses=(
            ("defaults", "[]", "Write a JSON object"),
            ("defaults", '{"key": "k"}', "can have a default"),
            ("defaults", '{"layer": "nowhere"}', "is not known"),
            ("patterns", "severity: (", "is no regular expression"),
            ("patterns", "severity", "a colon and a regular expression"),
            ("require", ",".join(f"t{n}" for n in range(60)), "the limit is 50"),
            ("name", "", "This field is required."),
            ("name", " INCIDENT ", "already exists. Open it to change it."),
        ),
        grow=of_a_new_agent(
            lambda caller, row, n: write(caller, nouns.TEMPLATE, name=f"t{n}", require=["x"])
        ),
        free="require",
        deletion="Decisions made from it stay unchanged.",
    ),
    Page(
        noun=nouns.CONSTRAINT,
        model=Constraint,
        more={"tags": ["api", "security"], "scopes": ["api/auth"]},
        cells="Every address asks for a token.|security|critical|active|business|api|ada|just now",
        shows="Every address asks for a token.|reachable from the internet|critical|api/auth|src/api/**"
        "|category=security",
        finds="q=address q=reachable q=addresses q=secur+addr category=Security priority__exact=4"
        " status__exact=1 layer=business tag=API scope=api/auth",
        hides="q=constraint:0 q=constraint:99999999999999999999 q=address+-security"
        " category=architecture priority__exact=1 status__exact=2 layer=data",
        form={"category": "Privacy", "text": "Names are never logged.\r\nNor are addresses."}
        | {"priority": "high", "reason": "The law says so.", "layer": "data", "tags": "logging, people"}
        | {"scopes": "", "paths": "src/**\r\nlib/**"},
        becomes={"category": "Privacy", "text": "Names are never logged.\nNor are addresses."}
        | {"priority": "high", "reason": "The law says so.", "layer": "data"}
        | {"tags": ["logging", "people"], "paths": ["src/**", "lib/**"]},
        refuses=(
            ("text", " ", "text must not be blank."),
            ("category", "", "This field is required."),
            ("paths", "../x", "must be relative to the repository"),
            ("paths", "src/*.@(ts|tsx)", "has the extended glob @("),
            ("paths", "!src/gen/**", "comes first and exempts nothing"),
            ("tags", "x" * 101, "the limit is 100"),
            ("reason", TOKEN, SEEMS),
        ),
        posts={"reason": ""},
        grow=of_a_new_agent(
            lambda caller, row, n: write(
                caller, nouns.CONSTRAINT, category=f"c{n}", text=f"x{n}", tags=[f"t{n}"], layer="data"
            )
        ),
        free="category text tags scopes reason",
    ),
    Page(
        noun=nouns.CONTEXT,
        model=Context,
        more={"name": "Depots", "description": "What is known of evictions.", "stack": "redis"},
        cells="Depots|of evictions|redis|api|ada|just now|none yet",
        shows="of evictions|blue|redis|None yet: agents add one",
        finds="q=depot q=eviction tag=API",
        hides="q=context:0",
        form={"name": "Sessions", "description": "Who is signed in.\r\nFor how long.", "stack": "django"}
        | {"tags": "people, brand-new", "metadata": '{"owner": "platform"}'},
        becomes={"name": "Sessions", "description": "Who is signed in.\nFor how long.", "stack": "django"}
        | {"tags": ["brand-new", "people"], "metadata": {"owner": "platform"}},
        edits={"stack": "", "metadata": '{"a": 1}'},
        edited={"stack": "", "metadata": {"a": 1}},
        refuses=(
            ("name", "", "This field is required."),
            ("name", "depots", "depots"),
            ("name", "42", "digits"),
            ("name", "x" * 201, "at most 200 characters"),
            ("metadata", "no", "Write a JSON object"),
            ("tags", "x" * 101, "the limit is 100"),
            ("description", TOKEN, SEEMS),
        ),
        grow=of_a_new_agent(as_context),
        free="name description stack tags metadata",
        deleted_by=MEMBER,
        deletion="Depots, which is empty.",
    ),
    Page(
        noun=nouns.MEMORY,
        model=Memory,
        more={"title": "Redis eviction", "content": "Use **allkeys-lru** for sessions. Never noeviction."}
        | {"context": "Caching", "stack": "Redis", "tags": ["caching", "performance"]},
        cells="Redis eviction|allkeys-lru|reference|Caching|Redis|performance|ada|just now",
        shows="<strong>allkeys-lru</strong>|shop/cache.py|review|hard|performance|no relationships yet"
        "|?project=apollo&context=Caching",
        finds="q=eviction q=evicting+sess context=caching context=cach type__exact=4 difficulty__exact=3"
        " stack=REDIS tag=Caching",
        hides="q=memory:0 q=memory:99999999999999999999 q=eviction+-sessions context=general"
        " type__exact=1 difficulty__exact=1 stack=red",
        form={"title": "Locks around recompute", "content": "A stampede happens.\r\nLock first."}
        | {"context": "Caching", "type": "snippet", "stack": "redis", "difficulty": "hard"}
        | {"tags": "caching, brand-new", "paths": "src/**\r\nlib/**", "metadata": '{"ticket": "OPS-7"}'},
        becomes={"title": "Locks around recompute", "content": "A stampede happens.\nLock first."}
        | {"context": "Caching", "type": "snippet", "stack": "redis", "difficulty": "hard"}
        | {"tags": ["brand-new", "caching"], "paths": ["src/**", "lib/**"]}
        | {"metadata": {"ticket": "OPS-7"}},
        edits={"stack": "", "tags": "performance", "metadata": '{"a": 1}', "difficulty": ""},
        edited={"stack": "", "tags": ["performance"], "metadata": {"a": 1}, "difficulty": None},
        refuses=(
            ("content", "", "content must not be empty."),
            ("title", "", "This field is required."),
            ("title", "x" * 501, "at most 500 characters"),
            ("context", "", "This field is required."),
            ("context", "123456", "123456"),
            ("paths", "../x", "must be relative to the repository"),
            ("tags", "x" * 101, "the limit is 100"),
            ("metadata", "[1]", "Write a JSON object"),
            ("content", TOKEN, SEEMS),
        ),
        posts={"target": "decision:cache/engine", "relation": "related", "strength": "5", "seen": "1"},
        grow=of_a_new_agent(as_memory),
        free="title content context stack tags metadata",
        deleted_by=MEMBER,
        deletion="with its relationships and revisions",
    ),
    Page(
        noun=Contract(
            kind="relationship",
            tool="memory",
            path="",
            create="relate",
            everything={"relation": "depends_on", "strength": 70},
            other={},
            made="source",
        ),
        model=Relationship,
        needs=between_two,
        cells="Eviction|decision:cache/engine|depends on|width: 70%|ada|just now",
        shows="Eviction|decision:cache/engine|depends on|entered",
        finds="q={source} q=decision:cache/engine relation__exact=4",
        hides="q=decision:cache/other q=memory:0 q=memory:99999999999999999999 q=nonsense relation__exact=1",
        form={"source": "decision:api/auth/method", "target": "decision:cache/engine"}
        | {"relation": "blocks", "strength": "90"},
        becomes={"relation": "blocks", "strength": 90, "source_kind": "decision"},
        edits={"strength": "5"},
        edited={"strength": 5},
        refuses=(
            ("source", "", "This field is required."),
            ("target", "memory:999999999", "There is no memory"),
            ("target", "decision:nosuch", "There is no decision"),
            ("target", "nonsense", "is not a ref"),
            ("target", "agent:ada", "agent"),
            ("target", "decision:api/auth/method", "cannot be related to itself"),
            ("relation", "loves", "Select a valid choice"),
            ("strength", "101", "less than or equal to 100"),
            ("strength", "-1", "greater than or equal to 0"),
            ("strength", "x", "Enter a whole number"),
        ),
        grow=of_a_new_agent(as_relationship),
        free="",
        deleted_by=MEMBER,
        deletion="depends on decision:cache/engine. Both objects stay as they are.",
    ),
    Page(
        noun=nouns.WORKFLOW,
        model=Workflow,
        more={"name": "Code Refactoring Task", "metadata": {"team": "payments"}},
        cells="Code Refactoring Task|open|none yet|ada|just now",
        shows="Code Refactoring Task|payments|It has no scratchpads yet: agents write one",
        finds="q=refactor q=payments state=open state=nonsense",
        hides="q=workflow:0 state=closed",
        form={"name": "Release 3", "metadata": '{"keep": "never"}'},
        becomes={"name": "Release 3", "metadata": {"keep": "never"}, "is_kept": True},
        edits={"name": "Other", "metadata": '{"ticket": 7}'},
        edited={"name": "Other", "metadata": {"ticket": 7}},
        refuses=(
            ("name", "x" * 201, "at most 200 characters"),
            ("name", TOKEN, SEEMS),
            ("metadata", "[1]", "Write a JSON object"),
        ),
        grow=of_a_new_agent(as_workflow),
        free="name metadata",
        deleted_by=MEMBER,
    ),
    Page(
        noun=nouns.SCRATCHPAD,
        model=Scratchpad,
        more={
            "name": "code_analysis",
            "content": "# Findings\n\nThe query is *slow*.\n\n## 效能\n\n- [x] done\n",
        },
        needs=in_a_workflow,
        cells="code_analysis|Refactoring|52|ada|just now",
        shows='<h3 id="md-1">Findings</h3>|<em>slow</em>|☑ done|<a href="#md-2">效能</a>|?line=5#L5',
        finds="q=analysis q=finding q=效能 workflow={workflow} workflow=factor",
        hides="q=scratchpad:0 q=能效 workflow=0 workflow=99999999999999999999",
        form={"workflow": "{workflow}", "name": "plan", "content": "\n one\r\n"},
        becomes={"name": "plan", "content": "\n one\n", "workflow": "Refactoring"},
        edits={"content": "new\r\ntext"},
        edited={"content": "new\ntext", "revision": 2},
        refuses=(
            ("name", "", "This field is required."),
            ("workflow", "0", "Select a valid choice"),
            ("workflow", "x", "Select a valid choice"),
            ("content", TOKEN, SEEMS),
        ),
        posts={"seen": "1", "revision": "1"},
        grow=of_a_new_agent(as_pad),
        free="name content",
        deleted_by=MEMBER,
        deletion="with all its revisions",
    ),
    Page(
        noun=nouns.SNAPSHOT,
        model=Snapshot,
        more={"content": "We keep **sessions** in Redis.", "summary": "Sessions in Redis", "source": "api"}
        | {"rationale": "It is fast.", "tags": ["caching", "sessions"], "dependencies": []},
        cells="Sessions in Redis|decision|active|caching|api|ada|just now",
        shows="<strong>sessions</strong>|It is fast.|branch|decision|active|api|ada"
        "|It has not been predicted yet.|It has no cause, and nothing rests on it.",
        finds="q=redis q=session+red action_type__exact=2 tier=active tier=nosuch tag=Caching source=API"
        " created_at__year=2026&created_at__month=11",
        hides="q=snapshot:0 q=snapshot:99999999999999999999 q=redis+-fast action_type__exact=1 tier=recent"
        " source=ap rests_on={id} rests_on=memory:1 created_at__year=2026&created_at__month=10",
        form={"content": "Sessions move to PostgreSQL.\r\nRedis lost them.", "summary": "Sessions move"}
        | {"action_type": "file_edit", "rationale": "A restart must not sign anybody out."}
        | {"tags": "sessions, brand-new", "metadata": '{"ticket": "OPS-7"}', "dependencies": "none"},
        becomes={"content": "Sessions move to PostgreSQL.\nRedis lost them.", "summary": "Sessions move"}
        | {"action_type": "file_edit", "rationale": "A restart must not sign anybody out."}
        | {"tags": ["brand-new", "sessions"], "metadata": {"ticket": "OPS-7"}, "source": "manual"},
        refuses=(
            ("content", " ", "content must not be blank"),
            ("caused_by", "x", "caused_by: 'x' is neither the id of a snapshot nor a ref"),
            ("caused_by", "memory:987654", "caused_by: there is no memory '987654'"),
            ("caused_by", "987654", "caused_by: there is no snapshot 987654"),
            ("dependencies", "987654", "dependencies: there is no snapshot 987654"),
            ("metadata", "[", "Write a JSON object"),
            ("action_type", "dream", "Select a valid choice"),
        ),
        grow=of_a_new_agent(as_snapshot),
        free="content summary rationale tags metadata",
        deletion="Nothing rests on it.",
    ),
    Page(
        noun=nouns.MESSAGE,
        model=Message,
        cells="The login tests fail.|ada|ben|request|high|open|awaited|just now",
        shows="The login tests fail.|branch|ben",
        finds="q=login q=ben+ada q=fail+-deploy from=ADA to=Ben type__exact=3 priority__exact=3 state=open"
        " waits=ack addressed=names since=2020-01-01T00:00 until=2999-01-01T00:00",
        hides="q=message:0 q=ogin q=fail+-login from=ben to=nobody type__exact=2 priority__exact=1"
        " state=claimed state=done waits=late addressed=everyone addressed=people since=2999-01-01T00:00",
        form={"text": "Deploy at noon.", "to": "", "type": "warning", "priority": "high"}
        | {"ack": "on", "ack_within": "2h"},
        becomes={"text": "Deploy at noon.", "type": "warning", "priority": "high", "ack": True}
        | {"to_everyone": True, "sender": "vi"},
        refuses=(("ack_within", "soon", "is not a length of time"), ("text", " ", "must not be blank")),
        grow=of_a_new_agent(as_message),
        free="text payload",
        made="sent",
    ),
    Page(
        noun=nouns.CHANGE,
        model=FileChange,
        cells="auth.py|modified|business|Tokens rotate.|ada|just now",
        shows="auth.py|modified|business|Tokens rotate.|ada",
        finds="q=auth q=resource:src/auth.py q=src/auth.py:42 layer=business change__exact=2",
        hides="q=docs/x.md layer=data change__exact=3",
        grow=of_a_new_agent(
            lambda caller, row, n: write(
                caller, nouns.CHANGE, path=f"f{n}", change="created", layer="data", description="x"
            )
        ),
        free="path description",
        made="",
        deleted_by=None,
    ),
    Page(
        noun=nouns.LEASE,
        model=Lease,
        cells="/**</code>|ada|live|shared|in 30 minutes|Token rotation.",
        shows="<wbr>**|ada|live|shared|Token rotation.",
        finds="q=src/api q=rotation state=live exclusive__exact=0",
        hides="state=released state=expired state=silent exclusive__exact=1",
        grow=of_a_new_agent(lambda caller, row, n: write(caller, nouns.LEASE, paths=[f"f{n}", f"g{n}"])),
        free="paths reason",
        made="leased",
        deleted_by=None,
    ),
    Page(
        noun=Contract(
            kind="resource",
            tool="file",
            path="",
            create="record",
            everything={"path": "docs/guide.md", "change": "created", "description": "Why."},
            other={},
        ),
        model=Resource,
        cells="guide.md|documentation|ada|just now",
        shows="guide.md|ada|Why.",
        finds="q=guide q=docs/guide type__exact=2",
        hides="type__exact=1",
        posts={"importance": "7"},
        grow=of_a_new_agent(
            lambda caller, row, n: (
                write(caller, nouns.CHANGE, path=f"f{n}", change="created"),
                write(caller, nouns.CHANGE, path=row.path, change="modified"),
            )
        ),
        free="path description",
        made="created",
        deleted_by=None,
    ),
    Page(
        noun=nouns.SESSION,
        model=AgentSession,
        more={"session": "laptop", "conversation": "First line.\nSecond line.", "branch": "faster"}
        | {"enabled_mcps": ["files"], "settings": {"theme": "dark"}},
        cells="laptop|The basket asks|shop|90|ada|just now",
        shows="The basket asks|laptop|First line.|faster|files|dark",
        finds="q=basket q=faster q=second+lin workspace=shop implicit=all",
        hides="q=session:0 workspace=sho implicit=only created_at__year=1999&created_at__month=1",
        grow=of_a_new_agent(as_session),
        free="session workspace_id branch summary conversation settings",
        made="saved",
        deletion="1 conversation",
    ),
]
