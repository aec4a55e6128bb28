"""`Hands`: hands that reach and hold."""
