"""Requests to the port of a recrawl."""

from __future__ import annotations

import getpass
import http.client
import json
import os
import socket
import ssl
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, Mapping, NamedTuple, Optional, Union
from urllib.parse import urlencode

from .api import Api
from .changes import ChangeReader

LOG_HEADER = "x-recrawl-log"
MOST_BYTES = 64 << 20
"""Longest answer that is read."""


class RecrawlError(Exception):
    """A request that did not bring what was asked for."""


class Unreachable(RecrawlError):
    """No answer came, or none that is recrawl's."""


class Refused(RecrawlError):
    """recrawl refused the request, and says why (RFC 9457)."""

    def __init__(self, status: int, detail: str, retry_after_s: Optional[float] = None) -> None:
        super().__init__(f"{status}: {detail}")
        self.status = status
        self.detail = detail
        self.retry_after_s = retry_after_s


class _Port(NamedTuple):
    address: str
    token: Optional[str]
    log: Optional[str]
    is_noted: bool
    """Whether a data directory names it, which may name another one next time."""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """The token goes to the address that was given, and to no other."""

    def redirect_request(self, *_: Any) -> None:
        return None


class Client(Api):
    """The port of one crawl.

    The first answer names the log of the crawl. All later requests go to that crawl only: another one at the same
    address refuses them with 409. A client serves one thread.
    """

    def __init__(
        self,
        address: str,
        token: Optional[str] = None,
        *,
        log: Optional[str] = None,
        ca_file: Optional[str] = None,
        timeout_s: float = 30.0,
    ) -> None:
        """A port at ``host:port``, or at ``https://host:port`` with certificates of the authorities in ``ca_file``, or
        of those that the system trusts."""
        self._directory: Optional[Path] = None
        self._given = _Port(_base(address), token, None, False)
        self._open(log, ca_file, timeout_s)

    @classmethod
    def of_data(cls, directory: Union[str, "os.PathLike[str]"], *, timeout_s: float = 30.0) -> Client:
        """The crawl that runs on a data directory of this machine, under whatever address and token it has at the time
        of a request. It takes the rights of the user of the directory."""
        client = cls.__new__(cls)
        client._directory = Path(directory)
        client._open(None, None, timeout_s)
        return client

    def _open(self, log: Optional[str], ca_file: Optional[str], timeout_s: float) -> None:
        self._log = log
        self._timeout_s = timeout_s
        self._known: Optional[str] = None
        handlers = [_NoRedirects(), urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=ca_file))]
        if self._directory is not None:
            # A proxy of the environment does not reach a port of this machine.
            handlers.append(urllib.request.ProxyHandler({}))
        self._opener = urllib.request.build_opener(*handlers)

    def __repr__(self) -> str:
        place = self._given.address if self._directory is None else self._directory
        return f"Client({str(place)!r})"

    @property
    def log(self) -> Optional[str]:
        """Id of the log of the crawl, once it has answered."""
        return self._log

    def changes(self, **options: Any) -> ChangeReader:
        """An iterator over changes; ``ChangeReader`` describes the options."""
        return ChangeReader(self, **options)

    def pin(self, log: Optional[str]) -> None:
        """Names the log of the crawl that is meant.

        Another crawl is known to be meant already: ``Refused``, as the crawl itself would.
        """
        if log is not None and self._log not in (None, log):
            raise Refused(409, f"the log of the crawl is {self._log}, and {log} is meant")
        self._log = log or self._log

    def _call(
        self,
        method: str,
        path: str,
        *,
        query: Optional[Mapping[str, Union[str, int, None]]] = None,
        body: Any = None,
        media_type: Optional[str] = None,
        is_command: bool = False,
        answers_json: bool = False,
    ) -> Any:
        given = {name: value for name, value in (query or {}).items() if value is not None}
        if given:
            path += "?" + urlencode(given)
        headers = {}
        data = None
        if body is not None:
            data = (json.dumps(body) if media_type == "application/json" else str(body)).encode()
            headers["content-type"] = media_type or "text/plain"
        if is_command:
            headers["x-recrawl-command"] = "1"
            headers["x-recrawl-caller"] = f"{_user()}@{socket.gethostname()}"
        port = self._port()
        try:
            text = self._send(port, method, path, data, headers)
        except Refused as refusal:
            # The loop was started again between the reading of its files and the request.
            fresh = self._port() if refusal.status == 401 and port.is_noted else port
            if fresh == port:
                raise
            text = self._send(fresh, method, path, data, headers)
        if not answers_json:
            return text.decode("utf-8", "replace")
        try:
            return json.loads(text)
        except ValueError as error:
            raise Unreachable(f"the answer of {port.address} is not JSON: {error}") from error

    def _port(self) -> _Port:
        if self._directory is None:
            return self._given
        port = _noted(self._directory)
        if port.address != self._known:
            # Another program may have the port now. It is not shown the token before it has named the log.
            try:
                self._send(port._replace(token=None), "GET", "/healthz", None, {})
            except Refused as refusal:
                # The answer of a loop that is not healthy counts, too.
                if refusal.status != 503:
                    raise
            self._known = port.address
        return port

    def _send(
        self, port: _Port, method: str, path: str, data: Optional[bytes], headers: Mapping[str, str]
    ) -> bytes:
        request = urllib.request.Request(port.address + path, data, dict(headers), method=method)
        if self._log or port.log:
            request.add_unredirected_header(LOG_HEADER, self._log or port.log or "")
        if port.token is not None:
            request.add_unredirected_header("Authorization", f"Bearer {port.token}")
        try:
            with self._opener.open(request, timeout=self._timeout_s) as answer:
                log, text = answer.headers.get(LOG_HEADER), answer.read(MOST_BYTES + 1)
        except urllib.error.HTTPError as error:
            with error:
                log, text = error.headers.get(LOG_HEADER), error.read(1 << 16)
            if log is None or error.code < 400:
                raise Unreachable(f"{port.address} is not recrawl: it answered {error.code}") from None
            raise Refused(error.code, _detail(text), _retry_after(error.headers.get("retry-after"))) from None
        except (OSError, http.client.HTTPException) as error:
            raise Unreachable(f"no answer from recrawl at {port.address}: {error}") from error
        if len(text) > MOST_BYTES:
            raise Unreachable(f"the answer of {port.address} is longer than {MOST_BYTES} bytes")
        if log is None:
            raise Unreachable(f"{port.address} is not recrawl: its answer names no log")
        self.pin(log)
        return bytes(text)


def _base(address: str) -> str:
    address = address.rstrip("/")
    return address if address.startswith(("http://", "https://")) else f"http://{address}"


def _noted(directory: Path) -> _Port:
    """The port that the files of a data directory name."""
    try:
        lines = (directory / "http-address").read_text().splitlines()
        token = (directory / "http.token").read_text().strip()
        here = directory.stat()
    except OSError as error:
        raise Unreachable(f"no recrawl runs on {directory}: {error}") from error
    fields = dict(line.split(" ", 1) for line in lines[1:] if " " in line)
    if not lines or fields.get("directory") != f"{here.st_dev}:{here.st_ino}":
        raise Unreachable(f"no recrawl runs on {directory}: its files are those of another directory")
    return _Port(_base(lines[0]), token, fields.get("log"), True)


def _detail(text: bytes) -> str:
    shown = text.decode("utf-8", "replace").strip()
    try:
        return str(json.loads(shown)["detail"])
    except (ValueError, KeyError, TypeError):
        return shown


def _retry_after(value: Optional[str]) -> Optional[float]:
    return float(value) if value and value.isascii() and value.isdigit() else None


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"
