"""The client against a port that does what the test wants."""

from __future__ import annotations

import json
import sys
import tempfile
import threading
import unittest
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from recrawl_client import Client, Refused, Unreachable  # noqa: E402

LOG = "a-log"


class Port:
    """Answers each request with the next answer, and keeps the requests."""

    def __init__(self, *answers: Tuple[int, Any], log: Optional[str] = LOG, headers: Optional[Dict[str, str]] = None):
        self.requests: List[Tuple[str, str, Dict[str, str], bytes]] = []
        waiting, port = list(answers), self

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                sent = {name.lower(): value for name, value in self.headers.items()}
                port.requests.append((self.command, self.path, sent, body))
                status, content = waiting.pop(0) if waiting else (503, {"detail": "no more answers"})
                text = content if isinstance(content, bytes) else json.dumps(content).encode()
                self.send_response(status)
                for name, value in {**({"x-recrawl-log": log} if log else {}), **(headers or {})}.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_POST = do_DELETE = answer

            def log_message(self, *_: Any) -> None:
                pass

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        self.address = f"127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Port:
        return self

    def __exit__(self, *_: Any) -> None:
        self._server.shutdown()
        self._server.server_close()


def page(*cursors: str, behind: Optional[str] = None, more: bool = False) -> Tuple[int, Any]:
    items = [{"cursor": cursor, "change_id": f"id-{cursor}"} for cursor in cursors]
    return 200, {"items": items, "next_cursor": behind or cursors[-1], "has_more": more}


class Requests(unittest.TestCase):
    def test_a_request_has_the_token_and_the_log_of_the_first_answer(self) -> None:
        with Port((200, {"pages": 1}), (200, {"sent": 2})) as port:
            client = Client(port.address, "a-token")
            self.assertEqual(client.get_status()["pages"], 1)
            self.assertEqual(client.refetch_pages("http://a.test/\nhttp://b.test/"), {"sent": 2})
        (_, _, first, _), (method, path, second, body) = port.requests
        self.assertEqual((method, path), ("POST", "/api/v1/pages/refetch"))
        self.assertEqual(first["authorization"], "Bearer a-token")
        self.assertNotIn("x-recrawl-log", first)
        self.assertNotIn("x-recrawl-command", first)
        self.assertEqual((second["x-recrawl-log"], body), (LOG, b"http://a.test/\nhttp://b.test/"))
        self.assertIn("@", second["x-recrawl-caller"])
        self.assertNotIn("a-token", repr(client))

    def test_a_name_in_a_path_is_one_segment(self) -> None:
        with Port((200, {"sent": 1})) as port:
            Client(port.address).remove_focus("../a b")
        self.assertEqual(port.requests[0][:2], ("DELETE", "/api/v1/focuses/..%2Fa%20b"))

    def test_a_refusal_says_why(self) -> None:
        with Port((403, {"title": "Forbidden", "status": 403, "detail": "the key is a viewer's"})) as port:
            with self.assertRaises(Refused) as raised:
                Client(port.address).add_pages("http://a.test/")
        self.assertEqual((raised.exception.status, raised.exception.detail), (403, "the key is a viewer's"))
        self.assertEqual(len(port.requests), 1, "a command is not repeated")

    def test_another_crawl_is_refused(self) -> None:
        with Port((200, {})) as port, self.assertRaises(Refused) as raised:
            Client(port.address, log="another-log").get_status()
        self.assertEqual(raised.exception.status, 409)

    def test_a_redirect_is_not_followed(self) -> None:
        with Port((200, {})) as elsewhere:
            with Port((302, {}), headers={"location": f"http://{elsewhere.address}/status"}) as port:
                with self.assertRaises(Unreachable):
                    Client(port.address, "a-token").get_status()
            self.assertEqual(elsewhere.requests, [])

    def test_what_names_no_log_or_is_no_json_is_not_recrawl(self) -> None:
        for port in (Port((200, {}), log=None), Port((404, b"none"), log=None), Port((200, b"<html>"))):
            with port, self.assertRaises(Unreachable):
                Client(port.address).get_status()


class Directories(unittest.TestCase):
    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)

    def note(self, port: Port, token: str, log: str = LOG, directory: Optional[str] = None) -> None:
        here = self.directory.stat()
        own = directory or f"{here.st_dev}:{here.st_ino}"
        (self.directory / "http.token").write_text(token + "\n")
        (self.directory / "http-address").write_text(f"{port.address}\nlog {log}\ndirectory {own}\n")

    def test_a_directory_leads_to_the_loop_that_runs_now(self) -> None:
        client = Client.of_data(self.directory)
        with self.assertRaises(Unreachable):
            client.get_status()
        for token in ("first", "second"):
            with Port((200, b"ok"), (200, {})) as port:
                self.note(port, token)
                client.get_status()
            health, status = port.requests
            self.assertEqual((health[1], status[1]), ("/healthz", "/status"))
            self.assertNotIn("authorization", health[2], "it might be a stranger")
            self.assertEqual(status[2]["authorization"], f"Bearer {token}")

    def test_a_stranger_and_a_copy_are_not_shown_the_token(self) -> None:
        with Port((200, b"ok"), (200, {}), log=None) as port:
            self.note(port, "secret")
            with self.assertRaises(Unreachable):
                Client.of_data(self.directory).get_status()
            self.note(port, "secret", directory="1:2")
            with self.assertRaises(Unreachable):
                Client.of_data(self.directory).get_status()
        self.assertFalse(any("authorization" in request[2] for request in port.requests))


