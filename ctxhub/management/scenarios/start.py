"""Demo scenario: an agent starts with a brief, is stopped by a check, and hears of a changed decision."""

from collections.abc import Callable

from ctxhub.management.scenarios.transcript import Agent, Answer, column, expect

KEY = "shop/login/limit"
FIRST, THEN = "Five attempts an hour for an account", "Five attempts an hour for an account and an address"
LOGIN = "shop/api/login.py"
TASK = f"Add the rate limit to {LOGIN}"
BUDGET = 400


async def start_with_a_brief(ada: Agent, ben: Agent, write: Callable[[str], None]) -> None:
    """Run the scenario. Raises Unexpected at the first wrong answer."""
    write("\nAda decides how often one may try to log in, and goes to work on these files.")
    await ada.call("decision", "set", key=KEY, value=FIRST, paths=["shop/api/**"])
    lease = await ada.call("file", "lease", paths=["shop/api/**"], minutes=30, reason="Moving the login.")

    write(f"\nBen starts. Before all else he asks what bears on his task, for {BUDGET} tokens at most.")
    brief = await ben.call("brief", task=TASK, budget_tokens=BUDGET)
    expect("within the budget", brief["tokens"] <= BUDGET, True)
    expect("what was decided", FIRST in str(_rows(brief, "decisions")[:1]), True)

    write("\nHe checks the file before he edits it, and is stopped: Ada is there.")
    check = await ben.call("check", paths=[LOGIN], intent="limit logins")
    expect("clear", check["clear"], False)
    expect("who is there", column(check["leases"], "by"), ["ada"])
    expect("why the decision counts", column(check["decisions"], "why")[0], "path shop/api/**")

    write("\nMeanwhile she changes the decision that he was given. He is told, without having asked for it.")
    changed = await ada.call("decision", "set", key=KEY, value=THEN)
    told = await ben.call("message", "inbox", type="decision", wait_seconds=20)
    expect("who changed it", column(told, "from"), ["ada"])
    expect("what changed", f"decision:{KEY}" in column(told, "text")[0], True)

    write("\nShe lets go. Now he can begin, and asks only for what is new since his brief.")
    await ada.call("file", "release", lease_id=lease["lease_id"])
    check = await ben.call("check", paths=[LOGIN])
    expect("clear", check["clear"], True)
    news = await ben.call("brief", since=brief["cursor"], budget_tokens=BUDGET)
    expect("what is new", THEN in str(_rows(news, "decisions")), True)
    expect("its version", changed["version"], "1.0.1")


def _rows(brief: Answer, section: str) -> list[list[str]]:
    """The rows of a section; none if it is left out, as empty ones are."""
    return next((each["rows"] for each in brief["sections"] if each["name"] == section), [])
