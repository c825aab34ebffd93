"""Models of the Hugging Face hub: what stands there under a name, brought here resumably, each file checked.

The library lists what there is. Its downloads aren't used: one that broke off begins anew there, and files in its cache
are links, where a checkpoint's folder has to hold the files themselves.
"""

from __future__ import annotations

import fcntl
import hashlib
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from deskagent.errors import TransientError, UsageError
from deskagent.paths import data_dir

NAME = re.compile(r"(?:hf:|https://(?:huggingface\.co|hf\.co)/)?([\w.-]+/[\w.-]+)/?")
_CHECKPOINT = re.compile(
    r"config\.json|preprocessor_config\.json|tokenizer(_config)?\.json|tiktoken\.model|.*\.tiktoken"
    r"|.*\.safetensors(\.index\.json)?"
)
_PAPERS = re.compile(r"README\.md|LICEN[CS]E.*", re.IGNORECASE)
_PART = re.compile(r"-\d{5}-of-\d{5}$")
_USUAL = "q4_k_m"
"""The kind of GGUF that is taken where a name holds many: half of the quality's loss of smaller ones, and they fit."""
_SPARE = 256 << 20
"""Bytes of the disk that are left free."""
_PIECE = 1 << 20
_SILENCE = 60.0
"""Seconds without a byte after which a connection counts as lost."""
_INSTALL = "pip install 'deskagent[gguf]' or 'deskagent[engine]'"


@dataclass(frozen=True, slots=True)
class File:
    """size: in bytes. sha256: "" for small files, which have `blob` instead: git's own hash."""

    name: str
    size: int
    sha256: str
    blob: str


@dataclass(frozen=True, slots=True)
class Offer:
    """What stands under a name. commit: which state of it. licence: as its card says, "" for nothing."""

    name: str
    commit: str
    licence: str
    files: tuple[File, ...]

    @property
    def folder(self) -> Path:
        """Where its files lie on this machine."""
        return data_dir() / "models" / self.name.replace("/", "--")

    @property
    def papers(self) -> tuple[File, ...]:
        """Its card and licence."""
        return tuple(file for file in self.files if _PAPERS.fullmatch(file.name))

    def wanted(self, part: str = "") -> tuple[File, ...]:
        """A GGUF with all its parts, the first one first, or a checkpoint's files. part: of the GGUF's name. Errors:
        UsageError, with what there is."""
        kinds: dict[str, list[File]] = {}
        for file in sorted(self.files, key=lambda file: file.name):
            path = PurePosixPath(file.name)
            if path.suffix == ".gguf" and not path.name.startswith("mmproj"):
                kinds.setdefault(_PART.sub("", path.stem), []).append(file)
        if kinds:
            return tuple(kinds[self._chosen(kinds, part.lower())])
        found = tuple(file for file in self.files if _CHECKPOINT.fullmatch(file.name))
        if not any(file.name == "config.json" for file in found) or len(found) < 2:
            raise UsageError(f"{self.name} holds neither a GGUF nor a checkpoint in safetensors.")
        return found

    def _chosen(self, kinds: dict[str, list[File]], part: str) -> str:
        fitting = [stem for stem in kinds if part in stem.lower()]
        usual = [stem for stem in fitting if _USUAL in stem.lower()]
        for found in (fitting, usual):
            if len(found) == 1:
                return found[0]
        sizes = {stem: sum(file.size for file in files) for stem, files in kinds.items()}
        there = ", ".join(f"{stem} ({sizes[stem] / 1e9:.1f} GB)" for stem in (fitting or kinds))
        raise UsageError(
            f"{self.name} holds {'several GGUFs' if fitting else 'no GGUF of that name'}.",
            hint=f"Say which, by a part of its name: --file PART. There are: {there}.",
        )


def offer(name: str) -> Offer:
    """What the hub has under OWNER/NAME. Errors: UsageError, TransientError."""
    with _told(name):
        from huggingface_hub import HfApi

        found = HfApi().model_info(name, files_metadata=True)
    card = found.card_data.to_dict() if found.card_data else {}
    licence = str(card.get("license_name") or card.get("license") or "")
    link = str(card.get("license_link") or "")
    files = tuple(
        File(_inside(one.rfilename), one.size or 0, one.lfs.sha256 if one.lfs else "", one.blob_id or "")
        for one in found.siblings or ()
    )
    return Offer(name, found.sha or "main", f"{licence} ({link})" if link else licence, files)


