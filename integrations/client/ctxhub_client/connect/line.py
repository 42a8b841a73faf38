"""What a client is to run or to ask, and for which folder."""

from __future__ import annotations

import os
import re

from ctxhub_client.paths import Project

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Mapping, Sequence

NAME = "ctxhub"
BRIDGE = "mcp"
VARIABLE = "CTXHUB_TOKEN"


class Line:
    """The words that start the program: `program`, then `mcp` or `hook CLIENT`, then `arguments`.

    `program` is the absolute path of an interpreter with its options and the program, or the program alone.
    With `url` the client asks that address itself, with the token that is in a variable where the client
    starts (CTXHUB_TOKEN, or another), and as `agent`. `environment` is for servers on stdio: settings alone,
    never a token.
    """

    def __init__(
        self,
        program: Sequence[str],
        arguments: Sequence[str] = (),
        *,
        url: str = "",
        token_variable: str = "",
        agent: str = "",
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.program = list(program)
        self.arguments = list(arguments)
        self.url = url
        self.token_variable = token_variable or VARIABLE
        self.agent = agent
        self.environment = dict(environment or {})

    @property
    def server(self) -> list[str]:
        return [*self.program, BRIDGE, *self.arguments]

    def hook(self, client: str) -> str:
        """The command of a shell that runs the hooks of a client."""
        return shell_command([*self.program, "hook", client, *self.arguments])


def shell_command(words: list[str], system: str = os.name) -> str:
    """On Windows a shell of Git runs it, which takes slashes in paths and double quotes."""
    if system != "nt":
        import shlex

        return " ".join(shlex.quote(word) for word in words)
    slashed = [word.replace("\\", "/") if re.match(r"[A-Za-z]:\\|\\\\", word) else word for word in words]
    return " ".join(
        word if re.fullmatch(r"[\w@%+=:,./-]+", word) else '"{}"'.format(re.sub(r'(["$`\\])', r"\\\1", word))
        for word in slashed
    )


class Scope:
    """All projects of the user, or the repository (or the folder, where there is none) that one works in."""

    def __init__(self, is_user: bool, folder: str = "") -> None:
        self.is_user = is_user
        self.project = Project(folder)
        repository = self.project.repository
        self.top = repository.top if repository else self.project.folder

    @property
    def shared_top(self) -> str:
        """The top of the main worktree, by which Claude Code names a repository and all its worktrees."""
        repository = self.project.repository
        if repository and os.path.basename(repository.common) == ".git":
            return os.path.dirname(repository.common)
        return self.top
