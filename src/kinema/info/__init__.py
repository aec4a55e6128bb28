"""What is in a file: joints and their roles, clips, skins, sizes, problems; as plain data, and for a terminal."""
