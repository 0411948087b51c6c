"""The lines of a text file as strings; bytes that are not UTF-8 are read one by one as Windows-1252."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator

from topkit.data.blocks import FilePath
from topkit.data.files import MAX_LINE_BYTES, line_chunks

_ESCAPED = re.compile("[\udc80-\udcff]")
_WINDOWS_1252 = {
    0xDC00 + byte: bytes([byte]).decode("cp1252", "replace").replace("\ufffd", chr(byte))
    for byte in range(0x80, 0x100)
}
"""Latin-1 with quotation marks, dashes and the euro sign in place of control characters: what spreadsheets
write, and what browsers read where a page says Latin-1."""


def text_lines(path: FilePath, longest: int = MAX_LINE_BYTES) -> Iterator[tuple[int, str]]:
    """Each line of a file (plain, gzip, UTF-16) with its number.

    A byte that is not part of valid UTF-8 is read as the Windows-1252 character of that byte, because old
    collections are Latin-1, and Excel writes Windows-1252; the text around it stays as it is. A warning at
    the end says how many there were. A line of more than ``longest`` bytes is an error.
    """
    count = 0
    first_line = None
    for chunk, first in line_chunks(path, longest):
        try:
            text = chunk.decode("utf-8")
        except UnicodeDecodeError:
            escaped = chunk.decode("utf-8", "surrogateescape")
            places = [match.start() for match in _ESCAPED.finditer(escaped)]
            if first_line is None:
                first_line = first + escaped.count("\n", 0, places[0])
            count += len(places)
            text = escaped.translate(_WINDOWS_1252)
        yield from enumerate(text.split("\n")[:-1], first)
    if first_line is not None:
        bytes_are = "1 byte is" if count == 1 else f"{count:,} bytes are"
        message = f"{path}: {bytes_are} not UTF-8 and read as Windows-1252, the first in line {first_line}"
        warnings.warn(message, UserWarning, stacklevel=2)
