"""Compression and digests of files, by language."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxhub.core.text.token_count import count_tokens
from sessions.prioritize import python_source
from sessions.prioritize.compression import shorter_forms, without_comments
from tests.sessions.files import compress, digest
from tests.timing import within_cpu_seconds

pytestmark = pytest.mark.filterwarnings("ignore:invalid escape sequence")


ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("ctxhub", "memory", "messaging", "tracking", "sessions")
MIB = 1_048_576
LONG = "It is long enough that a digest is shorter than the text. " * 40


def tree(text: str) -> str:
    return ast.dump(ast.parse(text))


# -- Python ----------------------------------------------------------------------------------------

PYTHON = '''#!/usr/bin/env python
# A licence.
"""What it is.

# No comment, and two blanks:{two}
"""


import os  # noqa


def f(a: int, b: str = "#") -> str:  # Why.
    """Returns it.{two}


    And more."""
    # First.
    return f"{a}#{b}"   # Last.
'''.replace("{two}", "  ")
SHORT_PYTHON = '''#!/usr/bin/env python
"""What it is.

# No comment, and two blanks:{two}
"""

import os

def f(a: int, b: str = "#") -> str:
    """Returns it.{two}


    And more."""
    return f"{a}#{b}"
'''.replace("{two}", "  ")


def test_python_loses_its_comments_and_keeps_its_strings() -> None:
    assert compress("src/app.py", PYTHON) == SHORT_PYTHON


@pytest.mark.parametrize("folder", FOLDERS)
def test_our_own_source_compiles_to_the_same_tree(folder: str) -> None:
    for path in (ROOT / folder).rglob("*.py"):
        text = path.read_text()
        compressed = compress("a.py", text)
        assert tree(compressed) == tree(text), path
        assert count_tokens(compressed) <= count_tokens(text), path


PIECES = st.sampled_from(
    [
        *("x = 1", "# c", "    # c", "", "  ", "\\", "x = (1,  # c", ")", '"""', "'''", 'y = """a', '# b"""'),
        *("if x:", "    pass  # c", "    y = 2", 's = "#"', "s = '''#", "x = 1 + \\", "    2", "\t# c", "\f"),
        *(
            "class A:",
            '    """D."""',
            "f'{x!r}' # c",
            "f'''{",
            "}'''",
            "x = [",
            "]",
            "@f",
            "def f(): pass",
            "\r",
        ),
    ]
)


@settings(max_examples=1_000)
@given(st.lists(PIECES, max_size=12), st.sampled_from(["\n", "\r\n", "\n\n\n", " \n"]))
def test_any_python_compiles_to_the_same_tree(pieces: list[str], end: str) -> None:
    text = end.join(pieces)
    if python_source.parse(text) is None:
        return
    assert tree(compress("a.py", text) + "\n") == tree(text)


@settings(max_examples=500)
@given(
    st.text(alphabet="#\"'\\\n x=1(){}fr:`/*-<>!|", max_size=60), st.sampled_from(["py", "js", "sh", "md"])
)
def test_no_form_is_longer_than_the_text(text: str, suffix: str) -> None:
    for form in (compress(f"a.{suffix}", text), digest(f"a.{suffix}", text)):
        assert count_tokens(form) <= count_tokens(text)


def test_python_that_does_not_parse_loses_the_comments_on_lines_of_their_own() -> None:
    text = 'print "a"  # kept\n# gone\n\n\n\ns = """\n# kept\n"""\n'
    assert compress("a.py", text) == 'print "a"  # kept\n\ns = """\n# kept\n"""\n'


def test_long_python_is_treated_as_text_and_still_compiles_to_the_same_tree() -> None:
    text = PYTHON + "x = 1  # kept\n# gone\n" * 10_000
    compressed = compress("a.py", text)
    assert (tree(compressed) == tree(text), "# kept" in compressed, "# gone" in compressed) == (
        True,
        True,
        False,
    )


def test_a_digest_of_python_has_signatures_and_first_lines_of_docstrings() -> None:
    text = (
        '"""A module.\n\nMore."""\nX = 1\n'
        'class A(B):\n    """A class."""\n    def f(\n        self,\n        a: int = 1,\n    ) -> int:\n'
        '        """Does it.\n\n        More."""\n        return 1\n'
        "if X:\n    async def g(): return 2\n\n"
        "def outer():\n    @cache\n    def inner(): ...\n" + f"TEXT = '{LONG}'\n"
    )
    assert digest("a.py", text) == (
        '"""A module."""\nclass A(B): """A class."""\n'
        '    def f( self, a: int = 1, ) -> int: """Does it."""\n'
        "async def g():\ndef outer():"
    )


