"""The corpus as files of the repository: documents as text, packed by package.

A shard is an xz stream: a line of JSON that lists its documents (package, path, language, bytes), then their texts one
after the other. The texts and not their tokens are kept: bugs are put into texts, and another vocabulary needs no
other shards. Tokens would take 8 % less room. `licences.xz` holds what the packages' licences say, by package.

python -m engine.train.shards LOCK OUT --packages FOLDER [--environment ENV …]
"""

from __future__ import annotations

import argparse
import json
import lzma
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from engine.errors import CheckpointError
from engine.train.corpus.files import Document

SIZE = 32 << 20
"""Bytes of text a shard."""
LICENCES = "licences.xz"
_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9, "dict_size": 64 << 20, "lc": 4, "lp": 0}]
"""Text is predicted by the four highest bits of the letter before; a shard is one window."""


def write(folder: Path, half: str, documents: Iterable[Document]) -> int:
    """Shards of one half, `train` or `held`. Returns their bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob(f"{half}-*.xz"):
        old.unlink()
    written = 0
    for number, part in enumerate(_parts(documents)):
        written += _pack(folder / f"{half}-{number:02}.xz", part)
    return written


def read(folder: Path, half: str) -> list[Document]:
    """half: `train` or `held`; no package is in both. Errors: CheckpointError for no shards, or damaged ones."""
    found = list(_documents(folder, half))
    if not found:
        raise CheckpointError(
            f"{folder}: no {half} shards of a corpus; make them by python -m engine.train.shards"
        )
    return found


def write_licences(folder: Path, texts: dict[str, str]) -> int:
    raw = lzma.compress(json.dumps(texts, ensure_ascii=False).encode("utf-8"), filters=_FILTERS)
    return (folder / LICENCES).write_bytes(raw)


def _parts(documents: Iterable[Document]) -> Iterator[list[Document]]:
    part: list[Document] = []
    size = 0
    for document in documents:
        length = len(document.text.encode("utf-8"))
        if part and size + length > SIZE:
            yield part
            part, size = [], 0
        part.append(document)
        size += length
    if part:
        yield part


def _pack(path: Path, documents: Sequence[Document]) -> int:
    raw = [document.text.encode("utf-8") for document in documents]
    listed = [
        [document.package, document.path, document.language, len(text)]
        for document, text in zip(documents, raw, strict=True)
    ]
    head = json.dumps(listed, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    return path.write_bytes(lzma.compress(b"\n".join([head, b"".join(raw)]), filters=_FILTERS))


def _documents(folder: Path, half: str) -> Iterator[Document]:
    for path in sorted(folder.glob(f"{half}-*.xz")):
        try:
            head, _, texts = lzma.decompress(path.read_bytes()).partition(b"\n")
            at = 0
            for package, name, language, size in json.loads(head):
                yield Document(package, name, language, texts[at : at + size].decode("utf-8"))
                at += size
            if at != len(texts):
                raise ValueError(f"{len(texts)} bytes of text, {at} listed")
        except (lzma.LZMAError, ValueError, TypeError) as error:
            raise CheckpointError(f"{path}: damaged: {error}; fetch it anew") from error


def main() -> int:
    from engine.train.corpus import lock
    from engine.train.corpus.corpus import gather
    from engine.train.corpus.notices import notices
    from engine.train.corpus.packages import site_folders

    parser = argparse.ArgumentParser(prog="engine.train.shards", description="Pack a corpus into files.")
    parser.add_argument("lock", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--packages", type=Path, required=True, help="folder to install into")
    parser.add_argument("--environment", type=Path, action="append", default=[])
    given = parser.parse_args()
    locked = lock.read(given.lock)
    corpus = gather(locked, given.packages, given.environment)
    for half, documents in (("train", corpus.train), ("held", corpus.held)):
        size = sum(len(document.text) for document in documents)
        print(
            f"{half}: {len(documents)} documents, {size} letters, {write(given.out, half, documents)} bytes"
        )
    sites = [*site_folders(given.environment), *sorted(given.packages.glob("*"))]
    texts = notices(locked, sites)
    print(
        f"licences: {len(texts)} packages, {write_licences(given.out, texts)} bytes; {corpus.dropped} near-duplicates"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
