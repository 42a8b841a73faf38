"""The program, the variables, and what the hub says of the token."""

from __future__ import annotations

import os
import sys

from ctxhub_client.doctor.findings import NOTE, OK, PROBLEM, WARNING, Finding
from ctxhub_client.hooks.notices import shown_address, way_to_upgrade
from ctxhub_client.hub import Hub, how_to_trust, open_connection
from ctxhub_client.install.unpacking import data_folder
from ctxhub_client.settings import CHOICES, agent_name, chosen
from ctxhub_client.texts import one_line
from ctxhub_client.values import text_of
from ctxhub_client.version import version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ctxhub_client.install.program import Program

SECONDS = 5
REPLACE = (
    "Make one in the hub's admin (Access tokens) or with `manage.py token create`, and put it into your"
    " shell's profile: export CTXHUB_TOKEN=ctx_..."
)


def program_findings(program: Program) -> list[Finding]:
    text = "{} by {}".format(program.path, sys.executable)
    if program.is_archive:
        fix = "`{} install` unpacks it, from where it starts faster.".format(program.shown())
        return [Finding("program", NOTE, text + ", an archive, which is compiled at each run", fix)]
    return [Finding("program", OK, text)]


def variable_findings() -> list[Finding]:
    """Values that mean nothing, and those that let hooks do less."""
    found = []
    for name, choices in CHOICES.items():
        given = os.environ.get(name, "").strip()
        if given and given.lower() not in choices:
            text = "{}={} means nothing, so it is {}".format(name, one_line(given, 40), choices[0])
            found.append(Finding("variables", WARNING, text, "Write one of {}.".format(", ".join(choices))))
        elif chosen(name) != choices[0]:
            found.append(Finding("variables", NOTE, "{}={}".format(name, chosen(name))))
    if not os.access(data_folder(), os.W_OK) and os.path.exists(data_folder()):
        found.append(Finding("program", WARNING, "{} cannot be written: no upgrade".format(data_folder())))
    return found


class Asked:
    """What the hub answered."""

    def __init__(self) -> None:
        self.hub = Hub("claude", ignores_pause=True)
        self.problem = self.hub.problem
        self.fix = "Is the hub running, and CTXHUB_URL its address?"
        self.served = ""
        self.me: dict[str, object] = {}
        self.status = 0
        if self.hub.problem:
            return
        try:
            self.served = self._served()
        except Exception as error:
            self.problem = "{} cannot be reached: {}".format(shown_address(self.hub), error)
            self.fix = how_to_trust(error) or self.fix
            return
        if not self.hub.is_unset:
            self.me, self.name = self.hub.me()
            self.status = self.hub.status

    def _served(self) -> str:
        """The version of this program that the hub serves; "" if it serves none."""
        connection, prefix = open_connection(self.hub.url, SECONDS)
        connection.request("HEAD", prefix + "/connect/ctxhub.pyz")
        answer = connection.getresponse()
        answer.read()
        return str(answer.getheader("Ctxhub-Client-Version") or "")

    def findings(self, program: Program) -> list[Finding]:
        if self.hub.is_unset and not os.environ.get("CTXHUB_TOKEN", "").strip():
            token = [Finding("token", PROBLEM, "CTXHUB_TOKEN is not set", REPLACE)]
        elif self.hub.is_unset:
            text = "CTXHUB_TOKEN is the name of a variable that is not set"
            token = [Finding("token", PROBLEM, text, REPLACE)]
        else:
            token = [] if self.problem else self._token()
        return [*self._hub(program), *token]

    def _hub(self, program: Program) -> list[Finding]:
        if self.problem:
            fix = self.fix + " Without it hooks do nothing."
            return [Finding("hub", PROBLEM, self.problem, "" if self.hub.problem else fix)]
        answers = "{} answers".format(shown_address(self.hub))
        if not self.served:
            fix = "Is CTXHUB_URL the address of a ctxhub server of this release?"
            return [Finding("hub", WARNING, answers + ", but serves no client", fix)]
        if self.served != version():
            text = "{}, and serves version {} of the client".format(answers, one_line(self.served, 40))
            return [Finding("hub", WARNING, text, way_to_upgrade(program, self.hub) + ".")]
        return [Finding("hub", OK, answers + ", and serves this version of the client")]

    def _token(self) -> list[Finding]:
        if self.status == 401:
            return [Finding("token", PROBLEM, "the hub refuses it: ended, revoked or mistyped", REPLACE)]
        project = text_of(self.me, "project")
        if not project:
            text = "the hub answers {} to the question whose it is".format(self.status or "nothing")
            return [Finding("token", PROBLEM, text, "CTXHUB_DEBUG=FILE shows what is asked and answered.")]
        given = self.me.get("scopes")
        scopes = [each for each in given if isinstance(each, str)] if isinstance(given, list) else []
        text = "of project {}, with {}".format(project, ", ".join(scopes) or "no scopes")
        found = [Finding("token", OK, text)]
        if "write" not in scopes:
            text = "without the scope write nothing is recorded"
            found = [Finding("token", WARNING, "of project {}: {}".format(project, text), REPLACE)]
        return [*found, self._agent()]

    def _agent(self) -> Finding:
        agent, named = text_of(self.me, "agent"), agent_name()
        if self.me.get("pinned") is True:
            if named and named.casefold() != agent.casefold():
                text = "hooks speak as {}, to which the token is pinned, and not as CTXHUB_AGENT={}"
                text = text.format(agent, one_line(named, 40))
                return Finding("agent", WARNING, text, "Unset CTXHUB_AGENT.")
            return Finding("agent", OK, "hooks speak as {}, to which the token is pinned".format(agent))
        if named and not self.name:
            text = "the token may not speak as CTXHUB_AGENT={}: hooks speak as {}"
            return Finding("agent", WARNING, text.format(one_line(named, 40), agent), "Choose another name.")
        return Finding("agent", OK, "hooks speak as {}".format(named or "the client: claude, codex, cursor"))

    def speaks_as(self, client: str) -> str:
        """The name of a client's hooks; "" where it is not known."""
        if self.me.get("pinned") is True or (agent_name() and not self.name):
            return text_of(self.me, "agent")
        return (agent_name() or client) if self.me else ""
