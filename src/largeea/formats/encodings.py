"""Text in other encodings as UTF-8, decoded block by block while it is read.

A byte-order mark decides, then the zero bytes of UTF-16, then the encoding that an XML declaration names.
Guards and parsers come after this module: they all see the same UTF-8, so no encoding can hide anything.
"""

from __future__ import annotations

import codecs
import io
import re
from functools import cache
from pathlib import Path

from largeea.errors import InputError

MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
"""Byte-order marks; those of UTF-32 come before those of UTF-16, which they begin with."""
_UTF_8 = ("utf-8",)
_WIDE = ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be")
_BYTE_WISE = (
    "ascii",
    *(f"iso8859-{part}" for part in range(1, 17) if part != 12),
    *(f"cp{page}" for page in (437, 850, 852, 855, 857, 858, 860, 861, 862, 863, 864, 865, 866, 869, 874)),
    *(f"cp{page}" for page in range(1250, 1259)),
    *("koi8-r", "koi8-u", "koi8-t", "mac-roman", "mac-cyrillic", "mac-greek", "mac-latin2", "mac-turkish"),
    *("tis-620", "big5", "big5hkscs", "cp950", "gb2312", "gbk", "gb18030"),
    *("euc_jp", "shift_jis", "cp932", "iso2022_jp", "euc_kr", "cp949", "johab"),
)

_HEAD_BYTES = 512
_DECLARED_BYTES = 4096
_DECLARATION = re.compile(
    r"""\A(<\?xml\s[^<>?]*?\bencoding\s*=\s*)("[^"<>?]*"|'[^'<>?]*')""",
)


class Utf8Stream(io.RawIOBase):
    """Passes UTF-8 on as it is, without a byte-order mark, and other text as UTF-8.

    The declaration of XML that was in another encoding then says UTF-8. Bytes that are not valid in the
    encoding are an `InputError`; whether UTF-8 is valid is left to those who read the stream.
    """

    def __init__(self, raw: io.RawIOBase, path: Path) -> None:
        self._raw, self._path = raw, path
        self._encoding = self._name = ""
        self._decoder: codecs.IncrementalDecoder | None = None
        self._left = memoryview(b"")
        self._line = 1

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        """Fill the buffer with the next bytes of UTF-8; their number, 0 at the end."""
        if not self._encoding:
            self._begin(len(buffer))
        elif not self._left and self._decoder is None:
            return self._raw.readinto(buffer) or 0
        while not self._left and self._decoder is not None:
            data = self._raw.read(len(buffer)) or b""
            self._left = memoryview(self._decoded(data))
            if not data:
                self._decoder = None
        part, self._left = self._left[: len(buffer)], self._left[len(buffer) :]
        buffer[: len(part)] = part
        return len(part)

    def close(self) -> None:
        """Close the stream below, too."""
        self._raw.close()
        super().close()

    def _begin(self, size: int) -> None:
        """Find the encoding in the first block, and keep what the block says in UTF-8."""
        block = self._raw.read(max(size, _DECLARED_BYTES)) or b""
        mark = next((mark for mark in MARKS if block.startswith(mark)), b"")
        block = block[len(mark) :]
        declared = _declared(block) if mark in (b"", codecs.BOM_UTF8) else None
        self._encoding = MARKS.get(mark) or _without_mark(block) or self._usable(declared)
        self._name = declared or self._encoding.upper()
        if self._encoding == "utf-8" and _says_utf_8(declared):
            self._left = memoryview(block)
            return
        self._decoder = codecs.getincrementaldecoder(self._encoding)()
        text = self._decoded(block).decode()
        self._left = memoryview(_DECLARATION.sub(r'\1"UTF-8"', text, count=1).encode())

    def _usable(self, declared: str | None) -> str:
        """The codec of a declared encoding. UTF-16 cannot be true where the declaration is readable."""
        if declared is None:
            return "utf-8"
        try:
            name = codecs.lookup(declared).name
        except (LookupError, ValueError):
            name = ""
        if name not in _allowed():
            raise InputError(
                f"declares the encoding {declared[:40]!r}, which is not known; UTF-8, UTF-16, ISO-8859-1 and "
                "windows-1252 are, and most others. Correct the name, or convert the file to UTF-8 and "
                "remove the name",
                self._path,
                line=1,
            )
        return "utf-8" if name in _WIDE else name

    def _decoded(self, data: bytes) -> bytes:
        """The next bytes of the file as UTF-8; without data, what is left at the end of the file."""
        assert self._decoder is not None
        try:
            text = self._decoder.decode(data, final=not data)
            block = text.encode()
        except UnicodeDecodeError as error:
            line = self._line + error.object[: error.start].decode(self._encoding, "replace").count("\n")
            raise InputError(
                f"byte 0x{error.object[error.start]:02x} is not valid in {self._name}, the encoding that the "
                "file's beginning shows. Is the file complete? If it is in another encoding, declare that "
                "one, or convert the file to UTF-8",
                self._path,
                line,
            ) from None
        self._line += block.count(b"\n")
        return block


@cache
def _allowed() -> set[str]:
    """Encodings of text files. Python also has codecs that are none: rot13, zip, idna, utf-7."""
    return {codecs.lookup(name).name for name in (*_UTF_8, *_WIDE, *_BYTE_WISE)}


def _declared(head: bytes) -> str | None:
    """The encoding that an XML declaration names, if there is one."""
    found = _DECLARATION.match(head[:_DECLARED_BYTES].decode("latin-1"))
    return found[2][1:-1].strip() if found else None


def _says_utf_8(declared: str | None) -> bool:
    return declared is None or declared.lower() in ("utf-8", "utf8")


def _without_mark(head: bytes) -> str | None:
    """UTF-16 without a byte-order mark: every other byte of its Latin letters is zero."""
    head = head[:_HEAD_BYTES]
    for order, other, zeros in (("utf-16-le", head[::2], head[1::2]), ("utf-16-be", head[1::2], head[::2])):
        if head.startswith("<?".encode(order)) or (2 * zeros.count(0) > len(zeros) and 0 not in other):
            return order
    return None
