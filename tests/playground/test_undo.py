"""Undo and redo of what users set."""

from kinema.playground.undo import MOST, UndoStack


class Thing:
    """Something with one number to change."""

    def __init__(self):
        self.value, self.stack = 0, UndoStack()

    def set(self, value, gesture=None):
        self.stack.record(gesture, lambda: self.value)
        self.value = value

    def move(self, step):
        state = step(self.value)
        self.value = self.value if state is None else state
        return self.value


def test_inputs_are_undone_and_redone_one_by_one():
    thing = Thing()
    for value in (1, 2, 3):
        thing.set(value)
    assert [thing.move(thing.stack.undo) for _ in range(4)] == [2, 1, 0, 0]
    assert [thing.move(thing.stack.redo) for _ in range(4)] == [1, 2, 3, 3]


def test_a_new_input_ends_what_can_be_redone():
    thing = Thing()
    thing.set(1)
    thing.move(thing.stack.undo)
    thing.set(5)
    assert thing.move(thing.stack.redo) == 5
    assert thing.move(thing.stack.undo) == 0


def test_a_gesture_counts_once_until_it_ends():
    thing = Thing()
    for value in (1, 2, 3):
        thing.set(value, "drag")
    thing.stack.end_gesture()
    thing.set(4, "drag")
    assert [thing.move(thing.stack.undo) for _ in range(2)] == [3, 0]


def test_inputs_without_effect_are_passed_over():
    thing = Thing()
    thing.set(1)
    thing.set(1)
    assert thing.move(thing.stack.undo) == 0


def test_only_the_last_inputs_are_kept():
    thing = Thing()
    for value in range(1, MOST + 51):
        thing.set(value)
    for _ in range(2 * MOST):
        thing.move(thing.stack.undo)
    assert thing.value == 50


def test_the_newest_snapshots_outlive_a_session_up_to_a_size(monkeypatch):
    monkeypatch.setattr("kinema.playground.undo.LARGEST", 25)
    stack = UndoStack()
    for n in range(4):
        stack.record(None, lambda n=n: [n] * 3)
    kept = stack.state()
    assert kept == {"before": [[2] * 3, [3] * 3], "after": []}
    other = UndoStack()
    other.restore(kept)
    assert other.undo([9]) == [3] * 3
    assert other.undo([3] * 3) == [2] * 3
    assert other.undo([2] * 3) is None
    assert other.redo([2] * 3) == [3] * 3


def test_undo_from_outside_that_is_none_is_ignored():
    for wrong in (None, 3, [], {"before": 7}, {"before": "text", "after": None}):
        stack = UndoStack()
        stack.restore(wrong)
        assert stack.undo([1]) is None
