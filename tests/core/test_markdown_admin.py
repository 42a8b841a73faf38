"""Markdown as admin pages render it: readable HTML, harmless whoever wrote the text."""

import re
from functools import cache
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxhub.console.code_colours import CHARACTERS_COLOURED, CLASSES, NAMED
from ctxhub.console.markdown import (
    ATTRIBUTES,
    CHARACTERS_RENDERED,
    LINES_RENDERED,
    REL,
    SANITISER,
    TAGS,
    Heading,
    read_markdown,
    render_markdown,
)
from tests.hostile import HOSTILE
from tests.timing import within_cpu_seconds

EXTERNAL_LINK = re.compile(r"(https?://|mailto:)")


class ParsedHtml(HTMLParser):
    """The tags of a page with their attributes, as a browser would find them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.others: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_comment(self, data: str) -> None:
        self.others.append(data)

    def handle_decl(self, decl: str) -> None:
        self.others.append(decl)

    def handle_pi(self, data: str) -> None:
        self.others.append(data)

    def unknown_decl(self, data: str) -> None:
        self.others.append(data)


def assert_harmless(html: str) -> None:
    """Only allowed tags and attributes, and only addresses that nothing but a click follows."""
    parsed = ParsedHtml(html)
    assert parsed.others == []
    for tag, attributes in parsed.tags:
        alignment = {"align"} if tag in ("td", "th") else set()
        assert tag in TAGS
        own = {"a": {"rel"}, "span": {"class"}}.get(tag, set())
        assert set(attributes) <= ATTRIBUTES.get(tag, set()) | alignment | own
        assert attributes.get("class", next(iter(CLASSES))) in CLASSES
        assert attributes.get("rel") == (REL if tag == "a" else None)
        assert EXTERNAL_LINK.match(attributes.get("href") or "mailto:")
        assert re.fullmatch(r"md-\d+", attributes.get("id") or "md-1")
        assert attributes.get("align", "left") in ("left", "center", "right")
        assert re.fullmatch(r"\d+", attributes.get("start") or "1")


def assert_renders_harmless(text: str) -> None:
    assert_harmless(read_markdown(text).html)


def html_of(text: str) -> str:
    return read_markdown(text).html.strip()


# -- Harmless --------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_markdown_is_rendered_harmless(text: str) -> None:
    assert_renders_harmless(text)
    assert_renders_harmless(f"> - {text}\n\n| a |\n| - |\n| {text} |\n")
    assert_renders_harmless(f"# {text}\n\n[{text}]({text})\n![{text}](<{text}>)\n")


PIECES = st.sampled_from(
    [
        *HOSTILE,
        *"[]()<>!*_`~#|\\&:;\"'=\n\t /-+.",
        "javascript:",
        "data:",
        "](",
        "<a href=",
        "https://x.y",
        "&#106;",
    ]
)


@settings(max_examples=300)
@given(st.lists(PIECES | st.text(max_size=8), max_size=30).map("".join))
def test_any_markdown_renders_only_allowed_tags_and_attributes(text: str) -> None:
    assert_renders_harmless(text)


@pytest.mark.parametrize(
    "scheme", ["javascript:", "JaVaScRiPt:", "data:text/html,", "vbscript:", "file:///", "blob:"]
)
def test_a_link_with_a_dangerous_scheme_is_only_text(scheme: str) -> None:
    assert html_of(f"[here]({scheme}x)") == f"<p>[here]({scheme}x)</p>"


@pytest.mark.parametrize("target", ["//evil.example/x", "/admin/logout/", "src/api.py", "#md-1", "?a=b"])
def test_a_relative_link_is_shown_as_text_with_its_target(target: str) -> None:
    assert html_of(f"[here]({target})") == f"<p>here <code>{target}</code></p>"


def test_a_picture_becomes_a_link() -> None:
    assert html_of("![a cat](https://e.example/cat.png)") == (
        f'<p><a href="https://e.example/cat.png" rel="{REL}">[picture: a cat]</a></p>'
    )
    assert html_of("![a cat](data:image/png;base64,AAAA)") == "<p>[picture: a cat]</p>"
    assert html_of("[![](https://e.example/a.png)](https://e.example/)") == (
        f'<p><a href="https://e.example/" rel="{REL}">[picture]</a></p>'
    )


def test_html_is_escaped() -> None:
    assert html_of("<b onclick=alert(1)>x</b>") == "<p>&lt;b onclick=alert(1)&gt;x&lt;/b&gt;</p>"


@pytest.mark.parametrize("text", HOSTILE)
def test_the_sanitiser_removes_what_the_parser_might_let_through(text: str) -> None:
    html = SANITISER.clean(text)
    assert_harmless(html.replace('id="md-content"', ""))
    assert "harmed" not in re.sub(r">[^<]*<", "><", f">{html}<")


# -- Rendering -------------------------------------------------------------------------------------


def test_headings_are_below_those_of_the_page() -> None:
    html = html_of("# One\n\nTwo\n---\n\n##### Five")
    assert re.findall(r'<(h\d) id="([^"]+)"', html) == [("h3", "md-1"), ("h4", "md-2"), ("h6", "md-3")]


def test_the_outline_lists_each_heading() -> None:
    text = "# *Plan* `x` ![p](q)\n\n```\n# none\n```\n\n> ## Quoted\n\n計畫\n===\n"
    assert read_markdown(text).outline == [
        Heading(1, "Plan x [picture: p]", "md-1", 1),
        Heading(2, "Quoted", "md-2", 7),
        Heading(1, "計畫", "md-3", 9),
    ]


def test_a_bare_url_becomes_a_link_without_trailing_punctuation() -> None:
    address = "https://x.example/a_b_c?d=1"
    html = html_of(f"見{address}。 `https://not.example`")
    link = f'<a href="{address}" rel="{REL}">{address}</a>'
    assert html == f"<p>見{link}。 <code>https://not.example</code></p>"


def test_tasks_have_check_boxes() -> None:
    assert re.findall(r"<li>(.+)</li>", html_of("- [x] done\n- [ ] open\n- [z] other")) == [
        "☑ done",
        "☐ open",
        "[z] other",
    ]


def test_table_cells_keep_their_alignment() -> None:
    assert '<td align="right">1</td>' in html_of("| a |\n| -: |\n| 1 |")


# -- Long texts ------------------------------------------------------------------------------------


def test_a_long_text_is_cut_at_the_end_of_a_line_and_says_so() -> None:
    text = "word word\n" * 20_000
    rendered = read_markdown(text)
    assert rendered.hidden == len(text) - min(CHARACTERS_RENDERED, 10 * LINES_RENDERED)
    html = render_markdown(text, raw_url='/raw/?"<x>')
    assert f"{rendered.hidden:,} more characters are not rendered" in html
    assert 'href="/raw/?&quot;&lt;x&gt;"' in html
    assert read_markdown("x" * (CHARACTERS_RENDERED + 7)).hidden == 7


def test_a_text_that_fits_has_no_notice() -> None:
    assert render_markdown("x", raw_url="/raw/") == "<p>x</p>\n"


SIZE = 1_048_576


@pytest.mark.parametrize(
    "piece",
    [
        *">[!*`<&|~\\_#",
        "![",
        "[a](",
        "*[*",
        "**x [",
        "> - ",
        "1. ",
        "- ",
        "[a]: <b\n",
        "x|\n-|\n",
        "*a **b ",
        "a\r",
    ],
)
def test_the_longest_text_is_rendered_in_bounded_time(piece: str) -> None:
    with within_cpu_seconds(6):
        read_markdown((piece * SIZE)[:SIZE])


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(f"{'  ' * depth}- a" for depth in range(1_400)),
        "> " * 50_000 + "a\n" * 50_000,
        "*a " * 50_000 + "a* " * 50_000,
        "[" * 20_000 + "a" + "](u)" * 20_000,
        "|" + "a|" * 3_000 + "\n|" + "-|" * 3_000 + "\n" + "|x|\n" * 20_000,
    ],
)
def test_deep_nesting_is_rendered_harmless_in_bounded_time(text: str) -> None:
    with within_cpu_seconds(10):
        assert_renders_harmless(text)


# -- Code ------------------------------------------------------------------------------------------

HOSTILE_CODE = (
    "'\n" * 3_000,
    "((" * 900,
    "<a " * 600,
    "/*\n" * 3_000,
    "\n".join(HOSTILE),
    "<script>alert(1)</script>",
)


def test_code_of_a_named_language_is_coloured() -> None:
    html = html_of("```python\ndef f(x):\n    return '<b>'  # no\n```")
    assert html.startswith(
        '<pre><code><span class="ctx-code-keyword">def</span> <span class="ctx-code-name">f</span>'
    )
    assert "<span class=\"ctx-code-string\">'&lt;b&gt;'</span>" in html


@pytest.mark.parametrize("fence", ["", "nonsense", "text python", "PYTHONPATH"])
def test_no_language_is_guessed(fence: str) -> None:
    assert html_of(f"```{fence}\ndef f(): pass\n```") == "<pre><code>def f(): pass\n</code></pre>"


def test_long_code_stays_plain() -> None:
    code = "x = 1\n" * (CHARACTERS_COLOURED // 6 + 1)
    assert "<span" not in html_of(f"```python\n{code}```")
    assert "<span" not in html_of(f"```python\nx = '{'y' * 3_000}'\n```")


@pytest.mark.parametrize("language", NAMED)
def test_each_name_of_a_language_has_a_lexer(language: str) -> None:
    assert re.sub("<.*?>", "", html_of(f"```{language}\nx\n```")) == "x\n"


@cache
def plain_html(code: str) -> str:
    return html_of(f"~~~~\n{code}\n~~~~")


@pytest.mark.parametrize("language", {lexer: name for name, lexer in NAMED.items()}.values())
def test_hostile_code_is_harmless_whole_and_cheap(language: str) -> None:
    html_of(f"```{language}\nx\n```")
    for code in HOSTILE_CODE:
        with within_cpu_seconds(0.6):
            html = html_of(f"~~~~{language}\n{code}\n~~~~")
        assert_harmless(html)
        assert re.sub("<.*?>", "", html) == re.sub("<.*?>", "", plain_html(code))
