"""What Kinema raises. Every message names the argument, where in it, what came and what is allowed."""


class KinemaError(Exception):
    """Base of everything Kinema raises on purpose."""


class InputError(KinemaError, ValueError):
    """An argument that cannot be used. Nothing was changed."""


class DeviceError(KinemaError, RuntimeError):
    """Arrays live on a GPU, and what is needed to compute there is missing."""
