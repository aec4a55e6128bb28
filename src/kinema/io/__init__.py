"""Characters from files and back: one module a format."""
