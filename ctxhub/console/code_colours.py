"""Colours fenced code of a named language, within limits of size and time."""

import time
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from itertools import groupby
from operator import itemgetter
from typing import Any

from django.utils.html import escape
from markdown_it.token import Token as Block
from pygments.lexer import Lexer
from pygments.token import Token

# Of all the code on a page; what is longer stays plain.
CHARACTERS_COLOURED = 15_000
LINE_LENGTH = 2_000
SECONDS = 0.04

# No language is guessed, and only these are loaded: module of pygments.lexers, class, names in fences.
LANGUAGES = (
    ("python", "PythonLexer", "python py python3"),
    ("python", "PythonConsoleLexer", "pycon"),
    ("javascript", "JavascriptLexer", "javascript js mjs jsx"),
    ("javascript", "TypeScriptLexer", "typescript ts tsx"),
    ("data", "JsonLexer", "json jsonc jsonl"),
    ("data", "YamlLexer", "yaml yml"),
    ("configs", "TOMLLexer", "toml"),
    ("configs", "IniLexer", "ini cfg conf env"),
    ("configs", "DockerLexer", "dockerfile docker"),
    ("configs", "NginxConfLexer", "nginx"),
    ("shell", "BashLexer", "bash sh shell zsh"),
    ("shell", "BashSessionLexer", "console shell-session"),
    ("sql", "SqlLexer", "sql sqlite"),
    ("sql", "PostgresLexer", "postgres postgresql plpgsql"),
    ("html", "HtmlLexer", "html"),
    ("html", "XmlLexer", "xml svg"),
    ("css", "CssLexer", "css"),
    ("templates", "DjangoLexer", "django jinja jinja2"),
    ("diff", "DiffLexer", "diff patch"),
    ("make", "MakefileLexer", "make makefile"),
    ("c_cpp", "CLexer", "c h"),
    ("c_cpp", "CppLexer", "cpp c++ hpp"),
    ("dotnet", "CSharpLexer", "csharp c# cs"),
    ("go", "GoLexer", "go golang"),
    ("jvm", "JavaLexer", "java"),
    ("jvm", "KotlinLexer", "kotlin kt"),
    ("objective", "SwiftLexer", "swift"),
    ("php", "PhpLexer", "php"),
    ("ruby", "RubyLexer", "ruby rb"),
    ("rust", "RustLexer", "rust rs"),
)
NAMED = {name: (module, lexer) for module, lexer, names in LANGUAGES for name in names.split()}

# The first that a token belongs to; classes of admin.css.
COLOURS = (
    (Token.Comment, "ctx-code-comment"),
    (Token.Literal.String, "ctx-code-string"),
    (Token.Literal.Number, "ctx-code-number"),
    (Token.Keyword.Constant, "ctx-code-number"),
    (Token.Keyword, "ctx-code-keyword"),
    (Token.Operator.Word, "ctx-code-keyword"),
    (Token.Name.Tag, "ctx-code-keyword"),
    (Token.Name.Function, "ctx-code-name"),
    (Token.Name.Class, "ctx-code-name"),
    (Token.Name.Decorator, "ctx-code-name"),
    (Token.Name.Attribute, "ctx-code-name"),
    (Token.Name.Builtin, "ctx-code-builtin"),
    (Token.Name.Exception, "ctx-code-builtin"),
    (Token.Generic.Heading, "ctx-code-keyword"),
    (Token.Generic.Subheading, "ctx-code-comment"),
    (Token.Generic.Prompt, "ctx-code-comment"),
    (Token.Generic.Inserted, "ctx-code-added"),
    (Token.Generic.Deleted, "ctx-code-removed"),
)
CLASSES = {name for _, name in COLOURS}


def colour_fences(tokens: Iterable[Block]) -> None:
    """Replaces fenced blocks by their coloured HTML, the first ones up to the limits."""
    characters, seconds = 0, SECONDS
    for token in tokens:
        language = _language(token) if token.type == "fence" else ""
        if language in NAMED and characters + len(token.content) <= CHARACTERS_COLOURED:
            characters += len(token.content)
            lexer = _lexer(*NAMED[language])  # The first time it is loaded, which counts for no page.
            started = time.thread_time()
            html = _coloured(lexer, token.content, started + seconds)
            seconds -= time.thread_time() - started
            token.type, token.content = "html_block", f"<pre><code>{html}</code></pre>\n"


def _language(fence: Block) -> str:
    """The first word after the fence; "" if a line is too long for colours, as in generated code."""
    longest = max(map(len, fence.content.splitlines()), default=0)
    return fence.info.split(maxsplit=1)[0].lower() if fence.info.strip() and longest <= LINE_LENGTH else ""


@cache
def _lexer(module: str, name: str) -> Lexer:
    lexer: Lexer = getattr(import_module(f"pygments.lexers.{module}"), name)()
    return lexer


def _coloured(lexer: Lexer, code: str, end: float) -> str:
    """The code as HTML; plain if a lexer lost some of it, and after `end` in seconds of this thread."""
    tokens = list[tuple[str, str]]()
    for _, kind, text in lexer.get_tokens_unprocessed(code):  # type: ignore[no-untyped-call]
        if time.thread_time() > end:
            break
        tokens.append((_class_of(kind), text))
    done = "".join(text for _, text in tokens)
    if not code.startswith(done):
        return escape(code)
    tokens.append(("", code[len(done) :]))
    runs = groupby(tokens, key=itemgetter(0))
    return "".join(_span(name, "".join(text for _, text in run)) for name, run in runs)


def _span(name: str, text: str) -> str:
    return f'<span class="{name}">{escape(text)}</span>' if name and text.strip() else escape(text)


@cache
def _class_of(kind: Any) -> str:
    return next((name for colour, name in COLOURS if kind in colour), "")
