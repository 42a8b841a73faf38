"""Who holds a lease or a claim: an agent and its session."""

from ctxhub.core.kit.frozen import frozen

# Between the parts of a session's name: `claude-1a2b/reviewer-7` is a subagent in the window `claude-1a2b`.
PART = "/"


@frozen
class Holder:
    """An agent, by its case-folded name, and the session it works in.

    `session`: "" if the call names none. `made_up`: a process chose the name, since its client told none.
    """

    agent: str
    session: str = ""
    made_up: bool = False

    @property
    def is_named(self) -> bool:
        return bool(self.session) and not self.made_up

    def is_same(self, other: "Holder") -> bool:
        """Whether what the other one holds is in no one's way here.

        Two windows of an agent are others; a window and a subagent in it are the same. Where a session is
        missing or made up nobody knows, and nobody is locked out by a guess.
        """
        if self.agent != other.agent:
            return False
        return (
            not (self.is_named and other.is_named)
            or is_part(self.session, other.session)
            or is_part(other.session, self.session)
        )

    def includes(self, other: "Holder") -> bool:
        """Whether the other one is this very holder, or a part of it."""
        if self.agent != other.agent or self.made_up != other.made_up:
            return False
        return is_part(other.session, self.session) if self.session else not other.session


def is_part(session: str, of: str) -> bool:
    """Whether a session is another one, or within it."""
    return session == of or session.startswith(of + PART)
