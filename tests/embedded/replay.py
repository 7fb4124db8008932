"""Indexes WARC files with cdxj-indexer, and replays them with pywb. Prints a line of JSON per WARC file with its index, then
one per line of the indexes with what pywb answers when it is asked for that address at that time.

Usage: replay.py DIRECTORY, which has WARC files and their indexes. Exits 3 when pywb is not installed.
"""

import base64
import contextlib
import hashlib
import io
import json
import sys
from pathlib import Path

try:
    from cdxj_indexer.main import CDXJIndexer
    from pywb.warcserver.warcserver import WarcServer
    from warcio.archiveiterator import ArchiveIterator
    from werkzeug.test import Client
except ImportError as error:
    sys.exit(print(f"pywb is not installed ({error})", file=sys.stderr) or 3)


class Text(io.StringIO):
    """Keeps what was written, whoever closes it."""

    def close(self):
        pass


def index_of(file):
    text = Text()
    CDXJIndexer(text, [str(file)], sort=True).process_all()
    return text.getvalue()


def replayed(record):
    payload = record.content_stream().read()
    return {
        "date": record.rec_headers.get_header("WARC-Date"),
        "status": record.http_headers and record.http_headers.get_statuscode(),
        "digest": "sha1:" + base64.b32encode(hashlib.sha1(payload).digest()).decode(),
    }


def capture(client, line):
    _, time, fields = line.split(" ", 2)
    fields = json.loads(fields)
    answer = client.get("/all/resource", query_string={"url": fields["url"], "closest": time})
    if answer.status_code != 200:
        return {"capture": fields, "problem": answer.text}
    return {"capture": fields, "replayed": replayed(next(ArchiveIterator(io.BytesIO(answer.data))))}


def main(directory):
    for file in sorted(directory.glob("*.warc.gz")):
        yield {"file": file.name, "index": index_of(file)}
    paths = {"index_paths": str(directory), "archive_paths": f"{directory}/"}
    client = Client(WarcServer(custom_config={"collections": {"all": paths}}))
    for index in sorted(directory.glob("*.cdxj")):
        yield from (capture(client, line) for line in index.read_text().splitlines())


# pywb prints notes of its own.
with contextlib.redirect_stdout(sys.stderr):
    lines = [json.dumps(line) for line in main(Path(sys.argv[1]))]
print("\n".join(lines))
