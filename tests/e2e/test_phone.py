"""On a phone: targets for fingers, a panel that leaves the scene in view, help that begins at its beginning."""

from itertools import combinations, pairwise

import pytest

from tests.assets import asset

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}


SCREENS = [(360, 780), (360, 640), (780, 360), (640, 360)]


@pytest.mark.smoke
@pytest.mark.parametrize(("width", "height"), SCREENS)
def test_the_picture_has_most_of_the_screen_and_nothing_covers_the_head(open_tab, width, height):
    for scene in ("character", "creature", "planar", "arm", "crowd", "lab"):
        tab = open_tab(scene, viewport={"width": width, "height": height}, has_touch=True)
        stage = tab.page.locator("#stage").bounding_box()
        assert stage["width"] * stage["height"] >= 0.6 * width * height, scene
        assert tab.page.evaluate("document.documentElement.scrollWidth") <= width
        tab.page.locator("#about").wait_for()
        tab.touch("Start", (stage["x"] + stage["width"] - 4, stage["y"] + 4))
        tab.touch("End")
        tab.page.locator("#about").wait_for(state="hidden")
        assert tab.control("hint").is_hidden()
        if scene != "character":
            tab.page.context.close()
            continue
        tab.wait("state.complete && state.joints.head")
        x, y = tab.state["joints"]["head"]
        assert stage["y"] < y < stage["y"] + stage["height"]
        for part in tab.page.locator("#stage button:visible, #stage .card, #pad").all():
            box = part.bounding_box()
            inside = 0 < x - box["x"] < box["width"] and 0 < y - box["y"] < box["height"]
            assert not inside, part.text_content()


@pytest.mark.parametrize(("width", "height"), SCREENS)
def test_help_and_controls_can_be_read(open_tab, width, height):
    tab = open_tab("character", viewport={"width": width, "height": height}, has_touch=True)
    tab.control("help").tap()
    sheet = tab.control("help-sheet")
    sheet.wait_for()
    assert sheet.evaluate("(one) => one.scrollWidth <= one.clientWidth")
    assert tab.page.locator("#help-title").bounding_box()["y"] >= 0
    for text in tab.page.locator("#help-sheet dd").all():
        assert text.bounding_box()["width"] > 300
        assert float(text.evaluate("(one) => parseFloat(getComputedStyle(one).fontSize)")) >= 14
    tab.page.keyboard.press("Escape")
    tab.control("show-panel").tap()
    tab.control("ground").wait_for()
    tab.page.wait_for_timeout(400)
    box = tab.control("ground").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width


@pytest.mark.parametrize("width", [360, 390, 640])
def test_every_scene_can_be_seen_and_chosen_in_a_menu(open_tab, width):
    tab = open_tab("character", viewport={"width": width, "height": 640}, has_touch=True)
    menu = tab.control("scenes")
    assert menu.bounding_box()["x"] + menu.bounding_box()["width"] <= width
    assert menu.evaluate("(one) => one.scrollWidth <= one.clientWidth")
    assert len(menu.locator("option").all()) == 6
    menu.select_option("lab")
    tab.wait("state.scene === 'lab' && state.tick > 2")
    tab.page.go_back()
    tab.wait("state.scene === 'character'")
    assert menu.input_value() == "character"


@pytest.mark.parametrize("width", [844, 900, 1280])
def test_all_tabs_are_on_a_wider_screen(open_tab, width):
    tab = open_tab("planar", viewport={"width": width, "height": 420})
    tools = tab.page.locator(".tools").bounding_box()
    for name in tab.page.locator("#tabs a").all():
        box = name.bounding_box()
        assert box["x"] > 0
        assert box["x"] + box["width"] <= tools["x"]


@pytest.mark.parametrize("scene", ["character", "planar", "creature"])
def test_what_can_be_tapped_is_large_enough_and_on_the_screen(open_tab, scene):
    tab = open_tab(scene, **PHONE)
    parts = ("header", "footer", "#stage", "#timeline")
    for button in tab.page.locator(", ".join(f"{part} button:visible" for part in parts)).all():
        box = button.bounding_box()
        assert min(box["width"], box["height"]) >= 44, button.get_attribute("data-testid")
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390