def _inside(name: str) -> str:
    """Errors: UsageError for a file's name that leads out of its folder."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name:
        raise UsageError(
            f"The hub names a file {name!r}, which leads out of its folder.", hint="Don't use it."
        )
    return name


def bring(offered: Offer, files: Sequence[File], tell: Callable[[File, int], None]) -> Path:
    """Has `files` in the offer's folder, whole and checked; what was brought before is kept. tell: gets a file and how
    many bytes of it are there, as they come. Gives the first one's path. Errors: UsageError for too little room or a
    wrong file, TransientError for what may go on later."""
    folder = offered.folder
    _check_room(folder, files)
    for file in files:
        target = folder / file.name
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.is_file():
            with _told(offered.name), _part(target).open("ab") as part:
                _lock(part, target)
                _pull(offered, file, part, tell)
        _check(target, file)
    return folder / files[0].name


def _part(target: Path) -> Path:
    """Where a file lies while it comes."""
    return target.with_name(f".{target.name}.part")


def _lock(part: BinaryIO, target: Path) -> None:
    try:
        fcntl.flock(part, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise TransientError(
            f"{target} is being brought by another deskagent.", hint="Wait for it."
        ) from error


def _pull(offered: Offer, file: File, part: BinaryIO, tell: Callable[[File, int], None]) -> None:
    """Adds to `part` what it lacks. The library begins anew after every interruption, which a large file can't have."""
    import httpx2
    from huggingface_hub import hf_hub_url
    from huggingface_hub.utils import build_hf_headers

    url = hf_hub_url(offered.name, file.name, revision=offered.commit)
    headers = {**build_hf_headers(), "Accept-Encoding": "identity"}
    done = part.tell()
    while done < file.size:
        begun = done
        try:
            asked = {**headers, "Range": f"bytes={done}-"} if done else headers
            with httpx2.stream("GET", url, headers=asked, follow_redirects=True, timeout=_SILENCE) as answer:
                answer.raise_for_status()
                if answer.status_code != httpx2.codes.PARTIAL_CONTENT:
                    part.truncate(0)
                    done = 0
                for piece in answer.iter_bytes(_PIECE):
                    part.write(piece)
                    done += len(piece)
                    tell(file, done)
        except httpx2.TransportError:
            if done == begun:
                raise
        finally:
            part.flush()


def _check_room(folder: Path, files: Sequence[File]) -> None:
    missing = sum(file.size for file in files if not (folder / file.name).is_file())
    missing -= sum(part.stat().st_size for file in files if (part := _part(folder / file.name)).is_file())
    folder.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(folder).free
    if missing + _SPARE > free:
        raise UsageError(
            f"{missing / 1e9:.1f} GB are to come, and {free / 1e9:.1f} GB are free where {folder} lies.",
            hint="Make room there, or set DESKAGENT_HOME to a folder with more.",
        )


def _check(target: Path, file: File) -> None:
    """Puts what came in its place. Errors: UsageError for another content than the hub's list says; it is gone then."""
    path = target if target.is_file() else _part(target)
    if file.sha256:
        digest, wanted = hashlib.sha256(), file.sha256
    else:
        digest, wanted = hashlib.sha1(b"blob %d\0" % path.stat().st_size), file.blob
    with path.open("rb") as opened:
        while piece := opened.read(_PIECE):
            digest.update(piece)
    if digest.hexdigest() != wanted:
        path.unlink()
        raise UsageError(
            f"{file.name} isn't what the hub's list says: its hash is {digest.hexdigest()}, not {wanted or 'known'}.",
            hint="It was removed. Try again; if that happens twice, don't trust where it comes from.",
        )
    path.replace(target)


@contextmanager
def _told(name: str) -> Iterator[None]:
    """The library's failures as ours."""
    try:
        import httpx2
        from huggingface_hub import errors
    except ModuleNotFoundError as error:
        raise UsageError(f"{error.name} is not installed.", hint=f"Install it: {_INSTALL}") from error
    try:
        yield
    except errors.GatedRepoError as error:
        raise UsageError(
            f"{name} is given only to whom its owner lets in.",
            hint=f"Ask at https://huggingface.co/{name}, then set HF_TOKEN to a token of yours.",
        ) from error
    except (errors.RepositoryNotFoundError, errors.HFValidationError) as error:
        raise UsageError(
            f"The hub has no model {name!r}, or doesn't show it to everybody.",
            hint="A server's needs its URL: deskagent model add PROVIDER/MODEL URL. A private one needs HF_TOKEN.",
        ) from error
    except (OSError, httpx2.HTTPError) as error:
        words = (str(error) or type(error).__name__).splitlines()[0][:300]
        raise TransientError(
            f"{name} can't be brought from the hub: {words}.",
            hint="What came is kept: the same command goes on from there.",
        ) from error
