"""`FullBody` on a GPU: one thread per character, running the kernels that the CPU runs.

A thread has the states of its joints, the rows and the system in its own memory, about 40 KB of a person with five
effectors. The hardware lays that out so that the same number of neighbouring threads lies side by side.

What the CPU does after its search, where targets of higher priority are missed (`descent.give_way`, `descent.secure`),
is left out: inlined once more each, it would make the kernel ten times as large. Priorities are then only how stiff
effectors are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from kinema import validation
from kinema.compile.jit import kernel
from kinema.compile.records import Record
from kinema.errors import DeviceError, InputError
from kinema.math import quat, vec
from kinema.math.rows import store3, store4
from kinema.model.pose import LocalTransforms, Pose
from kinema.solvers.body import records, targets
from kinema.solvers.body.descent import search
from kinema.solvers.body.follow import follow
from kinema.solvers.body.full_body import BodyPlan, BodyReport, FullBody, set_start
from kinema.solvers.body.joints import forward
from kinema.solvers.body.plan import SolveBuffers
from kinema.solvers.body.records import BodyCall, BodyProblem
from kinema.solvers.body.solve import are_usable, load_body, measure, round_pose, stand, store_body
from kinema.solvers.body.step import begin, go_to_start
from kinema.solvers.body.targets import Effector
from kinema.solvers.gpu.cuda import (
    _CHAIN_THREADS,
    _UNUSABLE,
    DeviceArray,
    _device_precision,
    _launch,
    _refuse,
    _status,
    _wait,
    checked_cuda,
    on_device,
    report_flags,
)

WIDTHS = {"position": 3, "rotation": 4, "offset": 3}
"""What each character may have of its own of an effector, and how many numbers that is."""

NUMBERS = sum(WIDTHS.values())
"""All of these."""


class BodySize(NamedTuple):
    """What a kernel is compiled for: how much room a thread needs."""

    nodes: int
    moving: int
    effectors: int
    rows: int
    support: int
    warm: bool
    """Whether they start from the pose of the frame before."""


class SharedPlan(NamedTuple):
    """What all characters share."""

    joints: Any
    """(N,) JOINT."""
    effectors: Any
    """(E,) EFFECTOR as words, with the numbers that are the same for all."""
    settings: Any
    """(1,) SETTINGS as words."""
    support: Any
    """(P,) SUPPORT as words; at least one."""
    own: Any
    """(E, 3): whether each character has its own position, rotation and offset."""
    unsettled: Any
    """(1, J): joints on their way back to the animated pose. On a GPU there are none: they are there at once."""


class BodyInputs(NamedTuple):
    """What characters start from, one row for all or one each, and their numbers."""

    pose: LocalTransforms
    warm: LocalTransforms
    numbers: Any
    """(E, NUMBERS, C): of effectors."""
    transforms: Any
    """(C or 1, 12): where they stand."""


class BodyAnswers(NamedTuple):
    """Where the kernel writes what it finds."""

    pose: LocalTransforms
    """(C, J, 3|4|3)."""
    errors: Any
    """(2, C, E)."""
    limited: Any
    """(C, J)."""
    reached: Any
    """(C,), like the others."""
    steps: Any
    held: Any
    balance: Any


@kernel
def own_rows(pose, i):
    """The rows of character i in arrays that may have one row for all, (1, J, 3|4|3)."""
    p = i if pose.r.shape[0] > 1 else 0
    return LocalTransforms(pose.t[p : p + 1], pose.r[p : p + 1], pose.s[p : p + 1])


@kernel
def copy_words(source, target):
    """Copy records, viewed as words."""
    for w in range(target.size):
        target[w] = source[w]


@kernel
def set_numbers(effectors, own, numbers, i):
    """Set the numbers of effectors that character i has of its own."""
    for e in range(effectors.size):
        n = numbers[e]
        if own[e, 0]:
            store3(effectors[e].position, (n[0, i], n[1, i], n[2, i]))
        if own[e, 1]:
            q = (float(n[3, i]), float(n[4, i]), float(n[5, i]), float(n[6, i]))
            # Zero and NaN stay what they are, and are refused.
            store4(effectors[e].rotation, quat.unit(q) if vec.span(q) + abs(q[3]) > 0.0 else q)
        if own[e, 2]:
            store3(effectors[e].offset, (n[7, i], n[8, i], n[9, i]))


@kernel
def seek(problem):
    """Search from the pose. Returns steps taken."""
    begin(problem)
    return search(problem)


@kernel
def chase(problem):
    """Follow from the pose of the frame before. Returns steps taken."""
    go_to_start(problem)
    return follow(problem)


def _words(record: Record) -> tuple[Any, int]:
    """A record as kernels view words, and how many words it has."""
    layout = record.dtype(np.float64)
    return np.dtype((np.record, layout)), layout.itemsize // 8


@cache
def body_kernel(size: BodySize) -> Any:
    """The kernel that solves characters with so much room each."""
    cuda = checked_cuda()
    from kinema.solvers.gpu.thread_memory import own_words

    state, state_words = _words(records.JOINT_STATE)
    row, row_words = _words(records.ROW)
    effector, effector_words = _words(records.EFFECTOR)
    settings_type, settings_words = _words(records.SETTINGS)
    outcome_type, outcome_words = _words(records.OUTCOME)
    support_type, support_words = _words(records.SUPPORT)
    nodes, moving, wanted, rows, points, warm = size
    all_states, all_rows, all_effectors = nodes * state_words, rows * row_words, wanted * effector_words
    all_support = max(points, 1) * support_words
    joints_above, go = moving + 1, chase if warm else seek
    all_columns, square = joints_above * 6 * rows, rows * rows

    @cuda.jit
    def run(shared, inputs, answers, status):
        i = cuda.grid(1)
        if i >= answers.reached.size:
            return
        effector_room, settings_room = own_words(all_effectors), own_words(settings_words)
        support_room, outcome_room = own_words(all_support), own_words(outcome_words)
        copy_words(shared.effectors, effector_room)
        copy_words(shared.settings, settings_room)
        copy_words(shared.support, support_room)
        effectors, settings = effector_room.view(effector).reshape((1, wanted)), settings_room.view(settings_type)
        outcomes = outcome_room.view(outcome_type)
        set_numbers(effectors[0], shared.own, inputs.numbers, i)
        place = i if inputs.transforms.shape[0] > 1 else 0
        for c in range(12):
            settings[0].root_space[c] = inputs.transforms[place, c]
        room = SolveBuffers(
            own_words(all_states).view(state),
            own_words(all_rows).view(row),
            own_words(all_columns).view(np.float64).reshape((joints_above, 6, rows)),
            own_words(square).view(np.float64).reshape((rows, rows)),
            own_words(rows).view(np.float64),
            support_room.view(support_type)[:points],
        )
        pose, before, solved = own_rows(inputs.pose, i), own_rows(inputs.warm, i), answers.pose
        for j in range(solved.s.shape[1]):
            answers.limited[i, j] = False
            for c in range(3):
                solved.s[i, j, c] = pose.s[0, j, c]
        call = BodyCall(
            shared.joints,
            pose.t,
            pose.r,
            pose.s,
            before.t,
            before.r,
            shared.unsettled,
            effectors,
            settings,
            solved.t[i : i + 1],
            solved.r[i : i + 1],
            outcomes,
            answers.errors[:, i : i + 1],
            answers.limited[i : i + 1],
        )
        outcome = outcomes[0]
        outcome.refused = not are_usable(effectors[0])
        if outcome.refused:
            report_flags(status, _UNUSABLE)
            return
        load_body(call, 0, room.states)
        buffers = (effectors[0], room.rows, room.sweep, room.matrix, room.pulls, settings, room.support)
        problem = BodyProblem(shared.joints[:moving], room.states[:moving], *buffers)
        whole = BodyProblem(shared.joints[:nodes], room.states[:nodes], *buffers)
        settings[0].rank = settings[0].ranks
        stand(problem, whole)
        outcome.steps = go(problem)
        if settings[0].single:
            round_pose(problem)
            forward(problem)
        measure(problem, whole, outcome)
        store_body(call, 0, room.states)
        answers.reached[i], answers.steps[i] = outcome.reached, outcome.steps
        answers.held[i], answers.balance[i] = outcome.limited, outcome.balance

    return run


@cache
def column_kernel() -> Any:
    """The kernel that copies vectors of characters, or one for all, to where the solver reads them."""
    cuda = checked_cuda()

    @cuda.jit
    def fill(source, width, numbers):
        """source: flat. numbers: (width, C)."""
        k = cuda.grid(1)
        if k < numbers.shape[1]:
            first = width * k if source.size > width else 0
            for c in range(width):
                numbers[c, k] = source[first + c]

    return fill


# --- a call ----------------------------------------------------------------------------------------------------


def solve(
    body: FullBody,
    pose: Pose | LocalTransforms,
    effectors: Sequence[Effector],
    warm: Pose | LocalTransforms | None,
    largest: float | None,
    transform: Any,
) -> tuple[LocalTransforms, BodyReport]:
    """`FullBody.solve` for characters whose poses or effectors are on the device. largest: rotation from `warm`."""
    plan = body.plan(effectors)
    given = {f"effectors[{k}].{name}": value for k, name, value in _own_numbers(effectors)}
    poses = [part for each in (pose, warm) if isinstance(each, tuple) for part in each]
    dtype = _device_precision(*given.values(), *poses)
    start = _pose_rows(body, "pose", pose, dtype)
    before = start if warm is None else _pose_rows(body, "warm", warm, dtype)
    places = on_device("transform", _identity(dtype) if transform is None else transform, (), dtype).wrapped()
    places = places.reshape(places.size // 12, 12)
    vectors = {name: on_device(name, value, (WIDTHS[name.split(".")[1]],), dtype) for name, value in given.items()}
    count = _count({"pose": start.r.shape[0], "warm": before.r.shape[0], "transform": places.shape[0]}, vectors)
    shared = moved_plan(body, plan, effectors, dtype, largest)
    inputs = BodyInputs(start, before, _columns(plan, vectors, count, dtype), places)
    answers = _answers(count, len(body.skeleton), len(effectors), dtype)
    size = BodySize(plan.nodes.size, plan.moving.size, len(effectors), plan.rows, len(plan.support), warm is not None)
    _launch(body_kernel(size), count, shared, inputs, answers, _status().device, threads=_CHAIN_THREADS)
    status = _wait()
    _refuse(status, vectors)
    if status & _UNUSABLE:
        raise InputError("a rotation of an effector is zero; a rotation is a quaternion x, y, z, w of length 1")
    reports = answers.errors[0], answers.errors[1], answers.steps, answers.held, answers.limited, answers.balance
    return answers.pose, BodyReport(answers.reached, *reports)


def _own_numbers(effectors: Sequence[Effector]) -> list[tuple[int, str, Any]]:
    """The numbers that characters have of their own: index of the effector, field, array. Raises DeviceError for fields
    that are the same for all characters on a GPU.
    """
    found = []
    for k, effector in enumerate(effectors):
        for name, value in vars(effector).items():
            if name in WIDTHS and value is not None and (validation.on_gpu(value) or np.ndim(value) > 1):
                found.append((k, name, value))
            elif validation.on_gpu(value):
                raise DeviceError(f"effectors[{k}].{name} must be on the host, one for all, where others are on a GPU")
    return found


def _pose_rows(body: FullBody, name: str, pose: Any, dtype: Any) -> LocalTransforms:
    """A pose, one for all characters or one each, (C or 1, J, 3|4|3), on the device."""
    if isinstance(pose, Pose):
        body.skeleton.check(pose)
        pose = LocalTransforms(*(np.asarray(part, dtype) for part in pose.arrays()))
    parts = []
    for part, width in zip(pose, (3, 4, 3), strict=True):
        found = on_device(name, part, (len(body.skeleton), width), dtype)
        parts.append(found.wrapped().reshape(math.prod(found.shape[:-2]), *found.shape[-2:]))
    if len({part.shape[0] for part in parts}) > 1:
        raise InputError(f"{name} has {', '.join(str(part.shape[0]) for part in parts)} rows; allowed are as many each")
    return LocalTransforms(*parts)


def _count(rows: dict[str, int], vectors: dict[str, DeviceArray]) -> int:
    """How many characters there are. Each input is for all of them, or for each."""
    rows |= {name: math.prod(array.shape[:-1]) for name, array in vectors.items()}
    count = max(rows.values())
    for name, own in rows.items():
        if own not in (1, count):
            raise InputError(f"{name} is for {own} characters; allowed on a GPU are {count} or a single one for all")
    return count


def moved_plan(
    body: FullBody, plan: BodyPlan, effectors: Sequence[Effector], dtype: Any, largest: float | None
) -> SharedPlan:
    """What all characters share, on the device."""
    names = [(k, name) for k, name, _ in _own_numbers(effectors)]
    fields = []
    for k, effector in enumerate(effectors):
        own_fields: dict[str, Any] = {name: None for n, name in names if n == k}
        fields.append(targets.numbers(replace(effector, **own_fields)))
    if any(array.shape[:-1] for each in fields for array in each.values()):
        raise DeviceError("on a GPU only position, rotation and offset of effectors may be one for each character")
    records_of_all = targets.as_records(fields, plan.effectors, ())[0]
    own = np.array([[(int(k), name) in names for name in WIDTHS] for k in plan.effectors["given"]])
    settings = plan.settings.copy()
    set_start(settings, dtype, largest)
    settings["unchecked"] = True
    support = plan.support if len(plan.support) else records.zeros(records.SUPPORT, 1)
    unsettled = np.zeros((1, len(body.skeleton)), bool)
    send = checked_cuda().to_device
    joints = send(np.asarray(plan.joints).view(_words(records.JOINT)[0]))
    return SharedPlan(
        joints,
        *(send(np.asarray(part).view(np.uint64)) for part in (records_of_all, settings, support)),
        *map(send, (own, unsettled)),
    )


def _columns(plan: BodyPlan, vectors: dict[str, DeviceArray], count: int, dtype: Any) -> Any:
    """The numbers that characters have of their own, as the kernel reads them."""
    numbers = checked_cuda().device_array((len(plan.effectors), NUMBERS, count), dtype)
    for e, k in enumerate(plan.effectors["given"].tolist()):
        first = 0
        for name, width in WIDTHS.items():
            vector = vectors.get(f"effectors[{k}].{name}")
            if vector is not None:
                flat = vector.wrapped()
                flat = flat.reshape(flat.size)
                _launch(column_kernel(), count, flat, width, numbers[e, first : first + width])
            first += width
    return numbers


def _answers(count: int, joints: int, effectors: int, dtype: Any) -> BodyAnswers:
    make = checked_cuda().device_array
    return BodyAnswers(
        LocalTransforms(*(make((count, joints, width), dtype) for width in (3, 4, 3))),
        make((2, count, effectors), dtype),
        make((count, joints), np.bool_),
        make(count, np.bool_),
        make(count, np.int64),
        make(count, np.bool_),
        make(count, dtype),
    )


@cache
def _identity(dtype: Any) -> Any:
    """The transform of characters that stand at the origin, on the device."""
    return checked_cuda().to_device(np.eye(4, dtype=dtype)[:3].reshape(1, 12))
