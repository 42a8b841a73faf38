"""Demo scenario: three agents work on one pad in turn and store a memory; the source's own example."""

from collections.abc import Callable

from ctxhub.management.scenarios.transcript import Agent, column, expect

ANALYSIS = "發現 3 個主要問題:\n1. UserService 效能瓶頸...\n2. 記憶體洩漏..."
PROPOSAL = "\n\n建議解決方案:\n1. 加入快取層...\n2. 實作物件池..."
LESSON = (
    "UserService is slow because every request reads the whole user table.\n\n"
    "A cache in front of it, emptied by the writer, took the median from 900 to 40 ms. "
    "See src/services/user_service.py."
)


async def share_a_lesson(ada: Agent, ben: Agent, eve: Agent, write: Callable[[str], None]) -> None:
    """Run the scenario. Raises Unexpected at the first wrong answer."""
    write("\nAda opens a workflow, and writes on a pad of it what she has found.")
    workflow = await ada.call("scratchpad", "create_workflow", name="Code Refactoring Task")
    here = {"workflow_id": workflow["workflow_id"]}
    made = await ada.call("scratchpad", "create", **here, name="code_analysis", content=ANALYSIS)
    pad = {"scratchpad_id": made["scratchpad_id"]}

    write("\nBen reads it ...")
    read = await ben.call("scratchpad", "get", **pad)
    expect("what Ada wrote", read["scratchpad"]["content"], ANALYSIS)

    write("\n... and adds what he would do about it.")
    added = await ben.call("scratchpad", "append", **pad, content=PROPOSAL)
    expect("its length", added["new_length"], len(ANALYSIS) + 2 + len(PROPOSAL))

    write("\nEve looks for what there is about caches and performance. (快取 效能)")
    found = await eve.call("scratchpad", "search", **here, query="快取 效能", limit=10)
    expect("the pad", column(found, "scratchpad_id"), [made["scratchpad_id"]])
    for word in ("快取", "效能"):
        expect(f"{word} marked", f"«{word}»" in column(found, "snippet")[0], True)

    write("\nWhat pads are there?")
    listed = await eve.call("scratchpad", "list", **here, include_content=False)
    expect("the pads", column(listed, "name"), ["code_analysis"])

    write("\nShe does the work, and keeps what she learned for whoever comes after her.")
    kept = await eve.call(
        "memory",
        "add",
        title="UserService needs a cache",
        content=LESSON,
        context="Performance",
        paths=["src/services/*.py"],
    )
    expect("a new context", kept["context_created"], True)
    await eve.call(
        "memory",
        "relate",
        source=kept["id"],
        target=f"scratchpad:{made['scratchpad_id']}",
        relation="references",
    )

    write("\nWeeks later Ada asks, and pays for one sentence; then she reads what it rests on.")
    asked = await ada.call("memory", "search", query="why are user requests slow?")
    expect("the memory", column(asked, "id"), [kept["id"]])
    around = await ada.call("memory", "relationships", id=kept["id"])
    expect("what it references", column(around["edges"], "relation"), ["references"])
