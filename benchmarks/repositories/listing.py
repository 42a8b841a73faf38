"""The repositories: where they are, the commit at which each is read, and what was made of it then."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

FILE = Path(__file__).parent / "repositories.json"


@dataclass(frozen=True, slots=True)
class Listed:
    """`figures`: how many records, rules, notes and tasks it gave."""

    url: str
    commit: str
    figures: dict[str, int] = field(default_factory=dict, compare=False)

    @property
    def name(self) -> str:
        """owner+name, as the folder is called."""
        return "+".join(self.url.rsplit("/", 2)[1:])

    @property
    def slug(self) -> str:
        return self.url.rpartition("/")[2].casefold().replace(".", "-")


def read_listed() -> list[Listed]:
    return [Listed(**line) for line in json.loads(FILE.read_text(encoding="utf-8"))]


def write_listed(listed: list[Listed]) -> None:
    lines = ",\n".join(f"  {json.dumps(asdict(one))}" for one in listed)
    FILE.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