def test_the_panel_leaves_the_scene_in_view_and_closes_with_a_tap_beside_it(open_tab):
    tab = open_tab("planar", **PHONE)
    tab.control("show-panel").tap()
    tab.control("mirror").wait_for()
    tab.page.wait_for_timeout(400)
    panel = tab.page.locator("#side").bounding_box()
    assert panel["y"] > 844 / 2
    tab.page.touchscreen.tap(200, 320)
    tab.control("mirror").wait_for(state="hidden")
    assert tab.control("show-panel").get_attribute("aria-expanded") == "false"


def test_help_begins_at_its_beginning(open_tab):
    tab = open_tab("character", viewport={"width": 390, "height": 500}, has_touch=True)
    tab.control("help").tap()
    tab.control("help-sheet").wait_for()
    assert tab.control("help-sheet").evaluate("(sheet) => sheet.scrollTop") == 0
    assert tab.page.locator("#help-title").bounding_box()["y"] > 0


def test_labels_of_the_lab_do_not_touch_each_other(open_tab):
    tab = open_tab("lab", **PHONE)
    boxes = sorted(
        (span.bounding_box() for span in tab.page.locator("#labels span:visible").all()), key=lambda b: b["x"]
    )
    assert len(boxes) == 3
    assert boxes[0]["x"] >= 0
    assert boxes[-1]["x"] + boxes[-1]["width"] <= 390
    for one, other in pairwise(boxes):
        assert one["x"] + one["width"] < other["x"]


def apart(one, other):
    """Whether two boxes do not touch."""
    beside = one["x"] + one["width"] <= other["x"] or other["x"] + other["width"] <= one["x"]
    return beside or one["y"] + one["height"] <= other["y"] or other["y"] + other["height"] <= one["y"]


def on_the_picture(tab):
    """The boxes of what lies on the picture, by their names."""
    parts = tab.page.locator(
        ", ".join(
            f"{part}:visible" for part in ("#key-hints button", "#stage .card", "#stage .chart", "#pad", "#notice")
        )
    )
    return {part.text_content() or part.get_attribute("id"): part.bounding_box() for part in parts.all()}


def assert_apart(boxes):
    for (name, box), (other, its) in combinations(boxes.items(), 2):
        assert apart(box, its), f"{name} touches {other}"


@pytest.mark.parametrize(("width", "height"), [(390, 844), (844, 390)])
def test_what_lies_on_the_picture_covers_nothing_else_there(open_tab, width, height):
    for scene in ("character", "creature", "planar", "arm", "lab"):
        tab = open_tab(scene, viewport={"width": width, "height": height}, has_touch=True)
        boxes = on_the_picture(tab)
        assert len(boxes) > 1 or scene not in ("character", "creature")
        assert_apart(boxes)


@pytest.mark.parametrize(("width", "height"), [(390, 844), (844, 390)])
def test_a_motion_on_a_phone_leaves_all_buttons_free(open_tab, width, height):
    tab = open_tab("character", viewport={"width": width, "height": height}, has_touch=True)
    tab.wait("state.complete")
    with tab.page.expect_file_chooser() as chooser:
        tab.control("open-file").tap()
    chooser.value.set_files(asset("bvh/cmu_02_01.bvh"))
    tab.page.get_by_role("button", name="Put it on Person").tap()
    tab.wait("state.motion === 'cmu_02_01.bvh'")
    tab.control("mapping").wait_for()
    tab.page.locator("#notice").filter(has_text="is loaded").wait_for()
    assert_apart(on_the_picture(tab))
    boxes = [part.bounding_box() for part in tab.page.locator("#timeline > *:visible").all()]
    assert_apart({str(n): box for n, box in enumerate(boxes)})
    rows = {round(box["y"] + box["height"] / 2) for box in boxes}
    assert len(rows) <= (2 if width < height else 1)


@pytest.mark.parametrize(("width", "height"), [(390, 844), (844, 390)])
def test_a_layer_on_a_phone_leaves_all_buttons_free_and_texts_whole(open_tab, width, height):
    tab = open_tab("character", viewport={"width": width, "height": height}, has_touch=True)
    tab.wait("state.complete")
    hand, stage = tab.handle("hand left"), tab.page.locator("#stage").bounding_box()
    tab.drag("hand left", hand["x"] + 60, stage["y"] + 8)
    tab.control("store").tap()
    tab.control("lay-0").tap()
    tab.control("layer-0").wait_for()
    strip = tab.page.locator(".layers").bounding_box()
    assert_apart(on_the_picture(tab) | {"layers": strip})
    tab.page.keyboard.press("]")
    for label in tab.page.locator("#labels span:visible").all():
        assert label.bounding_box()["y"] >= stage["y"]


