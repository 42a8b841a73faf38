"""What no noun takes: values of its fields, of its changes, and of the filters of its list."""

from typing import Any

Refused = list[tuple[str, Any]]

LONG = "x" * 65_537
LISTS: Refused = [("limit", 0), ("limit", 201), ("limit", 10**30), ("cursor", "zzz")]
WORDS: Refused = [("tags", [""]), ("tags", ["x" * 101]), ("tags", [str(n) for n in range(51)])]
LAYERS: Refused = [("layer", "nowhere")]
PATHS: Refused = [("paths", ["/etc/passwd"]), ("paths", ["../up"])]
TIMES: Refused = [("since", "yesterday"), ("until", "e")]

# Of a new object, and of its changes where they have the field.
FIELDS: dict[str, Refused] = {
    "decision": [
        *[("key", bad) for bad in ("", " ", "x" * 201, "a\x00")],
        *[("value", bad) for bad in (LONG, "a\x00")],
        *[("status", bad) for bad in ("gone", 9, 1.0)],
        *[("version", bad) for bad in (" ", "v" * 51)],
        ("scopes", [None]),
        ("rationale", LONG),
        ("alternatives", [{"why_not": "slow"}]),
        ("tradeoffs", {"pro": ["a"]}),
        *[("metadata", bad) for bad in ({"a": LONG}, {"a\x00": 1})],
        *[*WORDS, *LAYERS, *PATHS],
    ],
    "template": [
        *[("defaults", bad) for bad in ({"key": "k"}, {"layer": "nowhere"})],
        ("patterns", {"a": "("}),
    ],
    "constraint": [
        *[("text", bad) for bad in (" ", LONG)],
        *[("category", bad) for bad in ("", "x" * 101)],
        *[("priority", bad) for bad in ("urgent", 9)],
        ("scopes", [" "]),
        *[*WORDS, *LAYERS, *PATHS],
    ],
    "context": [
        *[("name", bad) for bad in ("", " ", "5", "x" * 201)],
        ("stack", "x" * 101),
        ("difficulty", "hard"),
    ],
    "memory": [
        *[("title", bad) for bad in ("", " ", "x" * 501)],
        *[("content", bad) for bad in ("", "x" * 1_048_577)],
        *[("context", bad) for bad in ("", " ")],
        ("type", "poem"),
        ("difficulty", "odd"),
        *[*WORDS, *PATHS],
    ],
    "workflow": [("name", "x" * 201)],
    "scratchpad": [("name", ""), ("name", " "), ("content", "\x00")],
    "message": [
        ("text", " "),
        ("type", "question"),
        *[("priority", bad) for bad in ("urgent", 9)],
        ("ack_within", "soon"),
        ("reply_to", "memory:1"),
    ],
    "change": [*[("change", bad) for bad in ("moved", 9)], ("path", "../a"), ("by", "ben"), *LAYERS],
    "lease": [*[("paths", bad) for bad in ([], [".."])], *[("minutes", bad) for bad in (0, 1441)]],
    "snapshot": [
        *[("content", bad) for bad in ("", " ", 5)],
        ("action_type", "refactor"),
        ("metadata", []),
        ("dependencies", ["x"]),
        ("caused_by", "template:1"),
        ("cause", 3),
        *WORDS,
    ],
    "session": [],
}
# Of its list.
FILTERS: dict[str, Refused] = {
    "decision": [
        ("status", "gone"),
        ("match", "some"),
        ("tags", ["x" * 101]),
        ("tags", ",".join(map(str, range(51)))),
        ("scope", "x" * 201),
        ("sort", "value"),
        ("order", "up"),
        ("max_tokens", 0),
        *[("cursor", bad) for bad in ("e12", "WyJ1cGRhdGVkIiwieCIsMV0")],
        ("cursor", "WyJ1cGRhdGVkIiwiMDAwMS0wMS0wMVQwMDowMDowMCsxNDowMCIsMV0"),
        *[*LISTS, *LAYERS, *TIMES],
    ],
    "template": LISTS,
    "constraint": [
        *[("status", "odd"), ("priority", "odd"), ("match", "odd"), ("category", "x" * 101)],
        *[*LISTS, *LAYERS],
    ],
    "context": LISTS,
    "memory": [("type", "poem"), ("difficulty", "odd"), *LISTS],
    "workflow": [("text", " "), *LISTS],
    "scratchpad": LISTS,
    "message": [("state", "new"), ("wait_seconds", 61), ("wait_seconds", -1), *LISTS],
    "change": [("change", "moved"), ("since", "soon"), ("path", "/x"), *LAYERS, *LISTS],
    "lease": [("path", ".."), *LISTS],
    "snapshot": [("tier", "hot"), ("action_type", "refactor"), *LISTS],
    "session": LISTS,
}
