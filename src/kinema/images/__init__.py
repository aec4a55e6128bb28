"""Pictures as files: PNG in and out, animated GIF out. NumPy and zlib, nothing else."""

from kinema.images.gif import gif_bytes, write_gif
from kinema.images.png import png_bytes, read_png, write_png

__all__ = ["gif_bytes", "png_bytes", "read_png", "write_gif", "write_png"]
