"""An arm of two sprites that follows the mouse, in pygame: click to flip the elbow.

The script that GameMaker users know as draw_ik, with `km.draw_limb` for the positions and angles of both sprites.
Without a screen it writes one picture, sprites.png. Needs pygame: pip install pygame
"""

import kinema as km

SIZE, ORIGIN, LENGTHS = (640, 480), (320.0, 240.0), (130.0, 110.0)
"""Pixels. The y axis of the screen points down."""


def sprite(pygame, length: float, width: float, colour: str):
    """A bone that points to the right, with its joint at the left."""
    image = pygame.Surface((length + width, width), pygame.SRCALPHA)
    pygame.draw.rect(image, colour, image.get_rect(), border_radius=round(width / 2))
    pygame.draw.circle(image, "white", (width / 2, width / 2), width / 5)
    return image


def draw_rotated(pygame, screen, image, joint, angle: float) -> None:
    """Draw a sprite rotated about its joint. angle: degrees, counter-clockwise as seen, as pygame has it."""
    width, height = image.get_size()
    to_centre = pygame.Vector2((width - height) / 2, 0.0).rotate(-angle)
    rotated = pygame.transform.rotozoom(image, angle, 1.0)
    screen.blit(rotated, rotated.get_rect(center=pygame.Vector2(*map(float, joint)) + to_centre))


def draw(pygame, screen, sprites, target, bend: int) -> None:
    """Draw the arm as it reaches for a target."""
    limb = km.draw_limb(ORIGIN, target, LENGTHS, bend)
    screen.fill("#f6f7f9")
    draw_rotated(pygame, screen, sprites[0], limb.first, float(limb.first_angle))
    draw_rotated(pygame, screen, sprites[1], limb.second, float(limb.second_angle))
    pygame.draw.circle(screen, "#2f9e5b", target, 7, 2)
    pygame.display.flip()


def main() -> None:
    try:
        import pygame
    except ModuleNotFoundError:
        limb = km.draw_limb(ORIGIN, (420.0, 140.0), LENGTHS)
        print("pygame is not installed: pip install pygame")
        print(f"the sprites would be at {limb.first.round(1)} and {limb.second.round(1)}")
        return
    pygame.init()
    screen, clock, bend = pygame.display.set_mode(SIZE), pygame.time.Clock(), 1
    sprites = [sprite(pygame, LENGTHS[0], 34, "#3f86d6"), sprite(pygame, LENGTHS[1], 28, "#e8833a")]
    if pygame.display.get_driver() == "dummy":
        draw(pygame, screen, sprites, (420, 140), bend)
        pygame.image.save(screen, "sprites.png")
        print("sprites.png: one picture, as there is no screen")
        return
    print("move the mouse; click to flip the elbow")
    open_window = True
    while open_window:
        kinds = [event.type for event in pygame.event.get()]
        open_window = pygame.QUIT not in kinds
        bend = -bend if pygame.MOUSEBUTTONDOWN in kinds else bend
        draw(pygame, screen, sprites, pygame.mouse.get_pos(), bend)
        clock.tick(60)


if __name__ == "__main__":
    main()
