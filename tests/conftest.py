"""Settings every test shares: how Hypothesis draws, a clean slate for warnings, and what was skipped."""

import os

import pytest
from hypothesis import HealthCheck, settings
from numba import config

from kinema import constants, notices
from tests import missing

if config.DISABLE_JIT:  # As plain Python, chains side by side only multiply the work. Before any solver is imported.
    constants.LANES, constants.CHAIN_LANES, constants.TILE = 2, 2, 4

# The same examples in every run, so that a red build can be repeated. KINEMA_FRESH=1 goes looking for new ones.
_COMMON = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", _COMMON, derandomize=True, max_examples=60)
settings.register_profile("quick", _COMMON, derandomize=True, max_examples=20)
settings.register_profile("uncompiled", _COMMON, derandomize=True, max_examples=10)
settings.register_profile("fresh", _COMMON, max_examples=500)
settings.load_profile("fresh" if os.environ.get("KINEMA_FRESH") == "1" else "ci")


@pytest.fixture(autouse=True)
def _nothing_reported_yet():
    """Every test hears its own warnings, whatever the tests before it met, and leaves the logger as it was."""
    notices.forget()
    level = notices.logger.level
    yield
    assert notices.logger.level == level, "the test changed the level of the logger for all later tests"


def pytest_terminal_summary(terminalreporter):
    """Say how many tests were skipped because this machine lacks what they need."""
    reasons = [report.longrepr[2] for report in terminalreporter.stats.get("skipped", ()) if report.longrepr]
    for line in missing.summary(reasons):
        terminalreporter.write_line(line)
