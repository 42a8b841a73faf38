"""HTTP headers of ours, and the decoding of headers."""

AGENT_HEADER = "Ctxhub-Agent"
CLIENT_HEADER = "Ctxhub-Client"
SESSION_HEADER = "Ctxhub-Session"
MADE_UP_SESSION_HEADER = "Ctxhub-Made-Up-Session"
BRANCH_HEADER = "Ctxhub-Branch"
WORKTREE_HEADER = "Ctxhub-Worktree"


def header_text(header: str) -> str:
    """A header's bytes as text: servers read them as Latin-1, but most clients mean UTF-8."""
    try:
        return header.encode("latin-1").decode()
    except UnicodeError:
        return header
