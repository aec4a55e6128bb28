"""`kinema warmup`: what it writes where."""

from tests.cli.invoking import invoke


def test_no_progress_is_drawn_into_a_pipe():
    result = invoke("warmup", "two_bone")
    assert result.exit_code == 0
    assert result.stderr == ""
    assert result.output.startswith("two_bone: compiled")


def test_an_unknown_part_is_one_line():
    result = invoke("warmup", "knees")
    assert result.exit_code == 2
    assert "knees" in result.stderr
