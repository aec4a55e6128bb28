"""`kinema stream`: poses from points as they arrive. The work is done in `kinema.fitting`."""

from dataclasses import MISSING, dataclass
from pathlib import Path

from kinema.cli.errors import one_line_errors
from kinema.cli.options import RoleOptions, argument, option

EXAMPLES = """detector | kinema stream --onto avatar.vrm --layout mediapipe33 --vmc 127.0.0.1:39539
kinema stream frames.jsonl --onto hero.glb --layout coco17 > poses.jsonl"""


@dataclass(frozen=True, kw_only=True)
class StreamOptions(RoleOptions):
    """The options of `kinema stream`, as they were typed."""

    file: str = argument('JSON lines {"t": seconds, "points": [[x, y, z], ...]}; - reads stdin.', default="-")
    onto: Path = option("The character that is to move.", default=MISSING)
    layout: str = option("Which point is which: mediapipe33, coco17, ...", default=MISSING)
    lag: int = option("Frames that a pose is late; none is as noisy as the points.", min=0, default=2)
    vmc: str | None = option("Send VMC messages there instead of writing JSON lines.", metavar="[HOST:]PORT")
    up: str | None = option("The axis that is up. Default: found.", metavar="+y|-y|+z|...")
    contacts: bool = option("Keep standing feet on the floor and in place.", default=True)


def stream(options: StreamOptions) -> None:
    """Move a character by points as they arrive: JSON lines in, JSON lines or VMC messages out."""
    with one_line_errors("stream"):
        import contextlib
        import io
        import sys

        from kinema.errors import FileError, InputError
        from kinema.fitting.live import Fitter
        from kinema.fitting.stream import VmcSender, lines_of, pose_line, read_frames

        character = options.load(options.onto)
        fitter = Fitter(character, options.layout, options.lag, up=options.up, contacts=options.contacts)
        with contextlib.ExitStack() as stack:
            try:
                binary = sys.stdin.buffer if options.file == "-" else stack.enter_context(Path(options.file).open("rb"))
            except OSError as problem:
                raise FileError(f"the file cannot be read: {problem.strerror}", options.file) from None
            source = io.TextIOWrapper(binary, encoding="utf-8", errors="replace")  # A broken line is told as any other.
            sender = None
            if options.vmc is not None:
                host, _, port = options.vmc.rpartition(":")
                if not port.isdecimal():
                    raise InputError(f"--vmc is {options.vmc!r:.60}; expected a port, or HOST:PORT")
                sender = stack.enter_context(VmcSender(character, host or "127.0.0.1", int(port)))
            now = 0.0
            for t, points, confidence in read_frames(lines_of(source), len(fitter.layout.roles)):
                now = now + 1.0 / 30.0 if t is None else t
                pose = fitter.update(points, confidence, now)
                if sender is not None:
                    sender.send(pose, now)
                else:
                    print(pose_line(character, pose, now), flush=True)
