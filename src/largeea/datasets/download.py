"""Resumable downloads with checksum verification; a file appears only if it is complete and correct."""

from __future__ import annotations

import http.client
import io
import math
import re
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from largeea.errors import InputError, ResourceError
from largeea.hashing import file_hash
from largeea.progress import note, track
from largeea.runs.files import atomic_write

MAX_BYTES = 32 << 30
"""Upper limit in bytes; every known data set is smaller, so a larger response is rejected."""
ATTEMPTS = 4
TIMEOUT_SECONDS = 60
_CHUNK = 1 << 20


class _Redirection(urllib.request.HTTPRedirectHandler):
    """Closes a response that redirects to an invalid address; urllib alone leaves it open."""

    def http_error_302(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
    ) -> Any:
        try:
            return super().http_error_302(req, fp, code, msg, headers)
        except ValueError:
            fp.close()
            raise

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302


class _BrokenError(Exception):
    """The connection ended before the file was complete."""


@dataclass(frozen=True)
class _Answer:
    """A server response: first byte of the body, total size, and the version (ETag or date) of the file."""

    stream: IO[bytes]
    start: int
    whole: int | None
    version: str | None


def download(
    url: str, path: Path, checksum: str | None = None, size: int | None = None, help: str = ""
) -> None:
    """Download `url` to `path`, which appears only once the file is complete and verified.

    An interrupted download is kept as `.part`. The next attempt resumes it if the server supports this and
    still has the same version. `help` is added to the error message if all attempts fail.
    """
    part, mark = path.with_name(f"{path.name}.part"), path.with_name(f"{path.name}.part.version")
    for attempt in range(1, ATTEMPTS + 1):
        try:
            with _explained(url, help):
                _fetch(url, part, mark, checksum, size)
            break
        except _BrokenError as broken:
            if attempt == ATTEMPTS:
                raise ResourceError(
                    f"{url}: {broken}, at the last of {ATTEMPTS} attempts; run the same command again to go "
                    f"on from there. {help}"
                ) from None
            note(f"{broken}; going on")
    mark.unlink(missing_ok=True)
    _check_or_remove(part, checksum, url)
    part.replace(path)


def check(path: Path, checksum: str | None) -> None:
    """Verify a file against its known checksum, or else against that of its first download.

    Without a known checksum, the first call writes the file's SHA-256 beside it.
    """
    record = path.with_name(f"{path.name}.sha256")
    if checksum is None and record.is_file() and (recorded := record.read_text("latin-1").split()):
        checksum = f"sha256:{recorded[0]}"
    if checksum is not None:
        found = digest(path, checksum.partition(":")[0])
        if found != checksum:
            raise InputError(
                f"is not what it should be: {found} instead of {checksum}; delete it and fetch it again", path
            )
        return
    found = digest(path, "sha256").partition(":")[2]
    with atomic_write(record) as file:
        file.write(f"{found}  {path.name}\n".encode())
    note(f"no checksum is known for {path.name}; its SHA-256 is now in {record.name}: {found}")


def digest(path: Path, algorithm: str) -> str:
    """The checksum of a file, prefixed with the algorithm."""
    return f"{algorithm}:{file_hash(path, algorithm)}"


def _check_or_remove(part: Path, checksum: str | None, url: str) -> None:
    """Verify a partial file's checksum; remove the file on a mismatch, so that it is not resumed."""
    if checksum is None:
        return
    found = digest(part, checksum.partition(":")[0])
    if found != checksum:
        part.unlink()
        raise ResourceError(
            f"{url} delivers another file than expected: {found} instead of {checksum}; removed"
        )


