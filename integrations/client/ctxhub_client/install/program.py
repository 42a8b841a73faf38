"""The program that was started, as the files of clients name it."""

from __future__ import annotations

import os
import shlex
import shutil
import sys

from ctxhub_client.install.unpacking import LAUNCHER, data_folder, unpack

PYTHON_FILES = (".py", ".pyz")


class Program:
    """A file that Python runs, or the console script that pip has made."""

    def __init__(self) -> None:
        started = sys.argv[0]
        self.is_python = started.endswith(PYTHON_FILES)
        self.is_archive = started.endswith(".pyz")
        self.path = os.path.realpath(started if self.is_python else shutil.which(started) or started)

    def unpack(self) -> str:
        """Let the files of clients name the program in the user's data folder. Returns what was done."""
        self.path, was_written = unpack()
        self.is_python = True
        return "{}: {}.".format(self.path, "written" if was_written else "nothing to change")

    def will_unpack(self) -> None:
        """As if it had been unpacked, to say what would be written."""
        self.path, self.is_python = os.path.join(data_folder(), LAUNCHER), True

    def shown(self) -> str:
        """What a person types to run it."""
        return self.command("python" if os.name == "nt" else "python3").replace(" -IS", "", 1)

    def words(self, python: str) -> list[str]:
        """What runs it, without a shell."""
        return [python, "-IS", self.path] if self.is_python else [self.path]

    def command(self, python: str, inside: str = "") -> str:
        """What runs it in a shell. `inside`: a path that begins with a variable of it."""
        if inside:
            script = '"{}"'.format(inside)
        elif os.name == "nt":
            script = '"{}"'.format(self.path.replace("\\", "/"))
        else:
            script = shlex.quote(self.path)
        return "{} -IS {}".format(python, script) if self.is_python else script
