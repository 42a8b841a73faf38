"""What lies in the bin with an object though no foreign key joins them. Apps add theirs."""

from collections.abc import Sequence

from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.models import ProjectRow


@frozen
class Joined:
    """Rows that go with any of the objects that they name. `ends`: their columns with a kind and an id."""

    model: type[ProjectRow]
    ends: Sequence[tuple[str, str]]


@frozen
class Cleared:
    """A column without a foreign key, with the id of an object of a kind, that its deletion sets to null."""

    model: type[ProjectRow]
    column: str
    kind: str


joined: list[Joined] = []
cleared: list[Cleared] = []
