"""The page goes through all scenes again and again: nothing piles up, and nothing is said on the console."""

import os

SCENES = ("character", "creature", "planar", "arm", "crowd", "lab")
CHANGES = 50
IDLE_MINUTES = float(os.environ.get("KINEMA_IDLE_MINUTES", "0.5"))
"""10 before a release."""
COUNTED = """() => ({
  nodes: document.querySelectorAll('*').length,
  canvases: document.querySelectorAll('canvas').length,
  heap: performance.memory?.usedJSHeapSize ?? 0,
})"""


def counted(tab):
    """What the page has, after its garbage is collected."""
    tab.page.context.new_cdp_session(tab.page).send("HeapProfiler.collectGarbage")
    return tab.page.evaluate(COUNTED)


def test_fifty_changes_of_scene_leave_nothing_behind(open_tab):
    tab = open_tab("planar")
    first = None
    for n in range(CHANGES):
        scene = SCENES[n % len(SCENES)]
        tab.page.evaluate(f"location.hash = '{scene}'")
        if scene == "crowd":  # Left within 0.4 s: its files are still on their way.
            tab.page.wait_for_timeout(150)
            continue
        tab.wait(f"state.scene === '{scene}' && state.tick > 1")
        assert tab.control("notice").inner_text() == "" or tab.control("notice").is_hidden()
        if n == len(SCENES):
            first = counted(tab)
        if n and n % len(SCENES) == 0:
            last = counted(tab)
    assert last["canvases"] == first["canvases"]
    assert last["nodes"] <= first["nodes"] * 1.05
    assert last["heap"] < first["heap"] * 1.3 + 8e6


def test_a_page_left_alone_does_not_grow(open_tab):
    tab = open_tab("character", viewport={"width": 640, "height": 420}, reduced_motion="no-preference")
    tab.wait("state.complete")
    tab.page.wait_for_timeout(10_000)  # Pictures for "Recent", caches of strings and numbers.
    first, frames = counted(tab), tab.state["tick"]
    tab.page.wait_for_timeout(60_000 * IDLE_MINUTES)
    last = counted(tab)
    assert tab.state["tick"] > frames + 60, "it went on"
    assert last["nodes"] <= first["nodes"] * 1.05
    assert last["heap"] < first["heap"] * 1.3 + 2e6
