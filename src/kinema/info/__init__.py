"""What is in a file: joints and what they are, clips, skins, sizes, problems; as plain data, and for a terminal."""
