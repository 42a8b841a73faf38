"""The hub's server in the configuration of Codex."""

from __future__ import annotations

import re

from ctxhub_client.install.files import Refused
from ctxhub_client.values import dict_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ctxhub_client.values import Json

# That server in Codex' configuration. A mark at the end of a line says who wrote it.
CODEX_SERVER = re.compile(r"^[ \t]*\[[ \t]*mcp_servers[ \t]*\.[ \t]*(\"?)ctxhub\1[ \t]*\].*$", re.MULTILINE)

CODEX_SETTINGS = ("default_tools_approval_mode", "required")

CODEX_MARK = " # by ctxhub"

CODEX_OWN = re.compile(
    "\n(?:{}) = .*{}(?:_hook\\.py)?[ \t]*$".format("|".join(CODEX_SETTINGS), re.escape(CODEX_MARK)),
    re.MULTILINE,
)


def with_server_lines(text: str, lines: list[str], path: str) -> str:
    """Codex' configuration with these lines below the head of the server's table, but for what is set there.

    Raises Refused if the table is not found.
    """
    if not lines:
        return text
    heads = list(CODEX_SERVER.finditer(text))
    if len(heads) != 1:
        raise Refused(
            "{} has no table [mcp_servers.ctxhub]. Connect Codex to the hub first (codex mcp add ctxhub ...),"
            " or add to its settings there: {}".format(path, "; ".join(lines))
        )
    end = heads[0].end()
    table = re.split(r"\n[ \t]*\[", text[end:])[0]
    new = [
        line for line in lines if not re.search(r"^[ \t]*{} *=".format(line.split()[0]), table, re.MULTILINE)
    ]
    return text[:end] + "".join("\n{}{}".format(line, CODEX_MARK) for line in new) + text[end:]


def refuse_other_toml(old: str, new: str, path: str) -> None:
    """Raise Refused unless both texts are TOML and differ in those settings of the MCP server alone.

    Python before 3.11 cannot read TOML: there a text with strings of several lines is refused.
    """
    try:
        import tomllib
    except ImportError:
        is_known = '"""' not in old and "'''" not in old
    else:
        try:
            is_known = without_server_settings(tomllib.loads(old)) == without_server_settings(
                tomllib.loads(new)
            )
        except (ValueError, RecursionError):
            is_known = False
    if not is_known:
        raise Refused("{} is of an unknown form, and stays as it is.".format(path))


def without_server_settings(config: Json) -> Json:
    servers = dict_of(config, "mcp_servers")
    server = dict_of(servers, "ctxhub")
    left = {name: value for name, value in server.items() if name not in CODEX_SETTINGS}
    return dict(config, mcp_servers=dict(servers, ctxhub=left))
