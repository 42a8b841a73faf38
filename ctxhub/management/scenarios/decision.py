"""Demo scenario: two agents share a decision; their calls and the expected answers."""

from collections.abc import Callable

from ctxhub.management.scenarios.transcript import Agent, column, expect

KEY = "api/auth/method"


async def share_a_decision(ada: Agent, ben: Agent, write: Callable[[str], None]) -> None:
    """Run the scenario. Raises Unexpected at the first wrong answer."""
    write("\nAda remembers where she is, to ask later what is new.")
    start = await ada.call("hub", "updates")

    write("\nShe decides, and says why.")
    made = await ada.call(
        "decision",
        "set",
        key=KEY,
        value="JWT",
        layer="business",
        tags=["api", "security"],
        rationale="Stateless: any worker can check it.",
        alternatives=[{"option": "sessions", "why_not": "one more thing to share"}],
    )
    expect("a first version", made["version"], "1.0.0")

    write("\nBen looks before he chooses, and finds her decision with its reason.")
    found = await ben.call("decision", "get", key=KEY, include=["rationale"])
    expect("the author", found["decision"]["agent"], "ada")
    expect("the reason", found["decision"]["rationale"], "Stateless: any worker can check it.")

    write("\nMeanwhile she sharpens it ...")
    await ada.call("decision", "set", key=KEY, value="JWT, 15 minutes")

    write("\n... so Ben's change, made of what he read, is refused and shows what stands now.")
    version = found["decision"]["version"]
    refusal = await ben.refused("decision", "set", key=KEY, value="sessions", expected_version=version)
    expect("the refusal", refusal["error"], "conflict")
    expect("what stands", refusal["current"], {"version": "1.0.1", "value": "JWT, 15 minutes"})

    write("\nHe thinks again, and changes what he has now read.")
    changed = await ben.call(
        "decision",
        "set",
        key=KEY,
        value="JWT, 15 minutes, refresh tokens revocable",
        expected_version=refusal["current"]["version"],
    )
    expect("the next version", changed["version"], "1.0.2")

    write("\nWho decided what about security?")
    listed = await ben.call("decision", "list", tags=["security"])
    expect("the list", column(listed, "key"), [KEY])

    write("\nEvery version is kept, with its author.")
    versions = await ada.call("decision", "versions", key=KEY)
    expect("the authors", column(versions, "agent"), ["ben", "ada", "ada"])

    write("\nAda asks what others changed since: a few tokens, her own changes not counted.")
    news = await ada.call("hub", "updates", since=start["cursor"])
    expect("what is new", news["decisions"], 1)
