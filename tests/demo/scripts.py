"""Running the scripts that scenes give."""


def run(text):
    """Run a script; returns its names."""
    names = {"__name__": "__main__"}
    exec(compile(text, "copied.py", "exec"), names)
    return names
