"""What Kinema raises. Every message names the argument, where in it, what came and what is allowed."""


class KinemaError(Exception):
    """Base of everything Kinema raises on purpose."""


class InputError(KinemaError, ValueError):
    """An argument that cannot be used. Nothing was changed."""


class DeviceError(KinemaError, RuntimeError):
    """Arrays live on a GPU, and what is needed to compute there is missing."""


class MissingPackageError(KinemaError, ImportError):
    """An optional package is not installed. The message explains how to install it."""


class FileError(InputError):
    """A file that cannot be used: which one, the line where there is one, and what is wrong there."""

    problem: str
    file: str
    line: int | None

    def __init__(self, problem: str, file: str, line: int | None = None) -> None:
        super().__init__(problem, file, line)
        self.problem, self.file, self.line = problem, file, line

    def __str__(self) -> str:
        where = self.file if self.line is None else f"{self.file}, line {self.line}"
        return f"{where}: {self.problem}"
