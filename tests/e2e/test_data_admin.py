"""The page of a project's data in a real browser: an export is downloaded, and can be imported."""

import re
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, ViewportSize, expect

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import HubRecord, Import, Project
from ctxhub.core.records.services import note
from tests.e2e.test_admin import go, sign_in
from tests.e2e.test_snapshots_admin import fits
from tests.hub import LiveHub
from tests.people import ADMIN, VIEWER, person
from tests.transfer.world import export_of, fill, objects_in, take, written

pytestmark = pytest.mark.one_engine

DESKTOP, PHONE = ViewportSize(width=1280, height=900), ViewportSize(width=390, height=844)
PATH = "/admin/core/import/data/"


@pytest.fixture
def full(ada: Caller, ben: Caller, tmp_path: Path) -> Project:
    """A project that was imported into once, on a hub with a backup and a drill."""
    fill(ada, ben)
    take(written(export_of(ada.project), tmp_path / "own.jsonl"), ada.project, by="manage.py import")
    file = "/var/backups/ctxhub/ctxhub-2026-11-27T032000Z.tar"
    note(HubRecord.Kind.BACKUP, {"file": file, "bytes": 18_415_616, "rows": 214_061})
    details = {"is_right": True, "bytes": 18_400_000, "rows": 214_061, "questions": 20, "seconds": 21.4}
    note(HubRecord.Kind.DRILL, details)
    return ada.project


def test_an_administrator_downloads_an_export(
    page: Page, hub: LiveHub, full: Project, tmp_path: Path
) -> None:
    sign_in(page, hub, person("host", full, ADMIN))
    page.get_by_role("link", name=re.compile("^(database )?Data$")).click()
    expect(page.get_by_role("row", name="Decisions").get_by_role("cell").first).to_have_text("3")
    expect(page.get_by_role("row", name="manage.py import")).to_contain_text("done")
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Download", exact=False).first.click()
    assert waiting.value.suggested_filename == "apollo.jsonl"
    path = tmp_path / "downloaded.jsonl"
    waiting.value.save_as(path)
    assert objects_in(path.read_bytes().splitlines(keepends=True)) == objects_in(export_of(full))
    assert take(path, slug="copy").project


def test_a_superuser_sees_backup_and_drill_and_it_fits_a_phone(
    page: Page, hub: LiveHub, full: Project
) -> None:
    sign_in(page, hub, User.objects.create_superuser("root"))
    for size in (DESKTOP, PHONE):
        page.set_viewport_size(size)
        go(page, f"{PATH}?project=apollo")
        expect(page.get_by_text("The backup could be restored")).to_be_visible()
        expect(page.get_by_text("ctxhub-2026-11-27T032000Z.tar")).to_be_visible()
        assert fits(page)
    assert Import.objects.count() == 1


def test_a_viewer_has_no_such_page(page: Page, hub: LiveHub, full: Project) -> None:
    sign_in(page, hub, person("vera", full, VIEWER))
    expect(page.get_by_role("link", name=re.compile("^(database )?Data$"))).to_have_count(0)
    assert page.request.get(f"{hub.url}{PATH}").status == 403
    assert page.request.get(f"{hub.url}/admin/core/import/export/?project=apollo").status == 403
