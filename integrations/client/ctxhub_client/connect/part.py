"""What connecting adds to a file: a part of its text that is ours."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ctxhub_client.values import Json


class Part:
    """`key` tells the parts of one file apart. `noted` is what `note` said of the text before."""

    key = ""
    # Whether it can be told from a part that another command or a person has written.
    is_distinct = False

    def is_in(self, text: str) -> bool:
        """Whether the text has all of it, as it is to be."""
        raise NotImplementedError

    def note(self, text: str) -> Json:
        """What has to be known of the text to take the part out again."""
        raise NotImplementedError

    def put_into(self, text: str) -> str:
        """Raises Refused if the text is not understood."""
        raise NotImplementedError

    def take_out_of(self, text: str, noted: Json | None) -> str:
        """The text as it is if it has nothing that is ours. Raises Refused as `put_into` does.

        `noted` is None where nothing is kept of the file.
        """
        raise NotImplementedError

    def is_blank(self, text: str) -> bool:
        """Whether a file that connecting has made has nothing of others."""
        return not text.strip()

    def lines(self) -> str:
        """What a person can paste instead."""
        raise NotImplementedError
