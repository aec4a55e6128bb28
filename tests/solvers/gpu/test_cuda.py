"""The GPU's kernels in numba's simulator: the answers are those of the CPU."""

from types import SimpleNamespace

import numpy as np
import pytest

import kinema as km
from kinema.solvers.chain.chain_solvers import CHAIN_SOLVERS
from kinema.solvers.gpu.cuda import device_jit
from tests import problems
from tests.simulator import SIMULATED, device, run_in_simulator  # noqa: F401  # device is a fixture.

pytest.importorskip("numba_cuda")

if not SIMULATED:

    @pytest.mark.slow_uncompiled
    def test_in_the_simulator():
        run_in_simulator(__file__)


precisions = pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])
solvers = pytest.mark.parametrize("solve", CHAIN_SOLVERS.values(), ids=CHAIN_SOLVERS)

COUNT = 6


def check_same(on_device, on_host):
    """Field by field: same type, shape and numbers; float32 to 1e-5, because uncompiled code mixes precisions."""
    for name, one, other in zip(on_host._fields, on_device, on_host, strict=True):
        assert hasattr(one, "__cuda_array_interface__"), name
        fetched, other = one.copy_to_host(), np.asarray(other)
        assert fetched.shape == other.shape, name
        assert fetched.dtype == other.dtype, name
        if other.dtype == np.float32:
            np.testing.assert_allclose(fetched, other, rtol=1e-5, atol=1e-5, err_msg=name)
        else:
            np.testing.assert_array_equal(fetched, other, err_msg=name)


def limbs(dtype, width=3):
    """Reachable, too far, too near, at the root, with a bone of no length, and on the pole's line."""
    root = np.zeros((COUNT, width), dtype)
    root[1:] = 0.25
    target = np.array([[1.0, 0.5, 0.3], [9, 1, 0], [0.3, 0.3, 0.2], [0.25, 0.25, 0.25], [1, 1, 1], [0.25, 1.5, 0.25]])
    lengths = np.array([[1.0, 1.0], [1, 1], [1, 0.5], [1, 1], [0, 1], [1, 1]])
    pole = np.array([[1.0, 2, 3], [0, 1, 0], [2, 0, 0], [0, 0, 9], [1, 0, 1], [0.25, 3.0, 0.25]])
    return root, *(a[:, :width].astype(dtype) for a in (target, lengths[:, :2], pole))


def chains(dtype, joints=5, width=3):
    """From a straight pose: to be reached, too far, where it is, its own line, at the root, behind."""
    start = problems.straight_chains(COUNT, joints, width).astype(dtype)
    reach = joints - 1.0
    target = np.array([[0.5, 0.3, 0.4], [3.0, 1, 0], [0, 1, 0], [0, 0.6, 0], [0, 0, 0], [0.1, -0.7, 0.05]])
    return start, (target[:, :width] * reach).astype(dtype)


if not SIMULATED:

    class Compiled:
        """What `device_jit` makes of a function, without a GPU: compiling only asks NVVM."""

        def __init__(self, function, **options):
            self.options = options

        def compile(self, signature):
            from numba.cuda.cudadrv import nvvm

            if signature == "broken":
                raise TypeError("a signature that cannot be compiled")
            return nvvm.compile_ir("code", opt=3)

    @pytest.fixture
    def asked(monkeypatch):
        """What NVVM is asked for, instead of compiling it."""
        from numba.cuda.cudadrv import nvvm

        from kinema.solvers.gpu import cuda

        monkeypatch.setattr(nvvm, "compile_ir", lambda code, **options: options)
        monkeypatch.setattr(cuda, "checked_cuda", lambda: SimpleNamespace(jit=Compiled))
        return nvvm

    def test_exact_kernels_do_not_fuse_products_and_sums(asked):
        exact = device_jit(96, exact=True)(len)
        assert exact.compile("arrays") == {"opt": 3, "fma": False}
        assert exact.options == {"max_registers": 96, "lto": False}  # Linked otherwise, the option would be lost.

    def test_other_kernels_compile_as_ever(asked):
        exact = device_jit(96, exact=True)(len)
        with pytest.raises(TypeError, match="cannot be compiled"):
            exact.compile("broken")
        assert asked.compile_ir("code", opt=3) == {"opt": 3}


