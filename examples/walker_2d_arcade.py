"""A walker in an arcade window: arrow keys walk, shift runs, the head follows the mouse. Needs `pip install arcade`.

The y axis of arcade points up, as Kinema's does by default.
"""

import os
import sys

import numpy as np

import kinema as km

GROUND = [(-900, 100), (120, 100), (120, 130), (200, 130), (200, 160), (420, 160), (560, 100), (1600, 100)]
"""Pixels. Two steps up and a slope down."""
FRAMES = int(sys.argv[1]) if sys.argv[1:2] and sys.argv[1].isdecimal() else None
"""After how many frames the window closes, if that is given."""


def window(arcade, walker: km.Walker2D):
    class Game(arcade.Window):
        def __init__(self) -> None:
            super().__init__(640, 480, "Kinema")
            self.x, self.keys, self.mouse, self.count = 60.0, set(), (300.0, 300.0), 0
            self.pose = walker.update(1 / 60, self.x)

        def on_key_press(self, symbol: int, modifiers: int) -> None:
            self.keys.add(symbol)

        def on_key_release(self, symbol: int, modifiers: int) -> None:
            self.keys.discard(symbol)

        def on_mouse_motion(self, x: float, y: float, dx: float, dy: float) -> None:
            self.mouse = (x, y)

        def on_update(self, dt: float) -> None:
            dt = min(max(dt, 1e-3), 0.1)
            speed = 360 if arcade.key.LSHIFT in self.keys else 120
            self.x += speed * dt * ((arcade.key.RIGHT in self.keys) - (arcade.key.LEFT in self.keys))
            self.pose = walker.update(dt, self.x, look_at=self.mouse)

        def on_draw(self) -> None:
            self.clear((246, 247, 249))
            pose = self.pose
            arcade.draw_line_strip(GROUND, (139, 147, 161), 4)
            for leg, colour in enumerate(((63, 134, 214), (232, 131, 58))):
                points = np.stack((pose.hips[leg], pose.knees[leg], pose.ankles[leg], pose.feet[leg]))
                arcade.draw_line_strip(points.tolist(), colour, 9)
            arcade.draw_line(*pose.body, *pose.head, (85, 92, 104), 14)
            arcade.draw_circle_filled(*pose.head, 15, (85, 92, 104))
            self.count += 1
            if self.count == FRAMES:
                arcade.exit()

    return Game()


def main() -> None:
    walker = km.Walker2D(GROUND, thigh=38, shin=38)
    try:
        import arcade
    except ModuleNotFoundError:
        arcade = None
    if arcade is None or (sys.platform == "linux" and not os.environ.get("DISPLAY")):
        print("arcade is not installed (pip install arcade), or there is no screen")
        print(f"the knees would be at {walker.update(1 / 60, 60.0).knees.round(1).tolist()}")
        return
    game = window(arcade, walker)
    arcade.run()
    print(f"{game.count} frames")


if __name__ == "__main__":
    main()
