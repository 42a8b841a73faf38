"""JSON with comments, changed in its text: what is not changed keeps its bytes, and the values are right."""

import copy
import json
import re
from typing import Any

import pytest
from ctxhub_client.connect import jsonc_edit
from ctxhub_client.connect.jsonc import find, parse
from ctxhub_client.install.files import Refused
from hypothesis import given
from hypothesis import strategies as st

WORDS = st.text(st.characters(codec="utf-8"), max_size=6)
KEYS = st.sampled_from(["a", "b", "é", "mcp", "// c", "/* d */", "}", ",", '"']) | WORDS
SCALARS = st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.floats(-1e6, 1e6) | KEYS
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=4)
GAPS = ["", "", "", " ", "\n", "\r\n", "\n\t", "\n    ", " // c, } ]\n", "/* d\n } */", "\t/**/ "]
NEW = {"command": "python3", "args": ["-IS", "é \u2028"], "env": {}}


@st.composite
def texts(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """A text in any style, and the value that it stands for."""
    value = draw(OBJECTS)

    def gap() -> str:
        return draw(st.sampled_from(GAPS))

    def is_drawn() -> bool:
        return draw(st.booleans())

    def written(value: Any) -> str:
        if isinstance(value, dict):
            parts = [
                gap()
                + json.dumps(key, ensure_ascii=draw(st.booleans()))
                + gap()
                + ":"
                + gap()
                + written(inner)
                for key, inner in value.items()
            ]
            return "{" + joined(parts) + gap() + "}"
        if isinstance(value, list):
            return "[" + joined([gap() + written(inner) for inner in value]) + gap() + "]"
        return json.dumps(value)

    def joined(parts: list[str]) -> str:
        end = "," if parts and is_drawn() and is_drawn() else ""
        return (gap() + ",").join(parts) + (gap() + end if end else "")

    return gap() + written(value) + gap(), value


def objects_in(value: Any, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    if not isinstance(value, dict):
        return []
    return [path, *(found for key, inner in value.items() for found in objects_in(inner, (*path, key)))]


def with_value(value: dict[str, Any], path: tuple[str, ...], new: Any) -> dict[str, Any]:
    changed = copy.deepcopy(value)
    at = changed
    for key in path[:-1]:
        at = at.setdefault(key, {})
    at[path[-1]] = new
    return changed


@given(texts())
def test_a_text_is_read_as_its_value(given_text: tuple[str, dict[str, Any]]) -> None:
    text, value = given_text
    assert parse(text).value == value


@given(texts(), st.data(), st.booleans())
def test_what_is_put_is_read_and_removing_it_gives_the_text_back(
    given_text: tuple[str, dict[str, Any]], data: st.DataObject, is_deep: bool
) -> None:
    text, value = given_text
    above = data.draw(st.sampled_from(objects_in(value)))
    path = (*above, "ctxhub", "server") if is_deep else (*above, "ctxhub")
    new = jsonc_edit.put(text, path, NEW)
    assert parse(new).value == with_value(value, path, NEW)
    assert jsonc_edit.put(new, path, NEW).count("python3") == text.count("python3") + 1
    left = jsonc_edit.remove(new, (*above, "ctxhub"))
    assert parse(left).value == value
    container = find(parse(text), above)
    assert container is not None
    inner = text[container.start + 1 : container.end - 1]
    if container.items or not inner:
        assert left == text


@given(texts(), st.data())
def test_replacing_keeps_what_is_around(given_text: tuple[str, dict[str, Any]], data: st.DataObject) -> None:
    text, value = given_text
    paths = [(*above, key) for above in objects_in(value) for key in inner_of(value, above)]
    if not paths:
        return
    path = data.draw(st.sampled_from(paths))
    old = find(parse(text), path)
    assert old is not None
    raw = text[old.start : old.end]
    new = jsonc_edit.put(text, path, NEW)
    assert parse(new).value == with_value(value, path, NEW)
    assert new.startswith(text[: old.start])
    assert new.endswith(text[old.end :])
    assert jsonc_edit.put_raw(new, path, raw) == text


def inner_of(value: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


@given(texts(), st.lists(st.integers(0, 9), max_size=3))
def test_elements_come_last_and_go_again(given_text: tuple[str, dict[str, Any]], numbers: list[int]) -> None:
    text, value = given_text
    base = jsonc_edit.put(text, ("list",), numbers)
    new = jsonc_edit.append(base, ("list",), NEW)
    assert parse(new).value == {**value, "list": [*numbers, NEW]}
    assert jsonc_edit.remove(new, ("list", len(numbers))) == base


@given(texts())
def test_plain_json_stays_plain(given_text: tuple[str, dict[str, Any]]) -> None:
    _, value = given_text
    for indent in (None, 2, "\t"):
        text = json.dumps(value, indent=indent, ensure_ascii=False)
        assert json.loads(jsonc_edit.put(text, ("ctxhub",), NEW)) == {**value, "ctxhub": NEW}


@given(st.text(st.sampled_from('{}[]",:/*\n\\ atrue1-.')))
def test_whatever_python_reads_is_read_alike_and_other_texts_are_refused(text: str) -> None:
    try:
        expected = json.loads(text)
    except ValueError:
        try:
            value = parse(text).value
        except Refused:
            return
        assert json.loads(json.dumps(value)) == value
        assert re.search(r"//|/\*|,\s*[\]}]", text)
    else:
        assert parse(text).value == expected


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "{",
            "}",
            '{"a": 1',
            '{"a": 1,, "b": 2}',
            '{"a" 1}',
            "{a: 1}",
            "{'a': 1}",
            '{"a": 1} x',
            '{"a": 01}',
        ),
        *(
            '{"a": NaN}',
            '{"a": "\t"}',
            '{"a": 1 /* }',
            '{"a": 1} /',
            "{,}",
            "[,]",
            '{"a": 1 "b": 2}',
            "\x00{}",
        ),
    ],
)
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(Refused):
        parse(text)


def test_what_is_nested_too_deep_is_refused() -> None:
    with pytest.raises(Refused):
        parse('{"a":' * 100_000)


def test_a_number_that_is_too_long_stays() -> None:
    text = '{"a": ' + "9" * 10_000 + "}"
    assert jsonc_edit.remove(jsonc_edit.put(text, ("b",), 1), ("b",)) == text


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"mcpServers": {}, "mcpServers": {}}', "twice"),
        ('{"mcpServers": {"ctxhub": 1, "ctxhub": 2}}', "twice"),
        (r'{"mcpServers": {}, "mcp\u0053ervers": {}}', "twice"),
        ('{"mcpServers": []}', "not an object"),
        ('{"mcpServers": null}', "not an object"),
        ("[]", "not an object"),
        ('"mcpServers"', "not an object"),
    ],
)
def test_what_is_on_the_way_and_no_object_is_refused(text: str, why: str) -> None:
    with pytest.raises(Refused, match=why):
        jsonc_edit.put(text, ("mcpServers", "ctxhub"), NEW)


def test_a_key_that_is_twice_elsewhere_stays() -> None:
    text = '{"env": {"A": 1, "A": 2}, "mcpServers": {}}'
    assert '"A": 1, "A": 2' in jsonc_edit.put(text, ("mcpServers", "ctxhub"), NEW)
