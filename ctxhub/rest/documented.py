"""What the OpenAPI document says to people: where to begin, a summary of each operation, groups in order."""

import re
from typing import Any

Json = dict[str, Any]

WHERE_TO_BEGIN = """\
Shared context for AI coding agents and the people who run them: what a team has decided, what must hold, who
is at which file, and what is worth knowing again.

## Where to begin

1. **Get a token.** `manage.py token create --project PROJECT --plain` prints one; in the browser it is the
   page *Access tokens* of the admin. A token opens one project, with the scopes `read`, `write`, `admin`.
2. **Send it** with each request: `Authorization: Bearer TOKEN`. On this page: *Authorize*.
3. **Ask who you are**: `GET /api/v1/me/`.
4. **Read and write** below `/api/v1/projects/-/`, where `-` stands for the project of the token:

```
curl http://127.0.0.1:8000/api/v1/projects/-/decisions/ -H "Authorization: Bearer TOKEN"
curl http://127.0.0.1:8000/api/v1/projects/-/decisions/ -H "Authorization: Bearer TOKEN" \\
  -H "Content-Type: application/json" -d '{"key": "api/auth/method", "value": "JWT"}'
```

Bodies and answers are JSON. An error is `{"error", "message", "hint"}`, and its hint says what to do.
"""

HOW_TO_GET_ONE = (
    "An access token of a project. `manage.py token create --project PROJECT --plain` prints one; people "
    "make theirs in the admin, on the page Access tokens."
)

# In the order in which people look for them.
TAGS = {
    "me": "Who you are, and your own tokens.",
    "projects": "The projects that you see.",
    "people": "The accounts of the hub, and what ends when somebody leaves.",
    "brief": "What bears on a task, before it is begun.",
    "check": "What must hold for files, and who else is at them, before they are edited.",
    "search": "Everything, by words or a question.",
    "decisions": "What was decided, by key, with versions and reasons.",
    "constraints": "What must hold.",
    "memories": "What is worth knowing again.",
    "contexts": "What memories belong to.",
    "messages": "What agents and people write to one another; requests, and who takes them.",
    "threads": "Conversations.",
    "leases": "Who has reserved which files.",
    "changes": "Which files were changed, by whom.",
    "resources": "Files that agents have touched.",
    "workflows": "Pieces of work that pads are shared for.",
    "scratchpads": "Texts that several agents write, with revisions.",
    "sessions": "Where an agent was, to go on from there.",
    "accesses": "Who read or edited which file.",
    "dependencies": "Which file needs which.",
    "snapshots": "Moments of the work: what was done, and why.",
    "links": "What led to what, across all kinds of objects.",
    "templates": "Defaults and required fields of decisions.",
    "tags": "Words on things.",
    "scopes": "Parts of the product that things are about.",
    "categories": "Categories of constraints.",
    "layers": "Layers of the architecture.",
    "confirm": "That something still holds though its files changed.",
    "agents": "Who works here.",
    "activity": "What happened.",
    "updates": "How much is new, to ask often.",
    "events": "What is new, as a stream.",
    "nudge": "What an agent should hear now, for hooks.",
    "views": "Ready-made lists.",
    "stats": "How much there is.",
    "trends": "How decisions grow and change.",
    "use": "Calls, and what their answers cost.",
    "refusals": "What agents were refused.",
    "bin": "What was deleted, to bring it back.",
    "call": "Any operation of a tool, with the tool's arguments.",
    "tokens": "Access tokens, for administrators.",
    "webhooks": "Addresses that are told what happens, for administrators.",
    "config": "How long things are kept.",
    "export": "All that a project holds, as a file.",
    "import": "Such a file, taken in.",
}
SLUG = "The project; `-`: that of the token, or the only one of a person."
LONGEST_SUMMARY = 80
_ENDS = (re.compile(r"(?<=[a-z`)0-9])[.:;](?=\s|$)"), re.compile(r",(?=\s)"))


def document(result: Json) -> None:
    """Add what people read first: an introduction, summaries, and groups with descriptions."""
    result["info"]["description"] = WHERE_TO_BEGIN
    result["tags"] = [{"name": name, "description": says} for name, says in TAGS.items()]
    result["components"]["securitySchemes"]["token"]["description"] = HOW_TO_GET_ONE
    for methods in result["paths"].values():
        for operation in methods.values():
            operation["summary"] = summary_of(operation["description"])
            for parameter in operation.get("parameters", ()):
                if (parameter.get("in"), parameter.get("name")) == ("path", "slug"):
                    parameter["description"] = SLUG
                    parameter["schema"]["default"] = "-"


def summary_of(description: str) -> str:
    """The beginning of a description, up to where it can end."""
    text = " ".join(description.split())
    for end in _ENDS:
        if (found := end.search(text)) and found.start() <= LONGEST_SUMMARY:
            return text[: found.start()]
    return text if len(text) <= LONGEST_SUMMARY else text[:LONGEST_SUMMARY].rpartition(" ")[0]
