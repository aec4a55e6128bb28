"""Threads for batches: chunks cover a batch once, in order; errors come out; signal handlers and forks do not hang."""

import multiprocessing
import os
import signal
import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinema.compile.threads import in_chunks, thread_count


@pytest.mark.parametrize(
    ("setting", "count"),
    [
        ("1", 1),
        ("3", 3),
        ("64", 64),
        ("0", 1),
        ("", None),
        ("many", None),
        ("-2", None),
        ("2.5", None),
        ("\u00b2", None),
    ],
)
def test_kinema_threads_sets_the_number(monkeypatch, setting, count):
    monkeypatch.setenv("KINEMA_THREADS", setting)
    assert thread_count() == (count or os.cpu_count())


def test_without_a_setting_every_core_is_used(monkeypatch):
    monkeypatch.delenv("KINEMA_THREADS", raising=False)
    assert thread_count() == os.cpu_count()


@pytest.mark.parametrize("threads", ["1", "2", "3", "7"])
@pytest.mark.parametrize("align", [1, 16, 128])
def test_chunks_cover_everything_exactly_once(monkeypatch, threads, align):
    monkeypatch.setenv("KINEMA_THREADS", threads)
    for count in [0, 1, 2, 15, 16, 17, 99, 100, 101, 127, 128, 129, 255, 500, 1000, 1023, 4096, 4097]:
        seen = np.zeros(count, int)

        def work(start, stop, seen=seen):
            seen[start:stop] += 1
            return start, stop

        spans = in_chunks(work, count, 100, align=align)
        assert np.all(seen == 1), count
        # In order, and all but the last end where a tile ends.
        assert [start for start, _ in spans] == [0, *(stop for _, stop in spans[:-1])]
        assert spans[-1][1] == count
        assert all(start % align == 0 for start, _ in spans)
        assert len(spans) <= int(threads)


@given(count=st.integers(0, 5000), threads=st.integers(1, 9), large=st.integers(1, 3000), align=st.integers(1, 200))
def test_chunks_of_any_size(count, threads, large, align):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KINEMA_THREADS", str(threads))
        spans = in_chunks(lambda start, stop: (start, stop), count, large, align=align)
    assert [i for start, stop in spans for i in range(start, stop)] == list(range(count))


def test_small_batches_stay_in_the_calling_thread(monkeypatch):
    monkeypatch.setenv("KINEMA_THREADS", "4")
    here = threading.get_ident()
    assert in_chunks(lambda *_: threading.get_ident(), 99, 100) == [here]


def test_the_calling_thread_takes_its_share_of_a_large_batch(monkeypatch):
    monkeypatch.setenv("KINEMA_THREADS", "4")
    here = threading.get_ident()
    used = in_chunks(lambda *_: threading.get_ident(), 1000, 100)
    assert used[0] == here
    assert here not in used[1:]


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="no alarm here")
def test_a_batch_in_a_signal_handler_does_not_wait_for_the_batch_it_interrupted(monkeypatch):
    monkeypatch.setenv("KINEMA_THREADS", "2")
    answers = []

    def answer(*_):
        answers.append(in_chunks(lambda start, stop: stop - start, 1000, 100))
        signal.setitimer(signal.ITIMER_REAL, 1e-4)  # Only now: a slow machine would be interrupted again and again.

    before = signal.signal(signal.SIGALRM, answer)
    try:
        until = time.monotonic() + 1.0
        signal.setitimer(signal.ITIMER_REAL, 1e-4)
        while time.monotonic() < until:
            assert sum(in_chunks(lambda start, stop: stop - start, 1000, 100)) == 1000
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert len(answers) > 10
    assert all(sum(answer) == 1000 for answer in answers)


def test_large_batches_are_shared_out(monkeypatch):
    monkeypatch.setenv("KINEMA_THREADS", "4")
    assert len(in_chunks(lambda *span: span, 1000, 100)) == 4


def test_an_error_in_a_chunk_comes_out(monkeypatch):
    monkeypatch.setenv("KINEMA_THREADS", "2")

    def work(start, stop):
        raise ArithmeticError(f"{start} to {stop}")

    with pytest.raises(ArithmeticError):
        in_chunks(work, 1000, 100)


def _chunks_in_a_child(results):
    results.put(in_chunks(lambda start, stop: stop - start, 1000, 100))


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_chunks_work_in_a_forked_child(monkeypatch):
    """A pool of threads does not survive a fork: the child needs its own, or it waits for ever."""
    monkeypatch.setenv("KINEMA_THREADS", "2")
    in_chunks(lambda start, stop: stop - start, 1000, 100)
    fork = multiprocessing.get_context("fork")
    results = fork.SimpleQueue()
    child = fork.Process(target=_chunks_in_a_child, args=(results,))
    child.start()
    child.join(timeout=5.0)
    hangs = child.is_alive()
    if hangs:
        child.kill()
        child.join()
    assert not hangs
    assert sum(results.get()) == 1000


# --- devices ---------------------------------------------------------------------------------------------------
