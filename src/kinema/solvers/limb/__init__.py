"""Limbs of two bones, rotations that look or aim at a point, and the drawing of limbs."""
