"""Connections to model servers: addresses put right, keys that go to their own host alone, patience by stage."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from deskagent.errors import UsageError
from deskagent.providers.base import ProviderError, Trouble

if TYPE_CHECKING:
    import httpx2

_ENDS = ("/chat/completions", "/completions", "/responses", "/messages", "/models")
_NEAR = (".local", ".lan", ".internal", ".home.arpa", ".localhost")


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds. connect: until there is a connection. first: until the answer begins; a long prompt takes a small
    machine minutes. stall: between two pieces of it. grace: for what may follow an answer's end, such as usage."""

    connect: float = 15.0
    first: float = 900.0
    stall: float = 300.0
    grace: float = 5.0


def base_url(given: str, *, key: bool = False) -> str:
    """`given` as a base URL that paths are appended to: with a scheme, without the path of a single API, `/v1` where it
    has no path. key: whether one goes with requests; it isn't sent in the clear to a stranger. Errors: UsageError."""
    text = given.strip()
    if "://" not in text:
        host = text.partition("/")[0].rpartition(":")[0] or text.partition("/")[0]
        text = f"{'http' if near(host) else 'https'}://{text}"
    parts = urlsplit(text)
    try:
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        host = ""
    if parts.scheme not in ("http", "https") or not host:
        raise UsageError(f"{given!r} is no base URL of a model server.", hint="One is https://host/v1, say.")
    if parts.username or parts.password:
        raise UsageError("A base URL can't hold a user or a key.", hint="Give the key by itself.")
    if key and parts.scheme == "http" and not near(host):
        raise UsageError(
            f"{given} is not encrypted: the key would be readable on the way.", hint="Use https."
        )
    path = parts.path.rstrip("/")
    for end in _ENDS:
        path = path.removesuffix(end)
    return urlunsplit((parts.scheme, parts.netloc, path or "/v1", "", ""))


def near(host: str) -> bool:
    """Whether `host` is this machine or one of the own network."""
    name = host.strip("[]").lower()
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return "." not in name or name.endswith(_NEAR)
    return address.is_private or address.is_loopback or address.is_link_local


def client(base: str, timing: Timing) -> httpx2.AsyncClient:
    """Follows no redirect: a key goes to the host that it was given for. Proxies are the environment's, but none stands
    before this machine. Certificates are the system's."""
    import ssl

    import httpx2

    host = urlsplit(base).hostname or ""
    plain = base.startswith("http:")
    return httpx2.AsyncClient(
        # loading the system's certificates takes a while, and nothing is encrypted
        verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain else True,
        trust_env=not (near(host) and (host == "localhost" or host.strip("[]").startswith(("127.", "::1")))),
        follow_redirects=False,
        timeout=httpx2.Timeout(None, connect=timing.connect, write=timing.stall),
        headers={"accept-encoding": "identity", "user-agent": "deskagent"},
    )


def failed(error: Exception, base: str) -> ProviderError:
    """What an error of the HTTP library means."""
    import httpx2

    host = urlsplit(base).netloc
    said = f"{type(error).__name__}: {error}".rstrip(": ")
    if "CERTIFICATE_VERIFY_FAILED" in said:
        return ProviderError(
            Trouble.BAD_REQUEST,
            f"The certificate of {host} isn't trusted here: {said}",
            hint="Add its authority to the system's certificates, or set SSL_CERT_FILE.",
        )
    if isinstance(error, httpx2.ProxyError):
        return ProviderError(
            Trouble.NETWORK,
            f"The proxy refuses to reach {host}: {said}",
            hint="See HTTPS_PROXY and NO_PROXY.",
        )
    if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout):
        return ProviderError(
            Trouble.NETWORK,
            f"Can't reach {host}: {said}",
            hint="Is the server running, and is the base URL right?",
        )
    if isinstance(
        error, httpx2.LocalProtocolError | httpx2.InvalidURL | httpx2.UnsupportedProtocol | UnicodeError
    ):
        return ProviderError(
            Trouble.BAD_REQUEST,
            f"The request to {host} can't be made ({type(error).__name__}).",
            hint="Has the key or a header characters that don't belong there?",
        )
    return ProviderError(Trouble.NETWORK, f"The connection to {host} broke: {said}")
