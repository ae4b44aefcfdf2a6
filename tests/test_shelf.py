"""Shelves of a cache: whole or not there, held or removable, made by one."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from reeval.shelf import UNFINISHED, claim, drop_claims, hold, making, note_size, put, size, take_down


def made(shelf: Path, name: str = "a", text: str = "x") -> Path:
    with making(shelf) as building:
        (building / "f").write_text(text)
        note_size(building)
        put(building, shelf / name)
    return shelf / name


def test_a_directory_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    with suppress(RuntimeError), making(tmp_path / "s") as building:
        (building / "f").write_text("half")
        raise RuntimeError
    assert list((tmp_path / "s").iterdir()) == []
    assert (made(tmp_path / "s") / "f").read_text() == "x"


def test_who_comes_second_finds_the_first_ones(tmp_path: Path) -> None:
    first = made(tmp_path, text="first")
    assert (made(tmp_path, text="second") / "f").read_text() == "first"
    assert [path.name for path in tmp_path.iterdir()] == [first.name]


def test_what_is_held_is_not_taken_down(tmp_path: Path) -> None:
    directory = made(tmp_path)
    held, another = hold(directory), hold(directory)
    assert held is not None
    assert another is not None
    assert take_down(directory) is None
    held.release()
    assert take_down(directory) is None
    del another
    gc.collect()
    going = take_down(directory)
    assert going is not None
    assert going.name.startswith(UNFINISHED)
    assert not directory.exists()
    assert hold(directory) is None
    assert take_down(directory) is None


def test_holding_marks_as_used(tmp_path: Path) -> None:
    directory = made(tmp_path)
    os.utime(directory, (1, 1))
    assert hold(directory) is not None
    assert directory.stat().st_mtime > 1


def test_what_is_being_made_is_not_taken_down(tmp_path: Path) -> None:
    with making(tmp_path) as building:
        assert take_down(building) is None


def test_a_killed_process_holds_nothing(tmp_path: Path) -> None:
    directory = made(tmp_path)
    code = (
        "import sys; from pathlib import Path; from reeval.shelf import claim, hold\n"
        "kept = hold(sys.argv[1]), claim(Path(sys.argv[1] + '-next')); print('ready', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(directory)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        assert take_down(directory) is None
        assert claim(tmp_path / "a-next") is None
        process.kill()
        process.wait()
    assert take_down(directory) is not None
    assert claim(tmp_path / "a-next") is not None


def test_one_at_a_time_has_the_claim(tmp_path: Path) -> None:
    first = claim(tmp_path / "new" / "a")
    assert first is not None
    assert claim(tmp_path / "new" / "a") is None
    assert claim(tmp_path / "new" / "b") is not None
    first.release()
    assert claim(tmp_path / "new" / "a") is not None


TAKE_TURNS = """
import os, sys
from pathlib import Path
from reeval.shelf import claim
place = Path(sys.argv[1])
done = 0
while done < 300:
    held = claim(place / "new")
    if held is None:
        continue
    os.mkdir(place / "alone")  # Fails when another one is in here.
    os.rmdir(place / "alone")
    held.release()
    done += 1
"""


def test_a_claim_leaves_nothing_and_is_one_process_alone_all_the_same(tmp_path: Path) -> None:
    command = [sys.executable, "-c", TAKE_TURNS, str(tmp_path)]
    processes = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(4)]
    assert [process.communicate(timeout=60)[1] for process in processes] == [""] * 4
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_claimed_is_dropped_and_what_a_live_one_claims_is_not(tmp_path: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path; from reeval.shelf import claim\n"
        "kept = claim(Path(sys.argv[1])); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "shelf" / "left")], check=True)
    held = claim(tmp_path / "shelf" / "live")
    assert held is not None
    assert len(list((tmp_path / "shelf").iterdir())) == 2
    drop_claims(tmp_path)
    assert [path.name for path in (tmp_path / "shelf").iterdir()] == [".lock-live"]
    assert claim(tmp_path / "shelf" / "live") is None


def test_a_size_is_what_its_files_hold(tmp_path: Path) -> None:
    directory = made(tmp_path, text="12345")
    assert size(directory) == 5
    (directory / "size").write_text("odd")
    assert size(directory) == 5 + len("odd")
