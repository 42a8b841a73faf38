"""Token costs of searching compared with reading everything: `python -m benchmarks.nineteen`.

Nineteen memories of about 500 tokens each, five of them about React hooks, searched for "React hooks": the
setting of the table that Free Context publishes, where searching saves 87 % (compact), 77 % and 53 %. Tokens
are counted in o200k, as sent.
"""

from typing import TYPE_CHECKING, Any

from benchmarks.databases import Engine, databases
from benchmarks.inside import connected
from benchmarks.questions.entries import Entry
from benchmarks.questions.made import made_entries
from benchmarks.tokens import compact, counter

if TYPE_CHECKING:
    from ctxhub.core.kit.caller import Caller

# The subject of five of them, and a query with hits in all of them, as in the table of Free Context.
QUERIES = (
    "React hooks",
    "React hooks, the team, customers, orders, the clinic, staging, labels, maps, or a release",
)
OTHERS = 14
TOKENS_PER_MEMORY = 480

# Notes of a team that moves its forms from classes to functions.
HOOKS = (
    (
        "React hooks: rules that bit us",
        "Hooks run in the same order at every render, so none of them may stand behind an `if`, in a "
        "loop or after an early return. The linter's rule catches most of it, but not a hook that a "
        "helper calls without being named `use...`.\n\nWe found two: `formatPrice` read a context, and "
        "`initTracking` kept a ref. Both were renamed.",
    ),
    (
        "Effects that run twice in development",
        "Strict mode mounts every component twice. An effect that opens a socket must close it in its "
        "clean-up, else the dev server shows two connections and people file bugs.\n\nuseEffect with an "
        "empty list is not componentDidMount: it sees the props of the first render for ever. Name what "
        "it reads, or use a ref.",
    ),
    (
        "useMemo is not a guarantee",
        "React may throw a memoised value away. We keep nothing in it that costs a request; that is what "
        "the query cache is for.\n\nHooks of the cache: useOrder(id) suspends, useOrders(filter) does "
        "not.",
    ),
    (
        "Custom hooks live beside their feature",
        "A custom hook that one feature uses lies in its folder, and moves to src/hooks when a second "
        "one wants it. It returns an object with names, not a tuple, unless it behaves like "
        "useState.\n\nTests call it through renderHook; mocks of React itself are not accepted in review.",
    ),
    (
        "State: reducer or several useState",
        "Three fields that change together are one reducer. The checkout form had nine useState hooks "
        "and a bug in every second pull request; with a reducer the transitions stand in one table that "
        "the tests walk through.",
    ),
)


def main() -> None:
    with databases(Engine.SQLITE) as factory, connected(factory.empty()):
        caller = _fill()
        count, call = counter(), _caller_of(caller)
        complete = count(compact(call("get", refs=[f"memory:{number}" for number in range(1, 20)])))
        print(f"read whole, 19 memories: {complete:,} tokens")
        listed = count(compact(call("memory", action="list")))
        print(f"memory list, 19 rows with digests: {listed:,} tokens, {1 - listed / complete:.0%} less")
        for query in QUERIES:
            for detail in ("compact", "standard", "detailed"):
                found = call("memory", action="search", query=query, detail=detail, limit=19)
                tokens = count(compact(found))
                print(
                    f"memory search, {detail}: {found['count']} hits, {tokens:,} tokens,"
                    f" {1 - tokens / complete:.0%} less"
                )


def _fill() -> "Caller":
    from django.core.management import call_command

    from ctxhub.core.accounts.projects import create_project
    from ctxhub.core.kit.caller import Caller
    from memory.memories.services import add_memory

    call_command("migrate", verbosity=0)
    caller = Caller(project=create_project(slug="bench"), agent="bench")
    entries = made_entries()
    texts = [*HOOKS, *((f"Notes {number + 1}", "") for number in range(OTHERS))]
    for number, (title, own) in enumerate(texts):
        add_memory(caller=caller, title=title, content=_padded(own, entries, number), context="Front end")
    return caller


def _padded(own: str, entries: list[Entry], number: int) -> str:
    """The own text of a memory with paragraphs of other entries, about 500 tokens together."""
    from ctxhub.core.text.token_count import count_tokens

    paragraphs, tokens = [own] if own else [], count_tokens(own)
    for entry in entries[number :: len(HOOKS) + OTHERS]:
        if tokens > TOKENS_PER_MEMORY:
            break
        paragraphs.append(entry.text)
        tokens += count_tokens(entry.text)
    return "\n\n".join(paragraphs)


def _caller_of(caller: "Caller") -> Any:
    from ctxhub.toolbox import dispatch

    return lambda tool, **arguments: dispatch.call(caller, tool, arguments)


if __name__ == "__main__":
    main()
