"""A walker in a pygame window: arrow keys walk and run, the space bar jumps, the head follows the mouse.

Without a screen it writes one picture, walker.png. Needs pygame: pip install pygame-ce
"""

import numpy as np

import kinema as km

GROUND = np.array([(-900, 380), (120, 380), (120, 350), (200, 350), (200, 320), (420, 320), (560, 380), (1600, 380)])
"""Pixels; the y axis points down. Two steps up and a slope down."""
COLOURS = ("#3f86d6", "#e8833a")


def draw(pygame, screen, pose: km.Walker2DFrame) -> None:
    screen.fill("#f6f7f9")
    pygame.draw.lines(screen, "#8b93a1", False, GROUND.tolist(), 4)
    for leg, colour in enumerate(COLOURS):
        points = np.stack((pose.hips[leg], pose.knees[leg], pose.ankles[leg], pose.feet[leg]))
        pygame.draw.lines(screen, colour, False, points.tolist(), 9)
    pygame.draw.line(screen, "#555c68", pose.body.tolist(), pose.head.tolist(), 14)
    look = np.array((np.cos(pose.head_angle) * pose.facing, -np.sin(pose.head_angle)))
    pygame.draw.circle(screen, "#555c68", pose.head.tolist(), 15)
    pygame.draw.circle(screen, "white", (pose.head + 9 * look).tolist(), 4)
    pygame.display.flip()


def main() -> None:
    walker = km.Walker2D(GROUND, thigh=38, shin=38, y_down=True)
    try:
        import pygame
    except ModuleNotFoundError:
        print("pygame is not installed: pip install pygame-ce")
        print(f"the knees would be at {walker.update(1 / 60, 60.0).knees.round(1).tolist()}")
        return
    pygame.init()
    screen, clock = pygame.display.set_mode((640, 480)), pygame.time.Clock()
    if pygame.display.get_driver() == "dummy":
        for x in np.linspace(60, 190, 70):
            pose = walker.update(1 / 60, x)
        draw(pygame, screen, pose)
        pygame.image.save(screen, "walker.png")
        print("walker.png: one picture, as there is no screen")
        return
    x, y, fall = 60.0, 380.0, 0.0
    while pygame.QUIT not in [event.type for event in pygame.event.get()]:
        dt, keys = min(clock.tick(60) / 1000, 0.1), pygame.key.get_pressed()
        speed = (360 if keys[pygame.K_LSHIFT] else 120) * (keys[pygame.K_RIGHT] - keys[pygame.K_LEFT])
        x = float(np.clip(x + speed * dt, 0, 640))
        floor = float(np.interp(x, GROUND[:, 0], GROUND[:, 1]))
        fall = -520.0 if keys[pygame.K_SPACE] and y >= floor else fall + 1500.0 * dt
        y = min(y + fall * dt, floor)
        draw(pygame, screen, walker.update(dt, x, y, look_at=pygame.mouse.get_pos()))


if __name__ == "__main__":
    main()
