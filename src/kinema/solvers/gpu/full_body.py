"""`FullBody` on a GPU: one thread per character, running the kernels that the CPU runs.

A thread has the states of its joints, the rows and the system in its own memory, in the precision of the call: 16 KB of
a person with five effectors in float32. The hardware lays that out so that the same number of neighbouring threads lies
side by side.

Threads of a warp wait for the slowest of them. So all characters first take a few steps, which is enough for most. For
the others, every start that the search would try has a thread of its own, and the answer is the one that the search
would have chosen.

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
from kinema.compile.records import REAL, Record
from kinema.constants import ROUNDING_ROTATION
from kinema.errors import DeviceError, InputError
from kinema.math import quat, vec
from kinema.math.rows import store3, store4
from kinema.model.pose import LocalTransforms, Pose
from kinema.solvers.body import records, targets
from kinema.solvers.body.descent import descend, scatter
from kinema.solvers.body.follow import follow
from kinema.solvers.body.full_body import BodyPlan, BodyReport, FullBody, set_start
from kinema.solvers.body.joints import forward
from kinema.solvers.body.records import BodyCall, BodyProblem
from kinema.solvers.body.rows import is_reached
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
    device_jit,
    on_device,
    report_flags,
)

WIDTHS = {"position": 3, "rotation": 4, "offset": 3}
"""What each character may have of its own of an effector, and how many numbers that is."""

NUMBERS = sum(WIDTHS.values())
"""All of these."""

REGISTERS = 80
"""Registers of a thread, at most: a multiprocessor then holds 25 warps, which wait for memory in turns. Measured on an
H200 with 100,000 people: with 64, 72 and 88 registers a call takes 28%, 20% and 35% longer."""

FIRST_STEPS = 16
"""Steps that all characters may take before those that are not there yet are searched for on their own."""

MOST_TRIALS = 1 << 17
"""Starts that are tried at once: their poses take 160 MB of a person with 60 joints."""


class BodySize(NamedTuple):
    """What a kernel is compiled for: how much room a thread needs."""

    nodes: int
    moving: int
    effectors: int
    rows: int
    support: int
    warm: bool
    """Whether they start from the pose of the frame before."""
    real: Any
    """The precision in which a thread keeps what it works on: that of the call. It computes in float64."""


class SharedPlan(NamedTuple):
    """What all characters share."""

    joints: Any
    """(N,) JOINT."""
    given: Any
    """What each thread is given, `given_record` as words: effectors with the numbers that are the same for all."""
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


class Starts(NamedTuple):
    """Whom the threads serve, and from where they start."""

    listed: bool
    """Whether characters are listed; if not, thread i serves character i."""
    rows: Any
    """Their indices, int64; at least one."""
    attempts: int
    """How many neighbouring threads serve one character, each from another start."""
    most_steps: int
    """Of each thread."""


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
    left: Any
    """(C,): squared error at the end of the search; below 0 where it arrived."""


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
            # In float64, for the check that it has length 1 is as strict as that.
            q = (np.float64(n[3, i]), np.float64(n[4, i]), np.float64(n[5, i]), np.float64(n[6, i]))
            # Zero and NaN stay what they are, and are refused.
            store4(effectors[e].rotation, quat.unit(q) if vec.span(q) + abs(q[3]) > 0.0 else q)
        if own[e, 2]:
            store3(effectors[e].offset, (n[7, i], n[8, i], n[9, i]))


@kernel
def seek(problem, attempt):
    """Descend from the pose or, as `descent.search` does, from another start. Returns steps taken and what is left."""
    if attempt > 0:
        scatter(problem, attempt)
    begin(problem)
    steps, left = descend(problem, 0)
    return steps, -1.0 if is_reached(problem) else left


@kernel
def chase(problem, attempt):
    """Follow from the pose of the frame before. Returns steps taken, and that nothing is left to be tried."""
    go_to_start(problem)
    return follow(problem), -1.0


def _words(record: Record, real: Any = np.float64) -> tuple[Any, int]:
    """A record as kernels view words, and how many words it has."""
    layout: Any = record.dtype(real)
    words = -(-layout.itemsize // 8)
    formats, offsets = ([kind[n] for kind in layout.fields.values()] for n in (0, 1))
    whole = {"names": list(layout.names), "formats": formats, "offsets": offsets, "itemsize": 8 * words}
    return np.dtype((np.record, np.dtype(whole, align=True))), words  # type: ignore[call-overload]


def working_record(size: BodySize) -> Record:
    """What a thread works on, in the precision of the call."""
    rows = size.rows
    return Record(
        states=(records.JOINT_STATE, size.nodes),
        rows=(records.ROW, rows),
        sweep=(REAL, (size.moving + 1, 6, rows)),
        matrix=(REAL, (rows, rows)),
        pulls=(REAL, rows),
    )


def given_record(effectors: int, support: int) -> Record:
    """What a thread is given, and what it finds, in float64."""
    return Record(
        effectors=(records.EFFECTOR, (1, effectors)),
        settings=(records.SETTINGS, 1),
        support=(records.SUPPORT, max(support, 1)),
        outcomes=(records.OUTCOME, 1),
    )


@cache
def body_kernel(size: BodySize) -> Any:
    """The kernel that solves characters with so much room each."""
    cuda = checked_cuda()
    from kinema.solvers.gpu.thread_memory import own_words

    work, work_words = _words(working_record(size), size.real)
    task, task_words = _words(given_record(size.effectors, size.support))
    nodes, moving, points, go = size.nodes, size.moving, size.support, chase if size.warm else seek

    @device_jit(REGISTERS)
    def run(shared, starts, inputs, answers, status):
        k = cuda.grid(1)
        if k >= answers.reached.size:
            return
        attempt = k % starts.attempts
        i = starts.rows[k // starts.attempts] if starts.listed else k
        room, words = own_words(work_words).view(work)[0], own_words(task_words)
        copy_words(shared.given, words)
        own = words.view(task)[0]
        effectors, settings, outcomes = own.effectors, own.settings, own.outcomes
        set_numbers(effectors[0], shared.own, inputs.numbers, i)
        place = i if inputs.transforms.shape[0] > 1 else 0
        for c in range(12):
            settings[0].root_space[c] = inputs.transforms[place, c]
        settings[0].most_steps = min(settings[0].most_steps, starts.most_steps)
        pose, before, solved = own_rows(inputs.pose, i), own_rows(inputs.warm, i), answers.pose
        for j in range(solved.s.shape[1]):
            answers.limited[k, j] = False
            for c in range(3):
                solved.s[k, j, c] = pose.s[0, j, c]
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
            solved.t[k : k + 1],
            solved.r[k : k + 1],
            outcomes,
            answers.errors[:, k : k + 1],
            answers.limited[k : k + 1],
        )
        outcome = outcomes[0]
        outcome.refused = not are_usable(effectors[0])
        if outcome.refused:
            report_flags(status, _UNUSABLE)
            return
        load_body(call, 0, room.states)
        buffers = (effectors[0], room.rows, room.sweep, room.matrix, room.pulls, settings, own.support[:points])
        problem = BodyProblem(shared.joints[:moving], room.states[:moving], *buffers)
        whole = BodyProblem(shared.joints[:nodes], room.states[:nodes], *buffers)
        settings[0].rank = settings[0].ranks
        stand(problem, whole)
        outcome.steps, answers.left[k] = go(problem, attempt)
        if settings[0].single:
            round_pose(problem)
            forward(problem)
        measure(problem, whole, outcome)
        store_body(call, 0, room.states)
        answers.reached[k], answers.steps[k] = outcome.reached, outcome.steps
        answers.held[k], answers.balance[k] = outcome.limited, outcome.balance

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


@cache
def choice_kernel() -> Any:
    """The kernel that chooses among the starts of each character as `descent.search` does, and copies the answer."""
    cuda = checked_cuda()

    @cuda.jit
    def choose(starts, better, trials, answers):
        m = cuda.grid(1)
        if m * starts.attempts >= trials.reached.size:
            return
        first, i = m * starts.attempts, starts.rows[m]
        chosen, steps, best, enough = first, 0, 0.0, 0.0
        for k in range(first, first + starts.attempts):
            steps += trials.steps[k]
            left = trials.left[k]
            if left < 0.0:
                chosen = k
                break
            if k == first:
                enough = left * better
            if k == first or left < min(enough, best):
                chosen, best = k, left
        for j in range(trials.limited.shape[1]):
            answers.limited[i, j] = trials.limited[chosen, j]
            for c in range(3):
                answers.pose.t[i, j, c] = trials.pose.t[chosen, j, c]
            for c in range(4):
                answers.pose.r[i, j, c] = trials.pose.r[chosen, j, c]
        for e in range(trials.errors.shape[2]):
            for n in range(2):
                answers.errors[n, i, e] = trials.errors[n, chosen, e]
        answers.reached[i], answers.steps[i] = trials.reached[chosen], steps
        answers.held[i], answers.balance[i] = trials.held[chosen], trials.balance[chosen]

    return choose


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
    size = BodySize(
        plan.nodes.size, plan.moving.size, len(effectors), plan.rows, len(plan.support), warm is not None, dtype
    )
    most, attempts = int(plan.settings["most_steps"][0]), int(plan.settings["attempts"][0])
    everyone = Starts(False, _nobody(), 1, most if warm is not None else min(most, FIRST_STEPS))
    _run(size, shared, everyone, inputs, answers)
    status = _wait()
    _refuse(status, vectors)
    if status & _UNUSABLE:
        raise InputError("a rotation of an effector is zero; a rotation is a quaternion x, y, z, w of length 1")
    if warm is None and (attempts > 1 or most > FIRST_STEPS):
        missed = np.flatnonzero(answers.left.copy_to_host() >= 0.0)
        for first in range(0, len(missed), MOST_TRIALS // attempts or 1):
            rows = checked_cuda().to_device(missed[first : first + (MOST_TRIALS // attempts or 1)])
            trials = _answers(rows.size * attempts, len(body.skeleton), len(effectors), dtype)
            starts = Starts(True, rows, attempts, most)
            _run(size, shared, starts, inputs, trials)
            _launch(choice_kernel(), rows.size, starts, float(plan.settings["better"][0]), trials, answers)
    reports = answers.errors[0], answers.errors[1], answers.steps, answers.held, answers.limited, answers.balance
    return answers.pose, BodyReport(answers.reached, *reports)


def _run(size: BodySize, shared: SharedPlan, starts: Starts, inputs: BodyInputs, answers: BodyAnswers) -> None:
    """Start the kernel, with a thread for each row of the answers."""
    count = answers.reached.size
    _launch(body_kernel(size), count, shared, starts, inputs, answers, _status().device, threads=_CHAIN_THREADS)


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
    settings = plan.settings.copy()
    set_start(settings, dtype, largest)
    settings["rounding"] = np.finfo(dtype).eps * ROUNDING_ROTATION
    settings["unchecked"] = True
    given = np.zeros(1, _words(given_record(len(effectors), len(plan.support)))[0])
    given["effectors"][0, 0], given["settings"][0] = records_of_all, settings
    given["support"][0, : len(plan.support)] = plan.support
    own = np.array([[(int(k), name) in names for name in WIDTHS] for k in plan.effectors["given"]])
    unsettled = np.zeros((1, len(body.skeleton)), bool)
    send = checked_cuda().to_device
    joints = send(np.asarray(plan.joints).view(_words(records.JOINT)[0]))
    return SharedPlan(joints, send(given.view(np.uint64)), send(own), send(unsettled))


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
        make(count, np.float64),
    )


@cache
def _nobody() -> Any:
    """A list of characters for kernels that are given none."""
    return checked_cuda().to_device(np.zeros(1, np.int64))


@cache
def _identity(dtype: Any) -> Any:
    """The transform of characters that stand at the origin, on the device."""
    return checked_cuda().to_device(np.eye(4, dtype=dtype)[:3].reshape(1, 12))