# -- Other languages -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("suffix", "text", "expected"),
    [
        ("js", "// a\nx = 1 // b\n/* c\n d */\ny()\n", "x = 1 // b\ny()\n"),
        ("ts", "x = `\n// a\n\n\n\n`  \n// b\n", "x = `\n// a\n\n\n\n`\n"),
        ("js", 's = "/*"\n// a\nt = "*/"\n', 's = "/*"\nt = "*/"\n'),
        ("js", "/* a */ x()\n", "/* a */ x()\n"),
        (
            "c",
            "#include <a.h>\n#define X 1\n// a \\\n  b\n// c\nint x;\n",
            "#include <a.h>\n#define X 1\n// a \\\n  b\nint x;\n",
        ),
        ("cpp", 's = R"x(\n// a\n)x";\n// b\n', 's = R"x(\n// a\n)x";\n'),
        ("rs", 's = r#"\n// a\n"#;\n// b\nt = "\n// c\n";\n', 's = r#"\n// a\n"#;\nt = "\n// c\n";\n'),
        ("go", "s := `\\`\n// a\nt()\n", "s := `\\`\nt()\n"),
        ("java", 's = """\n// a\n""";\n// b\n', 's = """\n// a\n""";\n'),
        ("css", "#id { a: b }\n/* c */\n.x {}\n", "#id { a: b }\n.x {}\n"),
        (
            "sh",
            "#!/bin/sh\n# a\ncat <<EOF\n# b\nEOF\n# c\nx='\n# d\n'\n",
            "#!/bin/sh\ncat <<EOF\n# b\nEOF\nx='\n# d\n'\n",
        ),
        ("sh", "a \\\n# b\nc\n# d\n", "a \\\n# b\nc\n"),
        ("rb", "# a\nx = <<~SQL\n  # b\nSQL\n# c\n", "x = <<~SQL\n  # b\nSQL\n"),
        ("toml", '# a\nx = """\n# b\n"""\n# c\n', 'x = """\n# b\n"""\n'),
        ("yaml", "# a\nx: |\n  # b\n\n\n\n  c\ny: 1 # d\n# e\n", "x: |\n  # b\n\n\n\n  c\ny: 1 # d\n"),
        ("yml", "- run: >-\n    # a\n  # b\n", "- run: >-\n    # a\n  # b\n"),
        ("sql", "-- a\nSELECT '\n-- b\n', $$\n-- c\n$$;\n/* d */\n", "SELECT '\n-- b\n', $$\n-- c\n$$;\n"),
        ("lua", "-- a\n--[[ b\nc ]]\nx = [[\n-- d\n]]\n", "x = [[\n-- d\n]]\n"),
        ("hs", "-- a\n--> b\nf' = 1\n", "--> b\nf' = 1\n"),
        (
            "html",
            "<!-- a\nb -->\n<p>\n<!--[if IE]>x<![endif]-->\n<pre>\n\n\n\n</pre>\n",
            "<p>\n<!--[if IE]>x<![endif]-->\n<pre>\n\n\n\n</pre>\n",
        ),
        (
            "xml",
            "<a>\n<![CDATA[\n<!-- b -->\n]]>\n<!-- c -->\n</a>\n",
            "<a>\n<![CDATA[\n<!-- b -->\n]]>\n</a>\n",
        ),
        ("clj", '; a\n(f "\n; b\n" \\;)\n', '(f "\n; b\n" \\;)\n'),
        (
            "tex",
            "% a\n5\\% of\n\\begin{verbatim}\n% b\n\\end{verbatim}\n% c\n",
            "5\\% of\n\\begin{verbatim}\n% b\n\\end{verbatim}\n",
        ),
        ("bat", "@echo off\nREM a\n:: b\necho rem\n", "@echo off\necho rem\n"),
        ("vb", "' a\nREM b\nx = 1\n", "x = 1\n"),
        ("erl", "% a\nf() -> 1.\n", "f() -> 1.\n"),
        ("ini", "; a\n# b\nx = 1 ; c\n", "x = 1 ; c\n"),
        ("nix", "# a\nx = ''\n  # b\n'';\n", "x = ''\n  # b\n'';\n"),
        ("php", "// a\n$x = <<<EOT\n// b\nEOT;\n// c\n", "$x = <<<EOT\n// b\nEOT;\n"),
        (
            "md",
            "# T  \n\n\n\n<!-- a -->\nx  \ny \n```sh\n# b\n\n\n\n```\n<!-- c\n-->\nz\n",
            "# T  \n\nx  \ny\n```sh\n# b\n\n\n\n```\nz\n",
        ),
        ("txt", "# a\n\n\n\n-- b  \n", "# a\n\n-- b\n"),
        ("csv", "a,b\t\n\n\n\n", "a,b\t\n\n\n\n"),
    ],
)  # fmt: skip
def test_comments_on_lines_of_their_own_by_language(suffix: str, text: str, expected: str) -> None:
    assert without_comments(suffix, text) == expected


