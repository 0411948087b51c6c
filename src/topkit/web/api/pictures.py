"""Pictures for documents: uploaded by admins, shown inside document frames."""

from __future__ import annotations

from fastapi import APIRouter, UploadFile

from topkit.data.errors import InputError
from topkit.reporting.words import counted
from topkit.web.managed import Managed
from topkit.web.shapes import PROBLEMS, Message
from topkit.web.store.pictures import REMEDY, add_picture, read_upload

router = APIRouter(prefix="/api/projects/{number}/pictures", tags=["projects"], responses=PROBLEMS)


@router.post("", status_code=201)
def upload(project: Managed, file: UploadFile) -> Message:
    """Upload a picture (PNG, JPEG, GIF or WebP), or a ZIP archive of pictures. Documents name them."""
    count = 0
    with project.write() as connection:
        for name, content in read_upload(file.filename or "picture", file.file):
            add_picture(connection, project.number, name, content)
            count += 1
        if not count:
            raise InputError("the archive contains no files", REMEDY)
    return Message(message=f"{counted(count, 'picture')} stored.")
