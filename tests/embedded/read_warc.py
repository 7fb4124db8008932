"""Reads WARC files with warcio, and prints a line of JSON per record: what it is, and whether its digests hold.

Usage: read_warc.py FILE... Exits 3 when warcio is not installed, 1 when a file cannot be read to its end.
"""

import json
import sys

try:
    from warcio.archiveiterator import ArchiveIterator
except ImportError:
    sys.exit(print("warcio is not installed", file=sys.stderr) or 3)

for path in sys.argv[1:]:
    with open(path, "rb") as stream:
        for record in ArchiveIterator(stream, check_digests=True):
            payload = record.content_stream().read()
            http = record.http_headers
            line = {
                "file": path,
                "type": record.rec_type,
                "fields": dict(record.rec_headers.headers),
                "status": http and http.get_statuscode(),
                "headers": http and [list(header) for header in http.headers],
                "payload": payload.hex(),
                "digests_hold": record.digest_checker.passed,
                "problems": record.digest_checker.problems,
            }
            print(json.dumps(line))
