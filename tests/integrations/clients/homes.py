"""A made-up home with a repository in it, in which clients are connected."""

import os
from dataclasses import dataclass
from pathlib import Path

from ctxhub_client.connect.clients import Report, connect_client, disconnect_client
from ctxhub_client.connect.found import CLIENTS
from ctxhub_client.connect.line import Line, Scope

GOLDEN = Path(__file__).parent / "golden"
# Stands in golden files for the folder of a test.
FOLDER = b"/HOME"
SCOPES = ("user", "repository")
CASES = [(client, scope) for client in CLIENTS for scope in SCOPES]
PROGRAM = ("/usr/bin/python3", "-IS", "/opt/ctxhub/ctxhub.py")
HUB = "https://hub.example.com"


@dataclass
class Home:
    """`home` and `repo`; variables of the environment name no other folders."""

    folder: Path

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def repository(self) -> Path:
        return self.folder / "repo"

    def line(self, client: str, hub: str = HUB, url: str = "") -> Line:
        arguments = ("--hub", hub, "--project", "apollo", "--agent", f"ada-{client}")
        return Line(PROGRAM, arguments, url=url, agent=f"ada-{client}")

    def connect(
        self, client: str, scope: str, line: Line | None = None, *, rules: bool = True, dry_run: bool = False
    ) -> Report:
        return connect_client(
            client, line or self.line(client), self.scope(scope), rules=rules, dry_run=dry_run
        )

    def disconnect(self, client: str, scope: str, *, dry_run: bool = False) -> Report:
        return disconnect_client(client, self.scope(scope), dry_run=dry_run)

    def scope(self, name: str) -> Scope:
        return Scope(name == "user", str(self.repository))

    def fill(self, case: str) -> None:
        """Put the files of a golden folder into this one."""
        for name, content in golden_files(GOLDEN / case).items():
            file = self.folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content.replace(FOLDER, os.fsencode(self.folder)))

    def files(self) -> dict[str, bytes]:
        """The files of clients, with a stand-in for the folder."""
        return {
            str(path.relative_to(self.folder)): path.read_bytes().replace(os.fsencode(self.folder), FOLDER)
            for path in self._paths()
            if path.is_file()
        }

    def folders(self) -> set[str]:
        return {str(path.relative_to(self.folder)) for path in self._paths() if path.is_dir()}

    @property
    def state(self) -> Path:
        return self.home / ".local" / "state"

    def _paths(self) -> list[Path]:
        own = (self.repository / ".git", self.home / ".local")
        return [
            path
            for path in sorted(self.folder.rglob("*"))
            if not any(path == each or each in path.parents for each in own)
        ]


def golden_files(folder: Path) -> dict[str, bytes]:
    return {
        "/".join(undotted(part) for part in file.relative_to(folder).parts): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def undotted(name: str) -> str:
    return "." + name.removeprefix("dot-") if name.startswith("dot-") else name


def dotted(name: str) -> str:
    """git is told to leave out some folders whose names begin with a dot."""
    return "/".join("dot-" + part[1:] if part.startswith(".") else part for part in name.split("/"))
