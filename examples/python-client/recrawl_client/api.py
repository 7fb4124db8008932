"""Types and operations of the port of recrawl.

Written by generate.py from the document that recrawl serves at /openapi.json, do not edit.
"""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, TypedDict, Union
from urllib.parse import quote

__all__ = [
    "Api",
    "Change",
    "ChangedUnit",
    "ChangesPage",
    "Hint",
    "MadeBackup",
    "Seeded",
    "Sent",
    "StageStatus",
    "Status",
    "TakenHints",
    "WatchedValue",
]


class MadeBackup(TypedDict):
    directory: str


class ChangedUnit(TypedDict):
    after: Optional[str]
    """Null: it is gone."""
    before: Optional[str]
    """Null: it is new."""
    where: str
    """Its row, the text that the link is in, or the heading above it."""


class WatchedValue(TypedDict):
    after: Optional[Union[float, str]]
    before: Optional[Union[float, str]]
    unit: Optional[str]
    """Such as EUR."""
    watch: str


class Change(TypedDict):
    added: List[str]
    """Texts that are new."""
    change_id: str
    """The same however often the change is read."""
    changes: List[ChangedUnit]
    """The same in pairs of before and after, in page order."""
    changes_last: bool
    """Whether changes of this page usually last until its next look."""
    content_changed: bool
    """Whether the text of the page's main part changed."""
    content_digest: Optional[str]
    """Digest of the body, in hexadecimal."""
    cursor: str
    """A list from this cursor begins behind the change."""
    failure: Optional[str]
    """Why the first request for a seed brought no page."""
    found_again: List[str]
    """Those that see something again."""
    host_event: bool
    """Whether another page of the host changed in mostly the same words within the day before."""
    leads_to: Optional[str]
    """Address of another page that redirects lead to."""
    left_out: int
    """Pieces that counted and are not listed."""
    links_added: List[str]
    """Targets of links that are new."""
    links_changed: bool
    """Whether the links in the page's main part changed."""
    links_removed: List[str]
    """Targets of links that were removed."""
    looks_like: Optional[str]
    """The kind of page that is served in its place."""
    lost: List[str]
    """Watched parts and triggers that see nothing any more."""
    magnitude: float
    not_found: List[str]
    """Parts that the rule watches and that the page does not have."""
    page_id: str
    """In hexadecimal."""
    passed_over: int
    """Pieces that differ and did not count."""
    previous_seen_at: Optional[str]
    """The fetch before. Null: there was none."""
    removed: List[str]
    """Texts that were removed."""
    rule: Optional[str]
    """The watch rule of the page."""
    seen_at: str
    """RFC 3339: when the fetch saw it."""
    status: Optional[int]
    """HTTP status of the last response."""
    structure_changed: bool
    """Whether something changed outside the page's main part."""
    title: Optional[str]
    """Title of the page."""
    triggers: List[str]
    """Triggers of the rule that fired."""
    url: str
    """The page's canonical address."""
    values: List[WatchedValue]
    """Values of the watch rule that changed."""
    verdict: str
    """first, minor, major, missing, obscured, redirected, gone, returned, unwatched, watched, forgotten or
    failed. There may be more.
    """


class ChangesPage(TypedDict):
    has_more: bool
    """Whether there may be more now. A request reads some thousand changes at most, so an answer may have no
    items and more behind its cursor.
    """
    items: List[Change]
    next_cursor: str
    """The cursor of the next request, also if there are no further changes yet."""


class Sent(TypedDict):
    sent: int
    """Pages, hosts or focuses that were named."""


class Seeded(TypedDict):
    duplicates: int
    faults: List[str]
    """Lines that could not be read."""
    seeds: int


class TakenHints(TypedDict):
    reasons: List[str]
    refused: int
    taken: int


class _Hint(TypedDict):
    url: str


class Hint(_Hint, total=False):
    changed_at: Optional[Union[str, float]]
    """RFC 3339, or seconds since 1970."""


class _StageStatus(TypedDict):
    figures: Dict[str, float]
    lag_records: int
    lag_s: float
    name: str


class StageStatus(_StageStatus, total=False):
    last_error: Optional[str]
    ready: Optional[bool]


class Status(TypedDict):
    due: Optional[int]
    estimated_freshness: Optional[float]
    fetch_rate_per_s: Optional[float]
    fetches_total: Optional[int]
    in_flight: Optional[int]
    pages: Optional[int]
    stages: List[StageStatus]


