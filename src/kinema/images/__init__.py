"""Pictures as files: PNG in and out, animated GIF out. NumPy and zlib, nothing else."""

from kinema.images.png import png_bytes, read_png, write_png

__all__ = ["png_bytes", "read_png", "write_png"]
