"""Pictures for documents: uploaded by admins, shown inside document frames."""

from __future__ import annotations

from fastapi import APIRouter, UploadFile

from topkit.data.errors import InputError
from topkit.reporting.words import counted
from topkit.web.guard import Admin, Stored
from topkit.web.lookup import project_of
from topkit.web.shapes import PROBLEMS, Id, Message
from topkit.web.store.pictures import REMEDY, add_picture, read_upload

router = APIRouter(prefix="/api/projects/{number}/pictures", tags=["projects"], responses=PROBLEMS)


@router.post("", status_code=201)
def upload(number: Id, file: UploadFile, _: Admin, store: Stored) -> Message:
    """Upload a picture (PNG, JPEG, GIF or WebP), or a ZIP archive of pictures. Documents name them."""
    count = 0
    with store.write() as connection:
        project_of(connection, number)
        for name, content in read_upload(file.filename or "picture", file.file):
            add_picture(connection, number, name, content)
            count += 1
        if not count:
            raise InputError("the archive contains no files", REMEDY)
    return Message(message=f"{counted(count, 'picture')} stored.")