def _fetch(url: str, part: Path, mark: Path, checksum: str | None, size: int | None) -> None:
    part.parent.mkdir(parents=True, exist_ok=True)
    version = mark.read_text("latin-1") if mark.is_file() else ""
    if not version.isprintable():  # the mark was damaged
        version = ""
    had = part.stat().st_size if part.is_file() and (version or checksum) else 0
    with _asked(url, had, version or None) as answer:
        whole = answer.whole if size is None else size
        if size is not None and answer.whole not in (None, size):
            raise ResourceError(f"{url} offers {answer.whole:,} bytes, but {size:,} were expected")
        if answer.version:
            mark.write_text(answer.version, "latin-1")
        with part.open("r+b" if answer.start else "wb") as file:
            file.truncate(answer.start)
            file.seek(answer.start)
            _copy(answer, file, whole)
    done = part.stat().st_size
    if whole is not None and done < whole:
        raise _BrokenError(f"the connection broke after {done:,} of {whole:,} bytes")


def _copy(answer: _Answer, file: IO[bytes], whole: int | None) -> None:
    limit = MAX_BYTES if whole is None else whole
    done = answer.start
    chunks = iter(lambda: answer.stream.read(_CHUNK), b"")
    if whole is not None:
        chunks = track(chunks, math.ceil((whole - answer.start) / _CHUNK))
    try:
        for chunk in chunks:
            done += len(chunk)
            if done > limit:
                raise ResourceError(f"the server sends more than the {limit:,} bytes it should; stopped")
            file.write(chunk)
    except (http.client.HTTPException, ConnectionError, TimeoutError) as error:
        raise _BrokenError(f"the connection broke after {done:,} bytes ({error})") from None


@contextmanager
def _asked(url: str, had: int, version: str | None) -> Iterator[_Answer]:
    """Request the rest of a file; the response starts at byte 0 if the server does not resume."""
    headers = {"User-Agent": "largeea", "Accept-Encoding": "identity"}
    if had:
        headers["Range"] = f"bytes={had}-"
        if version:
            headers["If-Range"] = version
    try:
        opener = urllib.request.build_opener(_Redirection)
        response = opener.open(urllib.request.Request(url, headers=headers), timeout=TIMEOUT_SECONDS)
    except urllib.error.HTTPError as error:
        if error.code != http.client.REQUESTED_RANGE_NOT_SATISFIABLE or not had:
            raise
        error.close()
        if error.headers.get("Content-Range") == f"bytes */{had}":
            yield _Answer(io.BytesIO(), had, had, version)
            return
        with _asked(url, 0, None) as answer:
            yield answer
        return
    with response:
        if response.headers.get_content_type() == "text/html":
            raise ResourceError(f"{url} delivers a web page instead of the file; it may have moved")
        start = _range_start(response.headers.get("Content-Range")) if response.status == 206 else 0
        if start not in (0, had):
            raise ResourceError(f"{url}: the server sends another part than asked for")
        length = response.headers.get("Content-Length")
        whole = start + int(length) if length and length.isdecimal() else None
        yield _Answer(response, start, whole, _version_of(response.headers))


def _version_of(headers: http.client.HTTPMessage) -> str | None:
    """Identifier of this version of the file; weak ETags are ignored, they do not guarantee equal bytes."""
    entity = headers.get("ETag")
    return entity if entity and not entity.startswith("W/") else headers.get("Last-Modified")


def _range_start(header: str | None) -> int:
    found = re.match(r"bytes (\d+)-", header or "")
    return int(found.group(1)) if found else -1


@contextmanager
def _explained(url: str, help: str) -> Iterator[None]:
    """Turn network and disk errors into messages for the user."""
    host = urlsplit(url).netloc
    try:
        yield
    except urllib.error.HTTPError as error:
        error.close()
        raise ResourceError(f"{url}: the server answers {error.code} {error.reason}. {help}") from None
    except urllib.error.URLError as error:
        raise ResourceError(
            f"cannot reach {host} ({error.reason}); is this machine offline? {help}"
        ) from None
    except (ConnectionError, TimeoutError, http.client.HTTPException) as error:
        raise _BrokenError(f"{host} broke the connection off ({error or type(error).__name__})") from None
    except ValueError as error:  # such as chunks of negative length, or a redirection to no address
        raise ResourceError(f"{url}: the answer of the server is not valid HTTP ({error}). {help}") from None
    except OSError as error:
        raise ResourceError(f"cannot save {url}: {error.strerror or error}; what is there is kept") from error
