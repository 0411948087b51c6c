"""Writers: whole files through links, with their permissions; pipes and devices directly; clear failures."""

from __future__ import annotations

import errno
import gzip
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from topkit.data import InputError
from topkit.data.errors import WriteError
from topkit.data.files import text_writer, written_whole


def write_text(path: Path, text: str) -> None:
    with text_writer(path) as stream:
        stream.write(text)


def write_bytes(path: Path, text: str) -> None:
    with written_whole(path) as temporary:
        temporary.write_bytes(text.encode())


WRITERS = pytest.mark.parametrize("write", [write_text, write_bytes])
Write = Callable[[Path, str], None]


@WRITERS
def test_a_link_stays_a_link_and_its_target_is_written(write: Write, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    real, link = tmp_path / "there" / "file", tmp_path / "link"
    link.symlink_to(Path("there", "file"))
    for text in ("first", "second"):  # the target is missing at first
        write(link, text)
        assert link.is_symlink()
        assert real.read_text() == text
    assert os.listdir(tmp_path / "there") == ["file"]


@WRITERS
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_permissions_are_kept(write: Write, mode: int, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.touch()
    path.chmod(mode)
    write(path, "text")
    assert stat.S_IMODE(path.stat().st_mode) == mode


@WRITERS
def test_new_files_have_the_default_permissions(write: Write, tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    write(tmp_path / "file", "text")
    assert (tmp_path / "file").stat().st_mode == (tmp_path / "plain").stat().st_mode


@WRITERS
def test_a_pipe_gets_the_content_and_stays_a_pipe(write: Write, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    received: list[str] = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_text()))
    reader.start()
    write(pipe, "through the pipe")
    reader.join()
    assert received == ["through the pipe"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert os.listdir(tmp_path) == ["pipe"]


@WRITERS
def test_a_device_stays_a_device(write: Write) -> None:
    write(Path(os.devnull), "text")
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


@WRITERS
@pytest.mark.parametrize("name", ["-", "/dev/stdout"])
def test_a_dash_is_standard_output(
    write: Write,
    name: str,
    capfdbinary: pytest.CaptureFixture[bytes],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    write(Path(name), "text\n")
    assert capfdbinary.readouterr().out == b"text\n"
    assert os.listdir(tmp_path) == []


def test_redirected_output_is_appended_to_not_replaced(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("before\n")
    script = (
        "from topkit.data.files import text_writer\nwith text_writer('/dev/stdout') as s: s.write('after\\n')"
    )
    with file.open("a") as stream:
        subprocess.run([sys.executable, "-c", script], stdout=stream, check=True)
    assert file.read_text() == "before\nafter\n"


@WRITERS
def test_a_folder_in_place_of_the_file(write: Write, tmp_path: Path) -> None:
    with pytest.raises(WriteError, match="this is a folder, not a file"):
        write(tmp_path, "text")


@WRITERS
def test_a_missing_folder(write: Write, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist; create it first"):
        write(tmp_path / "nowhere" / "file", "text")


@WRITERS
def test_a_full_device(write: Write) -> None:
    with pytest.raises(WriteError, match="the disk is full"):
        write(Path("/dev/full"), "text" * 10_000)


@WRITERS
def test_a_loop_of_links(write: Write, tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(WriteError, match="symbolic links"):
        write(tmp_path / "a", "text")


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), WriteError),
        (KeyboardInterrupt(), KeyboardInterrupt),
        (SystemExit(3), SystemExit),
        (ZeroDivisionError(), ZeroDivisionError),
        (FileNotFoundError(errno.ENOENT, "No such file", "another file"), FileNotFoundError),
    ],
    ids=repr,
)
@pytest.mark.parametrize("writer", [text_writer, written_whole])
def test_a_failure_leaves_the_old_file_and_nothing_else(
    writer: Callable[..., object], error: BaseException, raised: type[BaseException], tmp_path: Path
) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(raised), writer(path):  # type: ignore[attr-defined]
        raise error
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["file"]


def test_a_read_only_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root may write anywhere, so the refusal is simulated."""
    real = os.open

    def refuse(path: str, flags: int, mode: int = 0o777) -> int:
        if flags & os.O_CREAT:
            raise PermissionError(errno.EACCES, "Permission denied", os.fspath(path))
        return real(path, flags, mode)

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(WriteError, match="no permission to write"):
        write_text(tmp_path / "file", "text")
    assert os.listdir(tmp_path) == []


def test_the_same_text_gives_the_same_gzip_bytes(tmp_path: Path) -> None:
    for name in ("a.gz", "b.gz"):
        write_text(tmp_path / name, "text")
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.gz").read_bytes()) == b"text"


def test_writers_at_the_same_time_do_not_disturb_each_other(tmp_path: Path) -> None:
    path, texts = tmp_path / "file", [f"{i}" * 10_000 for i in range(8)]
    failures: list[BaseException] = []

    def work(text: str) -> None:
        try:
            for _ in range(10):
                write_text(path, text)
                assert path.read_text() in texts
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert os.listdir(tmp_path) == ["file"]
