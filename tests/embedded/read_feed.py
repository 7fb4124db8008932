"""Reads a feed from standard input as its standard says (RFC 4287, RSS 2.0), and prints it as JSON.

Whatever is missing, doubled or of the wrong form ends it with an error.
"""

import datetime
import email.utils
import json
import sys
import xml.etree.ElementTree as ElementTree
from urllib.parse import urlsplit

ATOM = "{http://www.w3.org/2005/Atom}"


def one(parent, name):
    """The text of the one child of this name."""
    found = parent.findall(name)
    assert len(found) == 1, f"{len(found)} of {name} in {parent.tag}"
    return found[0].text or ""


def is_iri(text):
    assert urlsplit(text).scheme, f"{text} is no IRI"
    return text


def atom(feed):
    def moment(parent):
        return datetime.datetime.fromisoformat(one(parent, ATOM + "updated").replace("Z", "+00:00")).timestamp()

    assert one(feed.find(ATOM + "author"), ATOM + "name")
    moment(feed)
    entries = []
    for entry in feed.findall(ATOM + "entry"):
        links = [link for link in entry.findall(ATOM + "link") if link.get("rel") == "alternate"]
        assert len(links) == 1
        assert entry.find(ATOM + "content").get("type") == "html"
        entries.append({
            "id": is_iri(one(entry, ATOM + "id")), "title": one(entry, ATOM + "title"),
            "url": is_iri(links[0].get("href")), "seen_at": moment(entry),
            "content": one(entry, ATOM + "content"), "verdict": entry.find(ATOM + "category").get("term"),
        })
    links = [link.get("href") for link in feed.findall(ATOM + "link") if link.get("rel") == "self"]
    return {"id": is_iri(one(feed, ATOM + "id")), "title": one(feed, ATOM + "title"), "self": links, "entries": entries}


def rss(feed):
    assert feed.get("version") == "2.0"
    (channel,) = feed.findall("channel")
    assert one(channel, "description")
    is_iri(one(channel, "link"))
    entries = []
    for item in channel.findall("item"):
        assert item.find("guid").get("isPermaLink") == "false"
        entries.append({
            "id": is_iri(one(item, "guid")), "title": one(item, "title"), "url": is_iri(one(item, "link")),
            "seen_at": email.utils.parsedate_to_datetime(one(item, "pubDate")).timestamp(),
            "content": one(item, "description"), "verdict": one(item, "category"),
        })
    links = [link.get("href") for link in channel.findall(ATOM + "link")]
    return {"title": one(channel, "title"), "self": links, "entries": entries}


root = ElementTree.fromstring(sys.stdin.buffer.read())
print(json.dumps(atom(root) if root.tag == ATOM + "feed" else rss(root)))
