"""`Head`, `Eyes` and `Aim`: what turns to a point."""
