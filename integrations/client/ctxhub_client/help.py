"""What `--help` says."""

HELP = """\
Connects coding agents to a ctxhub server: run by the hooks of their clients, and as their MCP server.

    ctxhub connect [HUB]            connects the clients of this machine, in this folder: shows a code, which
                                    you type at the hub; --help tells the options
    ctxhub disconnect               takes out of the clients' files what connect wrote; --revoke: tokens, too
    ctxhub token [CLIENT]           prints a token that connect has stored
    ctxhub hook [CLIENT]            a hook of claude (the default), which Cursor runs as well, or of codex:
                                    reads JSON from stdin
    ctxhub codex-notify JSON        the program that Codex notifies after each turn
    ctxhub pre-commit [FILE..]      refuses staged files under another agent's exclusive lease
    ctxhub mcp                      an MCP server on stdio: passes messages to the hub, and its answers back
    ctxhub watch [--json] [--once]  a line for each thing that concerns this session, until it is ended
    ctxhub install                  unpacks this program into your data folder, from where it starts fastest
    ctxhub upgrade                  gets the program that the hub serves now, and unpacks that
    ctxhub install WHAT             claude-code, cursor, codex, agents-md or pre-commit; in the repository of
                                    the working directory
    ctxhub uninstall [WHAT]         removes what install added, and nothing else
    ctxhub doctor [--json]          looks at all that clients need to reach the hub, and says what to do
    ctxhub --version                the release, and the beginning of the digest of its files

    install options: --user (claude-code, codex: for all your projects), --approve (claude-code, codex: the
    client uses the hub's tools without asking), --wait (codex: it starts with the hub's tools or not at all),
    --python NAME (default python3; on Windows python), --file NAME (agents-md; default AGENTS.md), --notify
    (codex: notify instead of hooks)

Variables: CTXHUB_URL (default http://127.0.0.1:8000), CTXHUB_TOKEN, CTXHUB_AGENT (default: the client's own
name, claude, codex or cursor; a token that is pinned to an agent speaks as that one), CTXHUB_ENFORCE=
deny|warn|off (leases of others; default deny), CTXHUB_SHELL=each|stop|off (when to look for what commands
write; default each), CTXHUB_CAPTURE=1 (keeps lines of answers that begin with
"Decision:" or "Remember:"), CTXHUB_DEBUG=FILE (a log of what was asked and answered).

Needs Python 3.8 or newer and nothing else. A hook ends within 5 seconds with exit code 0, whatever happens,
and writes nothing but its answer. Only pre-commit may refuse: exit code 77.
"""
