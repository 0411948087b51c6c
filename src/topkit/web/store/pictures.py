"""Uploaded pictures, which documents show by name. They are stored as text, as backups are."""

from __future__ import annotations

import base64
import zipfile
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import BinaryIO

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from topkit.data.errors import InputError
from topkit.web.schema import picture

LARGEST_PICTURE = 4 << 20
MOST_PICTURES = 10_000
SIGNATURES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}
REMEDY = "upload PNG, JPEG, GIF or WebP files, or a ZIP archive of them"


def kind_of(content: bytes) -> str | None:
    """The media type of a picture by its first bytes, or None. SVG is not accepted: it is a document."""
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for start, kind in SIGNATURES.items() if content.startswith(start)), None)


def read_upload(name: str, stream: BinaryIO) -> Iterator[tuple[str, bytes]]:
    """The pictures of an upload: one file, or a ZIP archive."""
    start = stream.read(4)
    stream.seek(0)
    if start != b"PK\x03\x04":
        yield PurePosixPath(name.replace("\\", "/")).name, stream.read(LARGEST_PICTURE + 1)
        return
    try:
        archive = zipfile.ZipFile(stream)
        members = [member for member in archive.infolist() if not member.is_dir()]
    except zipfile.BadZipFile:
        raise InputError("the archive is damaged", REMEDY) from None
    if len(members) > MOST_PICTURES:
        raise InputError(f"the archive contains {len(members):,} files", f"at most {MOST_PICTURES:,}")
    for member in members:
        try:
            with archive.open(member) as opened:  # the declared size is not trusted
                yield PurePosixPath(member.filename).name, opened.read(LARGEST_PICTURE + 1)
        # zipfile raises NotImplementedError for unknown compression and RuntimeError for encrypted members
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError):
            raise InputError(f"{member.filename!r} in the archive cannot be read", REMEDY) from None


def checked_kind(name: str, content: bytes) -> str:
    """The media type of a picture; an error for other files, and for pictures that are too large."""
    kind = kind_of(content)
    if kind is None:
        raise InputError(f"{name!r} is not a picture that browsers show", REMEDY)
    if len(content) > LARGEST_PICTURE:
        raise InputError(f"{name!r} is larger than {LARGEST_PICTURE >> 20} MB", "make it smaller")
    return kind


def add_picture(connection: Connection, project_id: int, name: str, content: bytes) -> None:
    """Store a picture; one with the same name is replaced."""
    kind = checked_kind(name, content)
    where = (picture.c.project == project_id, picture.c.name == name)
    connection.execute(picture.delete().where(*where))
    text = base64.b64encode(content).decode()
    connection.execute(picture.insert().values(project=project_id, name=name, kind=kind, content=text))


def pictures_of(connection: Connection, project_id: int) -> Callable[[str], str | None]:
    """A function from the name of a picture to its data URL."""

    def find(name: str) -> str | None:
        query = sa.select(picture.c.kind, picture.c.content)
        row = connection.execute(query.where(picture.c.project == project_id, picture.c.name == name)).first()
        return None if row is None else f"data:{row.kind};base64,{row.content}"

    return find


def picture_names(connection: Connection, project_id: int) -> list[str]:
    """The names of the pictures of a project, sorted."""
    query = sa.select(picture.c.name).where(picture.c.project == project_id).order_by(picture.c.name)
    return list(connection.scalars(query))
