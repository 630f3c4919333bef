"""The exported page, opened offline: nested graphs, search in values, blame, watched paths."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser, expect

from ckpt_viz import explore

from . import gardens

THREAD = gardens.HERE["configurable"]["thread_id"]


def test_an_exported_page_does_all_but_act(chromium: Browser, tmp_path: Path) -> None:
    explorer = explore(gardens.nested(), thread_id=THREAD, follow=False)
    path = explorer.export(tmp_path / "run.html")
    wanted = [one.id for one in explorer.search('items~"again"')]
    explorer.close()
    context = chromium.new_context(offline=True, viewport={"width": 1100, "height": 700})
    context.set_default_timeout(8_000)
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
    page.goto(path.as_uri())
    owners = page.locator("[role=row][aria-expanded=false]")
    expect(owners).to_have_count(2)
    owners.last.click()
    owners.last.press("ArrowRight")
    inner = page.locator("[role=row][aria-level='2'][data-checkpoint-id]")
    expect(inner).to_have_count(5)
    inner.filter(has_text="mine").click()
    expect(page.locator(".ckv-title")).to_contain_text("After mine")
    state = page.get_by_role("tabpanel")
    state.get_by_role("button", name="Who wrote items?").click()
    expect(state.get_by_role("status")).to_contain_text("changed by mine at step 2")
    inner.filter(has_text="mine").press("ArrowRight")
    expect(page.locator("[role=row][aria-level='3'][data-checkpoint-id]")).to_have_count(4)
    search = page.get_by_role("searchbox", name="Search checkpoints")
    search.fill('items~"again"')
    expect(page.locator(".ckv-hits")).to_have_text(str(len(wanted)))
    search.fill("colour:red")
    expect(search).to_have_attribute(
        "aria-description",
        "There is no field colour: the fields are "
        "node:, next:, changed:, source:, status:, step:, id:",
    )
    page.get_by_role("combobox", name="Namespace").select_option(index=1)
    page.get_by_role("tab", name="State").click()
    page.get_by_role("button", name="Watch items").click()
    expect(page.get_by_role("columnheader", name="items")).to_have_count(1)
    assert errors == []
    context.close()
