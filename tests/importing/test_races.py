"""Concurrent imports of the same file: each row is imported once."""

import pytest

from ctxhub.core.models import Event, Project
from memory.models import Context, Memory, Relationship, Scratchpad, Workflow
from tests.importing.old_knowledge import OldKnowledge
from tests.importing.old_pads import OldPads
from tests.importing.test_free_context import fill as fill_knowledge
from tests.importing.test_scratchpads import fill as fill_pads
from tests.sqlew.importing import imported_at_once

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("index_is_kept")]

EACH = 20


def test_concurrent_imports_take_each_pad_once(apollo: Project, pads: OldPads) -> None:
    fill_pads(pads, EACH)
    reports = imported_at_once(pads.close(), "import_scratchpads")
    assert sorted(report.is_new for report in reports) == [False, False, True]
    assert Workflow.objects.in_project(apollo).count() == EACH
    assert Scratchpad.objects.in_project(apollo).count() == 2 * EACH
    assert Event.objects.in_project(apollo).filter(verb="imported").count() == 1


def test_concurrent_imports_take_each_memory_once(apollo: Project, knowledge: OldKnowledge) -> None:
    fill_knowledge(knowledge, EACH)
    reports = imported_at_once(knowledge.close(), "import_free_context")
    assert sorted(report.is_new for report in reports) == [False, False, True]
    for model, count in ((Context, EACH), (Memory, 2 * EACH), (Relationship, EACH)):
        assert model.objects.in_project(apollo).count() == count
    assert Event.objects.in_project(apollo).filter(verb="imported").count() == 1
