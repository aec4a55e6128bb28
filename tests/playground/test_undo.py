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
