"""The playground in a notebook's cell."""

import logging
import re
import urllib.error
import urllib.request

import pytest

import kinema as km
from kinema.playground import server
from tests.playground.serving import PAGE


@pytest.fixture(autouse=True)
def _a_page(monkeypatch):
    monkeypatch.setattr(server, "page", lambda: PAGE)


def test_a_cell_shows_the_page_until_it_is_closed():
    cell = km.play("arm", height=500, port=18170)
    address = re.search(r'src="([^"]+)"', cell._repr_html_())[1]
    assert address.endswith("/#arm")
    assert "500px" in cell._repr_html_()
    with urllib.request.urlopen(address.split("#")[0], timeout=20) as answer:
        assert answer.read() == PAGE["index.html"]
    cell.close()
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(address.split("#")[0], timeout=5)


def test_a_notebook_on_another_machine_is_told_how_to_forward_the_port():
    cell = km.play("arm", port=18171)
    try:
        port = re.search(r":(\d+)/", cell.address)[1]
        assert f"ssh -L {port}:127.0.0.1:{port} " in cell._repr_html_()
        assert repr(cell) == f"Cell({cell.address})"
    finally:
        cell.close()


def test_the_loggers_of_the_process_stay_as_they_are():
    loggers = [logging.getLogger(name) for name in ("", "kinema")]
    before = [(logger.level, list(logger.handlers), logger.disabled) for logger in loggers]
    km.play("arm", port=18172).close()
    assert [(logger.level, list(logger.handlers), logger.disabled) for logger in loggers] == before


def test_a_scene_that_does_not_exist_is_refused():
    with pytest.raises(km.InputError, match="planar"):
        km.play("juggling")