class Api:
    """The operations. Each is one request; a refusal is a ``recrawl_client.Refused``."""

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
        raise NotImplementedError

    def create_backup(self, body: str) -> MadeBackup:
        """Makes a backup of the crawl in a directory of its machine; takes a key for all hosts. Role: admin.
        body: The whole path of the directory.
        """
        answer: MadeBackup = self._call(
            "POST", "/api/v1/backups", body=body, media_type="text/plain", is_command=True, answers_json=True
        )
        return answer

    def list_changes(self, *, cursor: Optional[str] = None, limit: Optional[int] = None) -> ChangesPage:
        """Changes in order, as ``recrawl changes`` prints them. Role: viewer. cursor: Only changes behind this
        position. Left out: from the first that is kept. limit: Most changes in the answer.
        """
        answer: ChangesPage = self._call(
            "GET", "/api/v1/changes", query={"cursor": cursor, "limit": limit}, answers_json=True
        )
        return answer

    def add_focus(self, body: str) -> Sent:
        """Gives the crawl a focus, or a newer form of it (focus.md). Role: admin. body: The file of the focus."""
        answer: Sent = self._call(
            "POST", "/api/v1/focuses", body=body, media_type="text/plain", is_command=True, answers_json=True
        )
        return answer

    def remove_focus(self, name: str) -> Sent:
        """Withdraws a focus. Role: admin."""
        answer: Sent = self._call(
            "DELETE", f"/api/v1/focuses/{quote(name, safe='')}", is_command=True, answers_json=True
        )
        return answer

    def block_hosts(self, body: str) -> Sent:
        """Stops fetching from hosts, and takes in no pages of them. Role: operator. body: The name of a host on
        each line.
        """
        answer: Sent = self._call(
            "POST", "/api/v1/hosts/block", body=body, media_type="text/plain", is_command=True, answers_json=True
        )
        return answer

    def pause_hosts(self, body: str) -> Sent:
        """Stops fetching from hosts. Role: operator. body: The name of a host on each line."""
        answer: Sent = self._call(
            "POST", "/api/v1/hosts/pause", body=body, media_type="text/plain", is_command=True, answers_json=True
        )
        return answer

    def resume_hosts(self, body: str) -> Sent:
        """Resumes fetching from hosts. Role: operator. body: The name of a host on each line."""
        answer: Sent = self._call(
            "POST", "/api/v1/hosts/resume", body=body, media_type="text/plain", is_command=True, answers_json=True
        )
        return answer

    def unblock_hosts(self, body: str) -> Sent:
        """Ends blocks of hosts. Role: operator. body: The name of a host on each line."""
        answer: Sent = self._call(
            "POST", "/api/v1/hosts/unblock", body=body, media_type="text/plain", is_command=True, answers_json=True
        )
        return answer

    def add_pages(self, body: str) -> Seeded:
        """Adds pages, also forgotten ones. Role: operator. body: A list of pages, in any form that ``recrawl
        seed --file`` reads.
        """
        answer: Seeded = self._call(
            "POST", "/api/v1/pages", body=body, media_type="text/plain", is_command=True, answers_json=True
        )
        return answer

    def forget_pages(self, body: str) -> Sent:
        """Removes pages for good. Role: admin. body: An address on each line."""
        answer: Sent = self._call(
            "POST", "/api/v1/pages/forget", body=body, media_type="text/plain", is_command=True, answers_json=True
        )
        return answer

    def forget_discovered_pages(self, body: str) -> Sent:
        """Removes pages that were found first on these pages or sites, but no seeds; takes a key for all hosts.
        Role: admin. body: The address of a page or the domain of a site on each line.
        """
        answer: Sent = self._call(
            "POST",
            "/api/v1/pages/forget-discovered",
            body=body,
            media_type="text/plain",
            is_command=True,
            answers_json=True
        )
        return answer

    def refetch_pages(self, body: str) -> Sent:
        """Fetches pages now. Role: operator. body: An address on each line."""
        answer: Sent = self._call(
            "POST", "/api/v1/pages/refetch", body=body, media_type="text/plain", is_command=True, answers_json=True
        )
        return answer

    def save_rules(self, body: str) -> Sent:
        """Saves watch rules above those of the configuration, in place of all that were saved before; takes a
        key for all hosts. Role: operator. body: Tables [[rules]] of TOML.
        """
        answer: Sent = self._call(
            "POST", "/api/v1/rules", body=body, media_type="text/plain", is_command=True, answers_json=True
        )
        return answer

    def add_seeds(self, body: str) -> Seeded:
        """Adds pages of a list, without forgotten ones. Role: operator. body: A list of pages, in any form that
        ``recrawl seed --file`` reads.
        """
        answer: Seeded = self._call(
            "POST", "/api/v1/seeds", body=body, media_type="text/plain", is_command=True, answers_json=True
        )
        return answer

    def forget_sites(self, body: str) -> Sent:
        """Removes all pages of hosts and of the hosts below them. Role: admin. body: The name of a host on each
        line.
        """
        answer: Sent = self._call(
            "POST", "/api/v1/sites/forget", body=body, media_type="text/plain", is_command=True, answers_json=True
        )
        return answer

    def get_atom_feed(self) -> str:
        """The newest changes as a feed. Role: viewer."""
        answer: str = self._call("GET", "/changes.atom")
        return answer

    def get_rss_feed(self) -> str:
        """The newest changes as a feed. Role: viewer."""
        answer: str = self._call("GET", "/changes.rss")
        return answer

    def get_health(self) -> str:
        """Whether the process is alive."""
        answer: str = self._call("GET", "/healthz")
        return answer

    def create_hints(self, body: Union[Hint, List[Hint]]) -> TakenHints:
        """Says that pages have changed (hints.md). body: Pages that have changed: an object for each, in an
        array or one after the other.
        """
        answer: TakenHints = self._call("POST", "/hints", body=body, media_type="application/json", answers_json=True)
        return answer

    def get_metrics(self) -> str:
        """The figures of the process, for Prometheus. The version is shown to callers with a key only, if there
        are keys.
        """
        answer: str = self._call("GET", "/metrics")
        return answer

    def get_document(self) -> Dict[str, Any]:
        """This document."""
        answer: Dict[str, Any] = self._call("GET", "/openapi.json", answers_json=True)
        return answer

    def get_readiness(self) -> str:
        """Whether all stages are ready."""
        answer: str = self._call("GET", "/readyz")
        return answer

    def get_status(self) -> Status:
        """The state of the crawl, as ``recrawl status`` shows it."""
        answer: Status = self._call("GET", "/status", answers_json=True)
        return answer
