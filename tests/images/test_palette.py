"""A few colours for many."""

import numpy as np

from kinema.images.palette import palette_of


def test_a_palette_spends_its_colours_where_they_are():
    image = np.random.default_rng(2).normal(120, 20, (100, 100, 3)).clip(0, 255).astype(np.uint8)
    palette = palette_of([image], 64)
    away = palette.colours[palette.indices(image)].astype(int) - image
    uniform = (image >> 6 << 6) + 32 - image.astype(int)  # 64 colours, evenly over all there are.
    assert len(palette.colours) <= 64
    assert (away**2).mean() < 0.3 * (uniform**2).mean()


def test_colours_that_fit_are_kept_as_they_are():
    image = np.array([[(10, 20, 30), (200, 100, 0), (201, 100, 0), (10, 20, 250)]], np.uint8)
    palette = palette_of([image[:, ::2], image[:, [0, 3]]], 4)
    np.testing.assert_array_equal(palette.colours[palette.indices(image[:, [0, 2, 3]])], image[:, [0, 2, 3]])