def test_a_file_without_an_extension_goes_by_its_name() -> None:
    assert compress("src/Makefile", "# a comment\nall:\n\tmake x\n") == "all:\n\tmake x\n"


def test_lines_may_end_in_any_way() -> None:
    assert compress("a.js", "a()  \r\n\r\n\r\n\r\n// b\r\nc()\r") == "a()\n\nc()\n"


@pytest.mark.parametrize("text", ["", " ", "\n\n\n\n", "# only a comment\n", "x = 1\n"])
def test_a_form_that_is_blank_or_no_shorter_is_the_text_itself(text: str) -> None:
    assert (compress("a.py", text), digest("a.py", text)) == (text, text)


# -- Digests ---------------------------------------------------------------------------------------


def test_a_digest_of_markdown_has_headings_and_their_first_sentences() -> None:
    text = (
        "Before.\n# One\n\nFirst one. Second.\n```\n# no heading\n```\n## Two\n### 三\n你好。再见。\n\n"
        + LONG
    )
    assert digest("a.md", text) == "# One\nFirst one.\n## Two\n### 三\n你好。"


def test_a_digest_of_json_has_keys_two_deep() -> None:
    text = f'{{"a": {{"b": {{"x": 1}}, "c": 2}}, "d": [1, 2], "e": "{LONG}"}}'
    assert digest("a.json", text) == "a: b, c\nd: [2]\ne"
    assert digest("a.json", f'[{{"a": 1, "b": "{LONG}"}}, 2]') == "[2] a, b"


def test_a_digest_of_yaml_has_keys_two_deep() -> None:
    text = (
        "a:\n  b: 1\n  c:\n    d: 2\nlist:\n  - name: x\n    on: |\n      no: key\n  - name: y\n'q k': "
        + LONG
    )
    assert digest("a.yml", text) == "a: b, c\nlist: name, on\nq k"


@pytest.mark.parametrize("path", ["a.txt", "a.json", "a.md", "a.yaml", "a.py"])
def test_any_other_digest_is_the_first_and_the_last_lines(path: str) -> None:
    lines = [f"({n}) no keys, no headings" for n in range(400)]
    found = digest(path, "\n".join(lines)).split("\n")
    assert (found[0], found[-1]) == (lines[0], lines[-1])
    assert [line for line in found if line not in lines] == ["… 9,126 characters …"]


# -- Hostile texts ---------------------------------------------------------------------------------

HOSTILE = [
    *("x", "(", "[", "\\", "\n", "/*", "/*\n", "`", '"', "'", '"""', "#", "--[[", "<!--", "<!--\n", "$a$"),
    *(" ", "\t \n", " x", "<<A\n<<B\n", "a: |\n", "- a: ", "a: ", "```\n", "# h\n", 'r#"', "{-", "<pre>"),
    *("x=1\n", "--[==[\n", "\\\n", "not ", "a.", "a+", "f'{", "{a:", '{"a":', "[1],", "中", "\r"),
    *("elif x:\n", "def f():0\n", "1if 1else ", "::\n", "\\begin{verbatim}", "a = [\n"),
]  # fmt: skip


@pytest.mark.parametrize("suffix", ["py", "js", "sh", "yaml", "md", "sql", "html", "json", "tex"])
def test_long_texts_of_anything_take_linear_time(suffix: str) -> None:
    size = MIB // 4 if suffix == "py" else MIB // 16  # Shorter Python is parsed.
    for piece in HOSTILE:
        text = piece * (size // len(piece.encode()))
        with within_cpu_seconds(0.5):
            shorter_forms(f"a.{suffix}", text)


def test_what_the_compiler_warns_of_is_not_printed() -> None:
    # A process of its own, since pytest has filters of its own.
    code = "from sessions.prioritize.python_source import parse; parse('x = \"\\\\d\"')"
    done = subprocess.run(
        [sys.executable, "-W", "always", "-c", code], cwd=ROOT, capture_output=True, check=True
    )
    assert done.stderr == b""