class Changes(unittest.TestCase):
    def setUp(self) -> None:
        self.pauses: List[float] = []
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.file = Path(directory.name) / "a.cursor"

    def reader(self, port: Port, **options: Any) -> Any:
        return Client(port.address).changes(sleep=self.pauses.append, **options)

    def cursors(self, port: Port, **options: Any) -> List[str]:
        with self.reader(port, follow=False, **options) as changes:
            return [change["cursor"] for change in changes]

    def test_changes_are_read_page_by_page(self) -> None:
        with Port(page("1", "2", more=True), page(behind="9", more=True), page("10")) as port:
            self.assertEqual(self.cursors(port, limit=2), ["1", "2", "10"])
        asked = [path for _, path, _, _ in port.requests]
        changes = "/api/v1/changes?"
        self.assertEqual(asked, [changes + "limit=2", changes + "cursor=2&limit=2", changes + "cursor=9&limit=2"])
        self.assertEqual(self.pauses, [])

    def test_a_reader_that_follows_waits_for_more(self) -> None:
        with Port(page("1"), page(behind="1"), page("2")) as port:
            changes = self.reader(port, poll_s=7.0)
            self.assertEqual([next(changes)["cursor"], next(changes)["cursor"]], ["1", "2"])
        self.assertEqual(self.pauses, [7.0, 7.0])

    def test_a_change_is_done_when_the_next_one_is_asked_for(self) -> None:
        with Port(page("1", "2", "3")) as port:
            changes = self.reader(port)
            self.assertIsNone(changes.cursor)
            next(changes)
            self.assertIsNone(changes.cursor)
            next(changes)
            self.assertEqual(changes.cursor, "1")
            changes.close()
            self.assertEqual((changes.cursor, list(changes)), ("2", []))

    def test_the_file_has_what_is_done_and_an_error_leaves_the_last_change_undone(self) -> None:
        with Port(page("1", "2", "3"), page("2", "3"), page(behind="3")) as port:
            with self.assertRaises(KeyError), self.reader(port, cursor_file=self.file) as changes:
                for change in changes:
                    if change["cursor"] == "2":
                        raise KeyError
            self.assertEqual(json.loads(self.file.read_text()), {"cursor": "1", "log": LOG})
            self.assertEqual(self.cursors(port, cursor_file=self.file), ["2", "3"])
            self.assertEqual(self.cursors(port, cursor_file=self.file), [])
        self.assertIn("cursor=3", port.requests[-1][1])

    def test_a_file_is_of_one_crawl_and_one_reader(self) -> None:
        self.file.write_text(json.dumps({"cursor": "1", "log": "another-log"}))
        with Port(page("1")) as port:
            with self.assertRaises(Refused) as raised:
                self.cursors(port, cursor_file=self.file)
            self.assertEqual(raised.exception.status, 409)
            self.file.unlink()
            first = self.reader(port, cursor_file=self.file.with_name("b.cursor"))
            with self.assertRaisesRegex(ValueError, "another reader has"):
                self.reader(port, cursor_file=self.file.with_name("b.cursor"))
            first.close()
        for damaged in ("", "[]", '{"cursor": "1"}'):
            self.file.write_text(damaged)
            with self.assertRaisesRegex(ValueError, "delete it to begin"):
                self.reader(port, cursor_file=self.file)

    def test_what_passes_is_tried_again_after_growing_pauses(self) -> None:
        busy = (503, {"detail": "too much is asked at once"})
        with Port(busy, busy, busy, busy, page("1")) as port:
            self.assertEqual(self.cursors(port), ["1"])
        bounds = [0.1, 0.2, 0.4, 0.8]
        self.assertEqual(len(self.pauses), len(bounds))
        for pause, bound in zip(self.pauses, bounds):
            self.assertTrue(bound / 2 <= pause <= bound, self.pauses)

    def test_a_wish_is_heeded_within_bounds(self) -> None:
        # Never less than wished, and never without a pause of chance; what is no number in ASCII is no wish.
        for wish, least in (("7", 7.0), ("99999", 300.0), ("0", 0.0), ("\u00b2", 0.0)):
            self.pauses.clear()
            with Port((429, {"detail": "later"}), page("1"), headers={"retry-after": wish}) as port:
                self.assertEqual(self.cursors(port), ["1"])
            self.assertEqual(len(self.pauses), 1)
            self.assertTrue(least < self.pauses[0] <= least + 1.0, self.pauses)

    def test_what_does_not_pass_is_raised_at_once_and_the_rest_in_the_end(self) -> None:
        with Port((401, {"detail": "a token is needed"})) as port, self.assertRaises(Refused):
            self.cursors(port)
        with self.assertRaises(Unreachable):
            list(Client("127.0.0.1:1").changes(give_up_after_s=0.0))
        self.assertEqual(self.pauses, [])


if __name__ == "__main__":
    unittest.main()
