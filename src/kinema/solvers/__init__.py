"""The solvers, one algorithm a file. Each file, top to bottom: the scalar kernel, the batch loop, the public function."""
