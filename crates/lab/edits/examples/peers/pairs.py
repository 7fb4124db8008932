"""Says whether changedetection.io and trafilatura call two versions of a page different.

A question is a line with the content type and the lengths in bytes of the two versions, which follow. The answer is a
line with a word for each of the two: 1 if they differ, 0 if not, - if the library takes no such pages.

changedetection.io is asked by its own check of a fetched page, with the settings of a new installation. It refuses a
version without text, which is no change. Of trafilatura the extracted text is compared, with its default options.
"""

import sys
import tempfile

from loguru import logger

logger.remove()

from changedetectionio.content_fetchers.base import Fetcher
from changedetectionio.content_fetchers.exceptions import ReplyWithContentButNoText
from changedetectionio.model import App, Watch
from changedetectionio.processors.text_json_diff.processor import perform_site_check
from trafilatura import extract

# Digests of versions that were asked for: one page has edits of many kinds.
known = {}


class Datastore:
    """What the check asks of the installation: its settings, and one watched page."""

    def __init__(self, directory):
        self.datastore_path = directory
        self.data = {"settings": App.model(datastore_path=directory)["settings"], "watching": {}}
        page = Watch.model(datastore_path=directory, __datastore=self, default={"url": "http://page.test/"})
        self.watched = page["uuid"]
        self.data["watching"][self.watched] = page

    def get_tag_overrides_for_watch(self, uuid, attr):
        return []


def changedetection(content_type, text):
    check = perform_site_check(datastore, datastore.watched)
    check.fetcher = Fetcher()
    check.fetcher.content = text
    check.fetcher.raw_content = text.encode()
    check.fetcher.headers = {"content-type": f"{content_type}; charset=utf-8"}
    check.fetcher.status_code = 200
    try:
        _, update, _ = check.run_changedetection(check.watch, force_reprocess=True)
    except ReplyWithContentButNoText:
        return None
    return update["previous_md5"]


def trafilatura(text):
    return hash(extract(text) or "")


def digests(content_type, text):
    key = content_type, hash(text)
    if key not in known:
        is_html = content_type == "text/html"
        known[key] = changedetection(content_type, text), trafilatura(text) if is_html else None
    return known[key]


def answers(content_type, before, after):
    (old, old_text), (new, new_text) = digests(content_type, before), digests(content_type, after)
    yield str(int(None not in (old, new) and old != new))
    yield "-" if old_text is None else str(int(old_text != new_text))


with tempfile.TemporaryDirectory() as directory:
    datastore = Datastore(directory)
    while line := sys.stdin.buffer.readline():
        content_type, *lengths = line.decode().split()
        versions = [sys.stdin.buffer.read(int(length)).decode() for length in lengths]
        print(*answers(content_type, *versions), flush=True)
