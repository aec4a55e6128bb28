"""Read and write characters: one module or package per format."""
