"""`kinema render`: draw a character into a picture (.png) or film (.gif, .mp4, .webm) file."""

from pathlib import Path
from typing import Any

from kinema.errors import FileError, InputError, counted, suggestion
from kinema.io import atomic
from kinema.io.films import ENCODERS, film_bytes
from kinema.io.images import gif_bytes, png_bytes
from kinema.model.character import Character
from kinema.model.clip import Clip
from kinema.render.drawing import film, poses_that_fit, sheet, still, strip
from kinema.render.look import Look


def render(
    character: Character,
    output: Path,
    look: Look,
    *,
    clip: str | None = None,
    time: str | None = None,
    poses: int | None = None,
    moments: int | None = None,
    fps: float,
    force: bool = False,
) -> str:
    """Draw a character to a .png, .gif, .mp4 or .webm file, and return a line that says what was drawn.

    clip: its name; default: the first. time: seconds as on the command line, "1.5" or "0.5:2"; default: the whole clip.
    poses: of a strip; fewer are drawn where they would hide each other. moments: of each clip on a contact sheet. fps:
    frames per second of a film. Raises InputError for a value that is not allowed, or if the file exists and `force` is
    false.
    """
    kind = output.suffix.lower()
    if kind not in (".png", ".gif", *ENCODERS):
        raise InputError(f"the output is {output.name!r}; pictures end in .png, films in .gif, {' or '.join(ENCODERS)}")
    if output.exists() and not force:
        raise FileError("the file exists; --force overwrites it", str(output))
    if poses is not None and moments is not None:
        raise InputError("--strip and --sheet exclude each other")
    if clip is not None and clip not in character.clips:
        raise InputError(f"there is no clip {clip!r}; {suggestion(clip, character.clips)}")
    chosen = next(iter(character.clips.values()), None) if clip is None else character.clips[clip]
    if moments is not None:
        if kind != ".png":
            raise InputError(f"the output is {output.name!r}; --sheet draws a picture, a .png")
        if time is not None:
            raise InputError("--time does not apply to --sheet, which shows whole clips")
        clips = list(character.clips.values()) if clip is None else [character.clips[clip]]
        atomic.write(output, [png_bytes(sheet(character, clips, moments, look))])
        return f"{output}: {counted(moments, 'moment')} of {counted(len(clips), 'clip')}"
    start, end = _span(time, chosen)
    what = "at rest" if chosen is None else f"clip {chosen.name!r}"
    if kind != ".png":
        if chosen is None:
            raise InputError(f"{character.name!r} has no clip, which a film needs; a .png shows the rest pose")
        if poses is not None:
            raise InputError("--strip draws several poses in one picture; it does not apply to a film")
        atomic.check_writable(output)
        if kind == ".gif":
            data = gif_bytes(list(film(character, chosen, (start, end), fps, look)), fps)
        else:
            data = film_bytes(film(character, chosen, (start, end), fps, look, streamed=True), fps, kind)
        atomic.write(output, [data])
        frames = max(1, round((end - start) * fps))
        return f"{output}: {what}, {start:.3g} to {end:.3g} s in {frames} frames"
    if poses is not None:
        drawn = poses_that_fit(character, chosen, (start, end), poses, look)
        image = strip(character, chosen, (start, end), drawn, look)
        what += f", {start:.3g} to {end:.3g} s in {drawn} {'pose' if drawn == 1 else 'poses'}"
        what += f" ({poses} would hide each other)" if drawn < poses else ""
    else:
        image = still(character, chosen, start, look)
        what += f" at {start:.3g} s" if chosen is not None else ""
    atomic.write(output, [png_bytes(image)])
    return f"{output}: {what}"


def size(text: str) -> tuple[int, int]:
    """Parse "640x480" into width and height."""
    sides = text.lower().split("x")
    if len(sides) != 2 or not all(side.isascii() and side.isdecimal() and len(side) < 7 for side in sides):
        raise InputError(f"--size is {text!r}; allowed is WIDTHxHEIGHT in pixels, like 640x480")
    return int(sides[0]), int(sides[1])


def view(text: str) -> Any:
    """Parse the name of a view, or two angles such as "35,10"."""
    return [_number("--view", part) for part in text.split(",", 1)] if "," in text else text


def _span(text: str | None, clip: Clip | None) -> tuple[float, float]:
    """Return the first and last time in seconds: the whole clip by default, or from one time to the end."""
    last = 0.0 if clip is None or clip.duration is None else clip.duration
    if text is None:
        return 0.0, last
    start, _, end = text.partition(":")
    span = _number("--time", start or "0"), _number("--time", end or str(last))
    if not 0.0 <= span[0] <= span[1] <= last:
        raise InputError(f"--time is {text!r}; the clip lasts from 0 to {last:g} s")
    return span


def _number(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{name} has {text!r:.60}, which is not a number") from None
