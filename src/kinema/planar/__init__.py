"""Characters in the plane, for 2D games: a walker on a line, and the ground it walks on."""
