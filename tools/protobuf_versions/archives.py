"""Gets archives from a package index into the cache folder, and takes none but the pinned bytes."""

import hashlib
import re
import shutil
import tarfile
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import urldefrag, urljoin

import problem

TIMEOUT_SECONDS = 60


def check(path: Path, sha256: str) -> None:
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != sha256:
        raise problem.NotTried(f"{path.name}: its sha256 is {found}, and versions.json has {sha256}; it is not used")


def address(page: str, base: str, archive: str) -> str:
    """Of the archive, on the index's page of its package."""
    for link in re.findall(r'href="([^"]+)"', page):
        whole = urldefrag(urljoin(base, link)).url
        if whole.rsplit("/", 1)[-1] == archive:
            return whole
    raise problem.NotTried(f"{base} does not name {archive}")


def read(url: str) -> bytes:
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_SECONDS) as answer:
            return answer.read()
    except (urllib.error.URLError, TimeoutError, OSError) as error:
        raise problem.NotTried(f"{url} could not be read: {getattr(error, 'reason', error)}") from error


def get(index: str, archive: str, sha256: str, folder: Path) -> Path:
    """The archive in the folder, downloaded when it is not there yet."""
    path = folder / archive
    if not path.is_file():
        print(f"protobuf: downloading {archive}", flush=True)
        folder.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".unfinished")
        unfinished.write_bytes(read(address(read(index).decode(), index, archive)))
        try:
            check(unfinished, sha256)
        except problem.NotTried:
            unfinished.unlink()
            raise
        unfinished.rename(path)
    check(path, sha256)
    return path


def unpack(archive: Path, folder: Path) -> None:
    """Its one folder, as this one; what stood there is replaced."""
    unfinished = folder.with_name(folder.name + ".unfinished")
    for left in (folder, unfinished):
        shutil.rmtree(left, ignore_errors=True)
    with tarfile.open(archive) as content:
        # Python before 3.12 asks for no filter, and knows it from its last fixes on.
        content.extractall(unfinished, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    (inner,) = unfinished.iterdir()
    inner.rename(folder)
    unfinished.rmdir()
