"""The solvers, one algorithm a file. Top to bottom: the scalar kernel, the batch loop, the public function."""
