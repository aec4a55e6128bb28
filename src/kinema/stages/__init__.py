"""Stages of a frame, and the animator that runs them."""
