"""Films as MP4 and WebM, through the FFmpeg that the package imageio-ffmpeg brings (the extra `video`).

FFmpeg runs as a program of its own: frames go in through a pipe, one after another, so a film of any length needs the
memory of one frame.
"""

import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from kinema import validation
from kinema.errors import InputError, MissingPackageError

ENCODERS = {
    ".mp4": ("-c:v", "libx264", "-crf", "20", "-preset", "medium", "-movflags", "+faststart"),
    ".webm": ("-c:v", "libvpx-vp9", "-crf", "32", "-b:v", "0", "-row-mt", "1"),
}
"""FFmpeg's options for each kind of file. H.264 plays everywhere, VP9 is free; the qualities look alike."""

COLOURS = (
    *("-vf", "scale=out_color_matrix=bt709:out_range=tv", "-pix_fmt", "yuv420p"),
    *("-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709"),
)
"""HD's colours, and half the resolution in colour: what all players read."""


def film_bytes(frames: Iterable[Any], fps: float, kind: str) -> bytes:
    """Encode frames, (height, width, 3), uint8, all of one shape, as a film. kind: ".mp4" or ".webm".

    They may come from a generator. Sides of an odd length are one pixel longer in the film: the formats have colours
    for pairs of pixels. Raises MissingPackageError if imageio-ffmpeg is not installed.
    """
    validation.choice("kind", kind, ENCODERS)
    if validation.number("fps", fps, 0.0) <= 0.0:
        raise InputError(f"fps is {fps}; allowed are numbers above 0")
    try:
        import imageio_ffmpeg
    except ModuleNotFoundError:
        raise MissingPackageError('films need imageio-ffmpeg: pip install "kinema[video]"') from None
    program, shape = str(imageio_ffmpeg.get_ffmpeg_exe()), None
    with tempfile.TemporaryDirectory() as folder:
        path, said, encoder = Path(folder) / f"film{kind}", Path(folder) / "said.txt", None
        with said.open("wb") as stream:
            try:
                for i, frame in enumerate(frames):
                    frame = np.asarray(frame)
                    shape = frame.shape if shape is None else shape
                    if frame.dtype != np.uint8 or frame.ndim != 3 or shape[2:] != (3,) or frame.shape != shape:
                        raise InputError(
                            f"frames[{i}] is {frame.dtype} {frame.shape}; all must be uint8 of one (height, width, 3)"
                        )
                    even = np.pad(frame, ((0, shape[0] % 2), (0, shape[1] % 2), (0, 0)), mode="edge")
                    if encoder is None:
                        command = _command(program, even.shape, fps, path)
                        encoder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=stream, stderr=stream)
                    assert encoder.stdin is not None
                    encoder.stdin.write(even.tobytes())
            except BrokenPipeError:
                pass  # FFmpeg has ended, and says why.
            finally:
                if encoder is not None:
                    encoder.communicate()
        if encoder is None:
            raise InputError("there are no frames; a film needs one or more")
        if encoder.returncode:
            raise InputError(f"FFmpeg cannot encode the film: {said.read_text('utf-8', 'replace').strip()[-400:]}")
        return path.read_bytes()


def _command(program: str, shape: tuple[int, ...], fps: float, path: Path) -> list[str]:
    """FFmpeg's arguments: raw frames in, the same bytes out in every run."""
    raw = ("-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{shape[1]}x{shape[0]}", "-r", f"{fps:g}", "-i", "-")
    settings = (*ENCODERS[path.suffix], *COLOURS, "-an", "-map_metadata", "-1", "-fflags", "+bitexact")
    return [program, "-hide_banner", "-loglevel", "error", "-y", *raw, *settings, "-flags:v", "+bitexact", str(path)]
