"""What Dockerfile, .dockerignore and compose.yaml say."""

import json
import re
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from ctxhub import env

DOCKERFILE, IGNORED, COMPOSE = (env.ROOT / name for name in ("Dockerfile", ".dockerignore", "compose.yaml"))


class Step(NamedTuple):
    """An instruction of the Dockerfile: `RUN` and what follows it, without line ends."""

    name: str
    rest: str

    @property
    def words(self) -> list[str]:
        """Those of an instruction in exec form, `CMD ["serve"]`, whose options come before them."""
        found: list[str] = json.loads(self.rest[self.rest.index("[") :])
        return found


def steps() -> list[Step]:
    text = re.sub(r"^#.*\n", "", DOCKERFILE.read_text(), flags=re.MULTILINE)
    lines = re.sub(r"\s*\\\n\s*", " ", text).split("\n")
    return [Step(*line.split(" ", 1)) for line in lines if line.strip()]


def step(name: str) -> Step:
    """The only one of its name."""
    [found] = [each for each in steps() if each.name == name]
    return found


def sent_names() -> list[str]:
    """What `.dockerignore` lets into the image: it leaves out everything, and then names what is sent."""
    lines = [line for line in IGNORED.read_text().splitlines() if line and line[0] != "#"]
    assert lines[0] == "*"
    assert lines[-1] == "**/__pycache__"
    names = [line.removeprefix("!") for line in lines[1:-1]]
    assert [f"!{name}" for name in names] == lines[1:-1]
    return names


def copy_sent(target: Path) -> None:
    """Do what `COPY . .` does, into an empty folder."""
    for name in sent_names():
        source = env.ROOT / name
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target / name)


def services() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = yaml.safe_load(COMPOSE.read_text())["services"]
    return found
