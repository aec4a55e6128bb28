"""A walker in a raylib window: arrow keys walk, shift runs, the head follows the mouse. Needs `pip install raylib`."""

import itertools
import os
import sys

import numpy as np

import kinema as km

GROUND = [(-900, 380), (120, 380), (120, 350), (200, 350), (200, 320), (420, 320), (560, 380), (1600, 380)]
"""Pixels; the y axis points down. Two steps up and a slope down."""
FRAMES = int(sys.argv[1]) if sys.argv[1:2] and sys.argv[1].isdecimal() else None
"""After how many frames the window closes, if that is given."""


def draw(pyray, pose: km.Walker2DFrame) -> None:
    pyray.begin_drawing()
    pyray.clear_background((246, 247, 249, 255))
    for (x0, y0), (x1, y1) in itertools.pairwise(GROUND):
        pyray.draw_line_ex((x0, y0), (x1, y1), 4, (139, 147, 161, 255))
    for leg, colour in enumerate(((63, 134, 214, 255), (232, 131, 58, 255))):
        points = np.stack((pose.hips[leg], pose.knees[leg], pose.ankles[leg], pose.feet[leg])).tolist()
        for start, end in itertools.pairwise(points):
            pyray.draw_line_ex(tuple(start), tuple(end), 9, colour)
    pyray.draw_line_ex(tuple(pose.body.tolist()), tuple(pose.head.tolist()), 14, (85, 92, 104, 255))
    pyray.draw_circle_v(tuple(pose.head.tolist()), 15, (85, 92, 104, 255))
    pyray.end_drawing()


def main() -> None:
    walker = km.Walker2D(GROUND, thigh=38, shin=38, y_down=True)
    try:
        import pyray
    except ModuleNotFoundError:
        pyray = None
    if pyray is None or (sys.platform == "linux" and not os.environ.get("DISPLAY")):
        print("raylib is not installed (pip install raylib), or there is no screen")
        print(f"the knees would be at {walker.update(1 / 60, 60.0).knees.round(1).tolist()}")
        return
    pyray.set_trace_log_level(pyray.LOG_NONE)
    pyray.init_window(640, 480, "Kinema")
    pyray.set_target_fps(60)
    x, count = 60.0, 0
    while not pyray.window_should_close() and count != FRAMES:
        dt, mouse = min(pyray.get_frame_time(), 0.1), pyray.get_mouse_position()
        speed = 360 if pyray.is_key_down(pyray.KEY_LEFT_SHIFT) else 120
        x += speed * dt * (pyray.is_key_down(pyray.KEY_RIGHT) - pyray.is_key_down(pyray.KEY_LEFT))
        draw(pyray, walker.update(dt, x, look_at=(mouse.x, mouse.y)))
        count += 1
    pyray.close_window()
    print(f"{count} frames")


if __name__ == "__main__":
    main()
