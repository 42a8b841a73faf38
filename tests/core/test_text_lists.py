"""Lists sent as text: JSON, JSON in JSON, Python's repr, lines, commas and semicolons."""

import json
import time
from contextlib import suppress
from typing import Any

import pytest

from ctxhub.core.kit.text_lists import (
    UnreadableList,
    names_of,
    parse_list,
    parse_value,
    read_names,
    split_names,
)

API_AUTH = [
    '["api","auth"]',
    ' ["api", "auth"]\n',
    "['api', 'auth']",
    "('api', 'auth')",
    "{'api', 'auth'}",
    "set(['api', 'auth'])",
    "frozenset({'api', 'auth'})",
    "['api', \"auth\",]",
    json.dumps('["api","auth"]'),
    json.dumps(json.dumps(["api", "auth"])),
    json.dumps("['api', 'auth']"),
    '\'["api", "auth"]\'',
    '["[\\"api\\",\\"auth\\"]"]',
    "[\"['api', 'auth']\"]",
    '[["api","auth"]]',
    '["\\"api\\"","\'auth\'"]',
    '```json\n["api", "auth"]\n```',
    "api,auth",
    " api ; auth ",
    "api, auth,",
    "api\nauth",
    "api\r\nauth\r\n",
    "- api\n- auth",
    "* api\n* auth\n",
    "1. api\n2. auth",
    "api,\nauth",
    '"api", "auth"',
    "'api','auth'",
    "`api`, `auth`",
]


@pytest.mark.parametrize("text", API_AUTH)
def test_names_are_read_however_a_list_is_written(text: str) -> None:
    assert read_names(text) == ["api", "auth"]


@pytest.mark.parametrize(
    "text",
    [
        "['api",
        "['api', 'auth'",
        '["a", "b"',
        "['api' 'auth']",
        "[api, auth]",
        "[api",
        "api]",
        "'api",
        "api'",
        '"api, auth',
        "`api",
        "('api'",
        "('api')",
        "{}",
        "null",
        '{"a": 1}',
        "{'a': 1}",
        "{api}",
        "{a,b}",
        "[api], [auth]",
        '["api"] ["auth"]',
        "[" * 65_536,
        "[" * 65_536 + "]" * 65_536,
        "['" * 30_000,
        "(" * 65_536 + "'a'",
    ],
)
def test_what_is_left_of_a_list_is_refused(text: str) -> None:
    with pytest.raises(UnreadableList):
        read_names(text)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("api", ["api"]),
        ("error handling", ["error handling"]),
        ("app/[id]", ["app/[id]"]),
        ("[id]/page, [lang]/[slug]", ["[id]/page", "[lang]/[slug]"]),
        ("renovate[bot]", ["renovate[bot]"]),
        ("claude (opus), ben", ["claude (opus)", "ben"]),
        ("it's, don't", ["it's", "don't"]),
        ('"Doe, Jane", ben', ["Doe, Jane", "ben"]),
        ('"say ""hi"", ben"', ['say "hi", ben']),
        ("'Doe; Jane'; ben", ["Doe; Jane", "ben"]),
        ('["Doe, Jane", "ben"]', ["Doe, Jane", "ben"]),
        ("src/{m,n}.py, b.py", ["src/{m,n}.py", "b.py"]),
        ("src/{m,{n,o}}.py; b.py", ["src/{m,{n,o}}.py", "b.py"]),
        ("api/*, -x", ["api/*", "-x"]),
        ("3, 4", ["3", "4"]),
        ("(3, 4)", [3, 4]),
        ("[]", []),
        ("()", []),
        ("set()", []),
        ("['C:\\\\a', 'caf\\u00e9', '\\n']", ["C:\\a", "café", "\n"]),
        ("[1, -2.5, None, True, false]", [1, -2.5, None, True, False]),
        ("", [""]),
        (" , ;\n", [""]),
    ],
)
def test_names_keep_what_is_theirs(text: str, names: list[Any]) -> None:
    assert read_names(text) == names


@pytest.mark.parametrize("text", ["api", "(see below)", "{x} is set", '"quoted"', "see ['a']", "", "3"])
def test_other_texts_are_no_list(text: str) -> None:
    assert parse_list(text) is None


@pytest.mark.parametrize("text", ["[id]", "[...slug].tsx", "[[...slug]]", "{}", "[a, b]", "(group)/page.tsx"])
def test_brackets_may_be_letters(text: str) -> None:
    assert parse_list(text, brackets_are_letters=True) is None


def test_brackets_with_quotes_are_no_letters() -> None:
    for text in ("['a", '{"a": 1}', '("a"'):
        with pytest.raises(UnreadableList):
            parse_list(text, brackets_are_letters=True)


def test_separators_may_be_fewer() -> None:
    assert split_names("a;b, c", separators=",") == ["a;b", "c"]
    assert split_names("[id], [slug", brackets_are_letters=True) == ["[id]", "[slug"]


def test_entries_of_a_list_may_be_lists() -> None:
    assert names_of(["a", "['b', 'c']", ["d", 5], '"e"', "f, g", 6]) == [
        "a",
        "b",
        "c",
        "d",
        5,
        "e",
        "f, g",
        6,
    ]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{'a': [1, {'b': None}], 2: 'x'}", {"a": [1, {"b": None}], "2": "x"}),
        ('{"a": {"b": 1}}', {"a": {"b": 1}}),
        ("{'a': 1, 'a': 2}", {"a": 2}),
        ("[{'a': 'it\\'s'}, \"b\"]", [{"a": "it's"}, "b"]),
        ("[WIP] use Redis", None),
        ("(maybe)", None),
        ("{'a': 1, 'b'}", None),
        ("[1 2]", None),
        ("[1,,2]", None),
        ("[__import__('os')]", None),
        ("plain", None),
    ],
)
def test_values_are_read_as_json_or_as_python_writes_them(text: str, value: Any) -> None:
    assert parse_value(text) == value


@pytest.mark.parametrize(
    "text",
    [
        *(one * 65_536 for one in "[({'\"`,;-\\}"),
        "{'a':" * 13_000,
        '"a,' * 22_000,
        "'a',\"" * 13_000,
        '""' * 32_768,
        "{a," * 22_000,
        "['" + "\\" * 65_000,
        "[" + "1," * 32_000,
        "[" + "-" * 65_000 + "1]",
        "[" + "9" * 65_000 + ",]",
        "- " * 32_768,
    ],
)
def test_hostile_texts_take_no_time(text: str) -> None:
    started = time.process_time()
    with suppress(UnreadableList):
        read_names(text)
    assert time.process_time() - started < 2