@pytest.mark.parametrize(("width", "height"), [(390, 844), (844, 390), (900, 560)])
def test_all_solvers_of_the_lab_can_be_read(open_tab, width, height):
    tab = open_tab("lab", viewport={"width": width, "height": height}, has_touch=height < 500 or width < 500)
    if tab.control("show-panel").is_visible():
        tab.control("show-panel").tap()
        tab.page.wait_for_timeout(400)
    for solver in ("Two-bone", "Damped least squares", "Jacobian transpose", "Whole-body solver"):
        tab.page.get_by_label(solver, exact=True).check()
    tab.wait("state.solvers.length === 7")
    tab.settle()
    labels = tab.page.locator("#labels span:visible")
    texts = "\n".join(labels.all_inner_texts())
    for solver in ("Two-bone", "FABRIK", "CCD", "Damped least squares", "Compensating angles"):
        assert solver in texts
    boxes = [label.bounding_box() for label in labels.all()]
    assert_apart({f"label {n}": box for n, box in enumerate(boxes)} | on_the_picture(tab))
    for box in boxes:
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        for handle in tab.state["draggables"]:
            inside = 0 < handle["x"] - box["x"] < box["width"] and 0 < handle["y"] - box["y"] < box["height"]
            assert not inside, handle["id"]


@pytest.mark.parametrize("scene", ["creature", "lab"])
def test_a_hint_covers_nothing_that_matters(open_tab, scene):
    """Neither what is to be dragged, nor the spider, nor a chart or a button."""
    tab = open_tab(scene, **PHONE)
    tab.control("hint").wait_for()
    tab.wait("state.complete")
    bubble = tab.control("hint").bounding_box()
    stage = tab.page.locator("#stage").bounding_box()
    assert bubble["x"] >= 0
    assert bubble["x"] + bubble["width"] <= 390
    state = tab.state
    points = [(handle["x"], handle["y"]) for handle in state["draggables"]]
    points += [state["onPage"]] if scene == "creature" else []
    for x, y in points:
        assert y > bubble["y"] + bubble["height"] or y < bubble["y"] or not 0 <= x - bubble["x"] <= bubble["width"]
    for part in tab.page.locator("#stage button:visible, #stage .chart:visible, #pad:visible, #about").all():
        box = part.bounding_box()
        assert box["y"] + box["height"] <= bubble["y"] or box["y"] >= bubble["y"] + bubble["height"]
    assert bubble["y"] + bubble["height"] < stage["y"] + stage["height"] / 2


def test_an_arrow_points_to_a_handle_outside(open_tab):
    tab = open_tab("lab", viewport={"width": 900, "height": 420})
    assert tab.control("arrow").and_(tab.page.locator(":visible")).count() == 0
    box = tab.page.locator("#stage canvas").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] * 0.8
    for _ in range(3):
        tab.page.mouse.move(x, y)
        tab.page.mouse.down(button="right")
        tab.page.mouse.move(x + 250, y, steps=3)
        tab.page.mouse.up(button="right")
    outside = [handle for handle in tab.state["draggables"] if handle["x"] > box["x"] + box["width"]]
    assert outside
    tab.page.locator("#arrows span:visible").first.wait_for()
    assert tab.page.locator("#arrows span:visible").first.bounding_box()["x"] > box["x"] + box["width"] - 60


def test_the_ends_of_the_timeline_are_on_the_screen(open_tab):
    tab = open_tab("character", **PHONE)
    tab.wait("state.drawn")
    boxes = [track.bounding_box() for track in tab.page.locator(".track input").all()]
    assert boxes
    for box in boxes:
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390


def test_labels_of_the_lab_are_below_its_text_on_a_phone_sideways(open_tab):
    tab = open_tab("lab", viewport={"width": 844, "height": 390}, has_touch=True)
    tab.wait("state.complete")
    tab.page.locator("#labels span:visible").nth(2).wait_for()
    text = tab.page.locator("#about").bounding_box()
    for label in tab.page.locator("#labels span:visible").all():
        assert label.bounding_box()["y"] > text["y"] + text["height"] - 4
