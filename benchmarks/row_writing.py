"""Writes the rows of a hub into a project, through the services and as their agents."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from benchmarks.questions.hubs import Row, RowKind

if TYPE_CHECKING:
    from ctxhub.core.kit.caller import Caller


def write_rows(caller: "Caller", rows: Sequence[Row]) -> dict[str, str]:
    """Write the rows; return the id of each row by its ref.

    The order matters: search orders equal hits by their times, which increase from row to row. Later
    values are written after all first ones, as they would be in use.
    """
    from ctxhub.core.kit.transactions import write_transaction

    writer = RowWriter(caller)
    with write_transaction(caller.project_id):
        for row in rows:
            writer.write(row)
        for place in range(1, max(len(row.texts) for row in rows)):
            for row in rows:
                if place < len(row.texts):
                    writer.rewrite(row, place)
    return {ref: row_id for row_id, ref in writer.refs.items()}


class RowWriter:
    """`refs`: the ref of each written row by its id."""

    def __init__(self, caller: "Caller") -> None:
        self._caller = caller
        self._workflows: dict[str, int] = {}
        self.refs: dict[str, str] = {}

    def write(self, row: Row) -> None:
        match row.kind:
            case RowKind.DECISION:
                ref = self._set_decision(row, 0)
            case RowKind.CONSTRAINT:
                ref = self._add_constraint(row)
            case RowKind.MESSAGE:
                ref = self._send_message(row)
            case RowKind.CHANGE:
                ref = self._record_change(row)
            case RowKind.MEMORY:
                ref = self._add_memory(row)
            case RowKind.SCRATCHPAD:
                ref = self._create_scratchpad(row)
        self.refs[row.id] = ref

    def rewrite(self, row: Row, place: int) -> None:
        """Write a later text of the row."""
        from memory.memories.services import update_memory
        from memory.scratchpads.services import update_scratchpad

        caller, text = self._speaking(row), row.texts[place]
        match row.kind:
            case RowKind.DECISION:
                self._set_decision(row, place)
            case RowKind.MEMORY:
                update_memory(caller=caller, memory_id=self._number(row.id), content=text)
            case RowKind.SCRATCHPAD:
                update_scratchpad(caller=caller, scratchpad_id=self._number(row.id), content=text)
            case _:
                raise ValueError(f"A {row.kind} is not rewritten.")

    def _set_decision(self, row: Row, place: int) -> str:
        """Only the last value gets the rationale."""
        from memory.decisions.services import set_decision

        given: dict[str, Any] = {"tags": list(row.tags)} if row.tags else {}
        if row.rationale and place == len(row.texts) - 1:
            given["rationale"] = row.rationale
        set_decision(caller=self._speaking(row), key=row.title, value=row.texts[place], **given)
        return f"decision:{row.title}"

    def _add_constraint(self, row: Row) -> str:
        from memory.constraints.services import add_constraint

        answer = add_constraint(
            caller=self._speaking(row), category=row.title, text=row.text, tags=list(row.tags)
        )
        return f"constraint:{answer['id']}"

    def _send_message(self, row: Row) -> str:
        from messaging.messages.services import send_message

        reply_to = self._number(row.reply_to) if row.reply_to else None
        answer = send_message(
            caller=self._speaking(row), text=row.text, type=row.type or "info", reply_to=reply_to
        )
        return f"message:{answer['id']}"

    def _record_change(self, row: Row) -> str:
        from tracking.changes.services import record_change

        answer = record_change(
            caller=self._speaking(row), path=row.title, change=row.type or "modified", description=row.text
        )
        return f"change:{answer['id']}"

    def _add_memory(self, row: Row) -> str:
        from memory.memories.services import add_memory

        answer = add_memory(
            caller=self._speaking(row),
            title=row.title,
            content=row.texts[0],
            context=row.context or "general",
            type=row.type or "note",
            tags=list(row.tags),
        )
        return f"memory:{answer['id']}"

    def _create_scratchpad(self, row: Row) -> str:
        from memory.scratchpads.services import create_scratchpad
        from memory.workflows.services import create_workflow

        caller = self._speaking(row)
        if row.context not in self._workflows:
            made = create_workflow(caller=caller, name=row.context)
            self._workflows[row.context] = made["workflow_id"]
        answer = create_scratchpad(
            caller=caller,
            workflow_id=self._workflows[row.context],
            name=row.title,
            content=row.texts[0],
        )
        return f"scratchpad:{answer['scratchpad_id']}"

    def _speaking(self, row: Row) -> "Caller":
        return replace(self._caller, agent=row.agent) if row.agent else self._caller

    def _number(self, row_id: str) -> int:
        return int(self.refs[row_id].rpartition(":")[2])
