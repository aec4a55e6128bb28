"""Ground to stand on: shapes that answer batches of ray casts."""
