"""Ground shapes with batched ray casts, and the small physics of balls."""
