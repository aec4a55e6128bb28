"""Pictures of characters without a browser: bones or skin on their ground, still, as a strip, or moving."""
