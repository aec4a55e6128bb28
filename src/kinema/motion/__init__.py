"""What a motion does with its feet: where its soles are, and which feet stand."""
