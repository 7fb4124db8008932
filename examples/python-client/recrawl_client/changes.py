"""Reads changes in order, and goes on where it stopped."""

from __future__ import annotations

import json
import os
import random
import time
from collections import deque
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, Deque, Iterator, Optional, Type, Union

from .api import Change, ChangesPage

if TYPE_CHECKING:
    from .client import Client

FIRST_PAUSE_S = 0.1
LONGEST_PAUSE_S = 30.0
LONGEST_WISH_S = 300.0
"""Longest pause that an answer can ask for."""
PASSING = frozenset({408, 429, 500, 502, 503, 504})
"""Statuses of refusals after which the same request may succeed."""


class ChangeReader(Iterator[Change]):
    """Changes in the order of the crawl, each once.

    A change counts as done when the next one is asked for, or when the reader is closed. ``cursor`` is then behind it.
    With a ``cursor_file`` it is written there. A reader that was killed begins with the change that was not done yet,
    so the caller sees that one a second time, with the same ``change_id``. Who keeps the ``cursor`` of a change
    together with what came of it, in one transaction, sees none a second time.

    While recrawl is away or overloaded, requests are repeated after growing pauses. A refusal that will not pass is
    raised: ``Refused`` with 409 means that another crawl answers.
    """

    def __init__(
        self,
        client: Client,
        *,
        cursor: Optional[str] = None,
        cursor_file: Union[str, "os.PathLike[str]", None] = None,
        limit: int = 100,
        follow: bool = True,
        poll_s: float = 1.0,
        give_up_after_s: Optional[float] = 600.0,
        sleep: Callable[[float], Any] = time.sleep,
    ) -> None:
        """
        cursor: begins behind this position; left out: at the first change that is kept
        cursor_file: file of the position, which wins over ``cursor`` once it is there
        limit: changes in one answer, at most 1,000
        follow: waits for further changes; otherwise the reader ends with the last one that is there
        poll_s: pause before recrawl is asked for further changes
        give_up_after_s: the error of the last attempt is raised when there was no answer for so long; None: never
        sleep: makes a pause
        """
        self._client = client
        self._limit = limit
        self._follow = follow
        self._poll_s = poll_s
        self._give_up_after_s = give_up_after_s
        self._sleep = sleep
        self._file = None if cursor_file is None else _CursorFile(Path(cursor_file))
        self._asked_from = cursor
        if self._file is not None and self._file.kept is not None:
            self._asked_from = self._file.kept["cursor"]
            try:
                client.pin(self._file.kept["log"])
            except BaseException:
                self._file.close()
                raise
        self._done = self._asked_from
        self._pending: Optional[str] = None
        self._waiting: Deque[Change] = deque()
        self._has_more = True
        self._is_closed = False

    @property
    def cursor(self) -> Optional[str]:
        """The position behind the last change that is done."""
        return self._done

    def __next__(self) -> Change:
        if self._is_closed:
            raise StopIteration
        self._finish_pending()
        while not self._waiting:
            if not self._has_more:
                if not self._follow:
                    self.close()
                    raise StopIteration
                self._sleep(self._poll_s)
            self._take(self._ask())
        change = self._waiting.popleft()
        self._pending = change["cursor"]
        return change

    def __enter__(self) -> ChangeReader:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        if kind is not None:
            # The change that was handed out last was not done.
            self._pending = None
        self.close()

    def close(self) -> None:
        """Ends the reader. The change that was handed out last is done."""
        self._finish_pending()
        if self._file is not None:
            self._file.close()
        self._is_closed = True

    def _finish_pending(self) -> None:
        if self._pending is not None:
            self._reach(self._pending)
            self._pending = None

    def _reach(self, cursor: str) -> None:
        if cursor != self._done and self._file is not None:
            self._file.write(cursor, self._client.log)
        self._done = cursor

    def _take(self, page: ChangesPage) -> None:
        self._waiting.extend(page["items"])
        self._asked_from = page["next_cursor"]
        self._has_more = page["has_more"]
        if not self._waiting:
            # What was passed over does not have to be read again.
            self._reach(page["next_cursor"])

    def _ask(self) -> ChangesPage:
        from .client import Refused, Unreachable

        began, pause_s = time.monotonic(), FIRST_PAUSE_S
        while True:
            try:
                return self._client.list_changes(cursor=self._asked_from, limit=self._limit)
            except Unreachable:
                wish_s = None
                if self._is_over(began):
                    raise
            except Refused as refusal:
                wish_s = refusal.retry_after_s
                if refusal.status not in PASSING or self._is_over(began):
                    raise
            # Readers that lost the same crawl do not come back at the same moment.
            chosen_s = pause_s * random.uniform(0.5, 1.0)
            if wish_s is not None:
                chosen_s += min(wish_s, LONGEST_WISH_S)
            self._sleep(chosen_s)
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)

    def _is_over(self, began: float) -> bool:
        return self._give_up_after_s is not None and time.monotonic() - began >= self._give_up_after_s


class _CursorFile:
    """The position in a file, with the log that it is of. One process at a time has it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = _locked(path)
        try:
            self.kept = _read(path)
        except BaseException:
            self.close()
            raise

    def write(self, cursor: str, log: Optional[str]) -> None:
        """Replaces the file, so that it has the former or the new position after a power cut."""
        new = self._path.with_name(self._path.name + ".new")
        with open(new, "w") as file:
            json.dump({"cursor": cursor, "log": log}, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, self._path)

    def close(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def _read(path: Path) -> Optional[Any]:
    try:
        kept = json.loads(path.read_text())
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise ValueError(f"{path} has no cursor: {error}; delete it to begin at the first change") from error
    if not isinstance(kept, dict) or not {"cursor", "log"} <= kept.keys():
        raise ValueError(f"{path} has no cursor; delete it to begin at the first change")
    return kept


def _locked(path: Path) -> Optional[int]:
    try:
        import fcntl
    except ImportError:  # not on this system
        return None
    lock = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(lock)
        raise ValueError(f"another reader has {path}; give each a file of its own") from error
    return lock