if SIMULATED:

    @precisions
    @pytest.mark.parametrize("options", [{}, {"pole": True}, {"pole": True, "hint": True, "soften": 0.9}])
    def test_two_bone(device, dtype, options):
        root, target, lengths, pole = limbs(dtype)
        hint = np.array([0.3, 0.1, -1.0], dtype)
        on_host, on_device = {"soften": options.get("soften", 1.0)}, {"soften": options.get("soften", 1.0)}
        if "pole" in options:
            on_host["pole"], on_device["pole"] = pole, device(pole)
        if "hint" in options:
            on_host["hint"], on_device["hint"] = hint, device(hint)
        answer = km.two_bone(device(root), device(target), device(lengths), **on_device)
        check_same(answer, km.two_bone(root, target, lengths, **on_host))

    def test_two_bone_with_host_arguments_and_shared_arguments(device):
        root, target, lengths, _ = limbs(np.float64)
        expected = km.two_bone((0.1, 0.2, 0.3), target, (1.0, 0.8), pole=(1.0, 1.0, 1.0))
        answer = km.two_bone((0.1, 0.2, 0.3), device(target), [1.0, 0.8], pole=(1.0, 1.0, 1.0))
        check_same(answer, expected)
        two_axes = km.two_bone(
            device(root.reshape(2, 3, 3)), device(target.reshape(2, 3, 3)), device(lengths.reshape(2, 3, 2))
        )
        check_same(two_axes, km.two_bone(*(a.reshape(2, 3, -1) for a in (root, target, lengths))))

    @precisions
    @pytest.mark.parametrize("auto_bend", [False, True])
    def test_two_bone_2d(device, dtype, auto_bend):
        root, target, lengths, _ = limbs(dtype, 2)
        target[0, 0] = -1.0
        bend = np.array([1, -1, 1, -1, 1, -1], dtype)
        answer = km.two_bone_2d(device(root), device(target), device(lengths), device(bend), auto_bend)
        check_same(answer, km.two_bone_2d(root, target, lengths, bend, auto_bend))
        plain = km.two_bone_2d(device(root), device(target), device(lengths), -1, auto_bend)
        check_same(plain, km.two_bone_2d(root, target, lengths, np.full(COUNT, -1, dtype), auto_bend))

    @solvers
    @precisions
    @pytest.mark.parametrize("width", [2, 3], ids=["planar", "spatial"])
    @pytest.mark.parametrize("poled", [False, True], ids=["", "pole"])
    def test_chains(device, solve, dtype, width, poled):
        start, target = chains(dtype, width=width)
        pole = np.tile(np.array([2.0, 1.0, 0.5][:width], dtype), (COUNT, 1)) if poled else None
        answer = solve(device(start), device(target), pole=device(pole) if poled else None)
        check_same(answer, solve(start, target, pole=pole))

    @solvers
    @precisions
    def test_chains_inside_limits(device, solve, dtype):
        start, target = chains(dtype)
        limits = [km.Cone(1.0), km.Hinge((1, 0, 0), -0.5, 1.5), None, km.SwingTwist(0.8, -1, 1)]
        options = {"limits": limits, "base": (0.0, 1.0, 0.2), "max_iterations": 30}
        check_same(solve(device(start), device(target), **options), solve(start, target, **options))

    @solvers
    def test_planar_chains_inside_limits(device, solve):
        start, target = chains(np.float64, width=2)
        options = {"limits": [km.Hinge((0, 0, 1), -1, 1)] * 2 + [km.Cone(0.7)] * 2, "max_iterations": 30}
        check_same(solve(device(start), device(target), **options), solve(start, target, **options))

    @solvers
    @pytest.mark.parametrize("joints", [2, 8, 9])
    def test_chains_of_other_lengths(device, solve, joints):
        """On either side of a step in the local memory a thread is given."""
        start, target = chains(np.float64, joints)
        check_same(solve(device(start), device(target[0])), solve(start, target[0]))

    @solvers
    def test_degenerate_chains(device, solve):
        start, target = chains(np.float64)
        start[0] = 0.0
        start[1, 2] = start[1, 1]
        start[2] *= 1e12
        start[3] *= 1e-12
        check_same(solve(device(start), device(target)), solve(start, target))

    def test_an_empty_batch(device):
        empty = device(np.zeros((0, 3)))
        r = km.two_bone(empty, empty, device(np.zeros((0, 2))))
        assert r.mid.shape == (0, 3)
        assert r.reached.shape == (0,)
        assert km.fabrik(device(np.zeros((0, 4, 3))), empty).joints.shape == (0, 4, 3)

    def test_inputs_are_never_changed(device):
        start, target = chains(np.float64)
        there, goal = device(start), device(target)
        km.ccd(there, goal, limits=[km.Cone(0.5)] * 4, max_iterations=5)
        np.testing.assert_array_equal(there.copy_to_host(), start)
        np.testing.assert_array_equal(goal.copy_to_host(), target)

    def test_one_warning_when_trouble_starts(device, caplog):
        root, target, lengths, _ = (device(a) for a in limbs(np.float64))
        for _ in range(3):
            km.two_bone(root, target, lengths)
        messages = [record.getMessage() for record in caplog.records]
        assert len(messages) == 2
        assert "out of reach" in caplog.text
        assert "a bone has length zero" in caplog.text

    # --- errors --------------------------------------------------------------------------------------------------

    # A device is silent where NumPy, which computes in the simulator, would warn.
    numbers_may_run_wild = pytest.mark.filterwarnings("ignore::RuntimeWarning")

    def spoiled(array, value, at=-1):
        array = np.array(array)
        array.reshape(-1)[at] = value
        return array

    @numbers_may_run_wild
    @pytest.mark.parametrize(("solve", "width"), [(km.two_bone, 3), (km.two_bone_2d, 2)])
    def test_bad_limbs_are_named(device, solve, width):
        root, target, lengths, _ = limbs(np.float64, width)
        whole = {name: a.astype(np.int64) for name, a in (("root", root), ("target", target), ("lengths", lengths))}
        cases = [
            (
                {"root": root.astype(np.float32)},
                "arrays on a GPU must all be float32 or all float64, got float32, float64",
            ),
            (whole, "arrays on a GPU must all be float32 or all float64, got int64"),
            ({"root": root[:, 1:]}, rf"root must have shape \(..., {width}\), got \(6, {width - 1}\)"),
            ({"lengths": np.ones((6, 3))}, r"lengths must have shape \(..., 2\), got \(6, 3\)"),
            ({"target": target[:4]}, r"target has batch shape \(4,\); on a GPU each must be \(6,\) or a single one"),
            ({"target": spoiled(target, np.nan)}, rf"target\[5, {width - 1}\] is nan"),
            ({"root": spoiled(root, np.inf, width)}, r"root\[1, 0\] is inf"),
            ({"root": spoiled(root, 1e200, width)}, r"root\[1, 0\] is 1e\+200"),
            ({"lengths": spoiled(lengths, -1.0)}, r"lengths\[5, 1\] is -1.0; a length must be 0 or more"),
        ]
        for spoils, message in cases:
            arguments = {"root": root, "target": target, "lengths": lengths} | spoils
            with pytest.raises(ValueError, match=message):
                solve(**{name: device(array) for name, array in arguments.items()})

    @numbers_may_run_wild
    @pytest.mark.parametrize(
        ("name", "value", "message"),
        [
            ("soften", 1.5, "soften is 1.5"),
            ("tolerance", -1.0, "tolerance is -1.0"),
            ("pole", (1.0, np.nan, 0.0), r"pole\[1\] is nan"),
            ("hint", (1.0, 0.0, np.inf), r"hint\[2\] is inf"),
            ("pole", (1.0, 0.0), r"pole must have shape \(..., 3\), got \(2,\)"),
        ],
    )
    def test_bad_options_of_a_limb_are_named(device, name, value, message):
        root, target, lengths, _ = (device(a) for a in limbs(np.float64))
        with pytest.raises(ValueError, match=message):
            km.two_bone(root, target, lengths, **{name: value})

    def test_a_bad_bend_is_named(device):
        root, target, lengths, _ = (device(a) for a in limbs(np.float64, 2))
        with pytest.raises(ValueError, match=r"bend\[2\] is 0.5; allowed are \+1 and -1"):
            km.two_bone_2d(root, target, lengths, device(np.array([1, 1, 0.5, 1, 1, 1])))
        with pytest.raises(ValueError, match=r"bend is 3.0"):
            km.two_bone_2d(root, target, lengths, 3)

    @numbers_may_run_wild
    @solvers
    def test_bad_chains_are_named(device, solve):
        start, target = chains(np.float64)
        cases = [
            (start.astype(np.float32), target, {}, "must all be float32 or all float64, got float32, float64"),
            (start[:, :1], target, {}, "with N from 2 to 64, got"),
            (start[..., :1], target, {}, "joints must have shape"),
            (start, target[:, :2], {}, r"target must have shape \(..., 3\), got \(6, 2\)"),
            (start[:1], target, {}, "joints must have the whole batch's shape"),
            (spoiled(start, np.nan), target, {}, r"joints\[5, 4, 2\] is nan"),
            (start, spoiled(target, np.inf), {}, r"target\[5, 2\] is inf"),
            (start, target, {"limits": [km.Cone(1)] * 5}, "limits has 5 entries; allowed are up to 4"),
            (start, target, {"max_iterations": 0}, "max_iterations must be a whole number of 1 or more"),
            (start, target, {"base": (0, 0, 0)}, "base is the zero vector"),
        ]
        for joints, goal, options, message in cases:
            with pytest.raises(ValueError, match=message):
                solve(device(joints), device(goal), **options)

    @numbers_may_run_wild
    @solvers
    def test_a_bad_pole_is_named(device, solve):
        start, target = chains(np.float64)
        with pytest.raises(ValueError, match=r"pole\[1\] is nan"):
            solve(device(start), device(target), pole=(0.0, np.nan, 0.0))

    def test_arrays_that_are_not_contiguous_are_named(device):
        root, target, lengths, _ = limbs(np.float64)
        from numba import cuda

        strided = cuda.to_device(np.asfortranarray(target))
        with pytest.raises(ValueError, match="target is not contiguous"):
            km.two_bone(device(root), strided, device(lengths))

    def test_arrays_with_a_type_of_their_own_are_taken_by_their_interface(device):
        from kinema.solvers.gpu import cuda

        class Tensor:
            """As PyTorch has it: `dtype` means nothing to NumPy."""

            dtype = "torch.float32"

            @property
            def __cuda_array_interface__(self):
                return {"typestr": "<f4"}

        assert cuda._device_precision(Tensor(), None) is np.float32
