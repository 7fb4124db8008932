"""Checks WACZ files with py-wacz, and prints a line of JSON per file with what it has. The WARC files go to a directory.

Usage: read_wacz.py DIRECTORY FILE... Exits 3 when py-wacz is not installed.
"""

import contextlib
import gzip
import io
import json
import sys
import zipfile
from pathlib import Path

try:
    from cdxj_indexer.main import CDXJIndexer
    from wacz.main import main as py_wacz
except ImportError as error:
    sys.exit(print(f"py-wacz is not installed ({error})", file=sys.stderr) or 3)


class Text(io.StringIO):
    """Keeps what was written, whoever closes it."""

    def close(self):
        pass


def blocks(package):
    """The index, as a reader finds it by the list of blocks."""
    header, *places = package.read("indexes/index.idx").decode().splitlines()
    assert header.startswith("!meta 0 "), header
    packed = package.read(f"indexes/{json.loads(header[8:])['filename']}")
    for line in places:
        key, place = line.split(" {", 1)
        place = json.loads("{" + place)
        block = gzip.decompress(packed[place["offset"]:place["offset"] + place["length"]]).decode()
        assert block.startswith(key + " {"), (key, block)
        yield block


def content(path, directory):
    with contextlib.redirect_stdout(io.StringIO()) as notes:
        status = py_wacz(["validate", "-f", path])
    with zipfile.ZipFile(path) as package:
        assert package.testzip() is None
        assert all(file.compress_type == zipfile.ZIP_STORED for file in package.infolist())
        archives = [name for name in package.namelist() if name.startswith("archive/")]
        warc = directory / Path(archives[0]).name
        warc.write_bytes(package.read(archives[0]))
        expected = Text()
        CDXJIndexer(expected, [str(warc)], sort=True, records="response,revisit,resource").process_all()
        return {
            "file": path,
            "problems": notes.getvalue() if status else None,
            "archives": len(archives),
            "warc": str(warc),
            "index": "".join(blocks(package)),
            "expected_index": expected.getvalue(),
            "pages": [json.loads(line) for line in package.read("pages/pages.jsonl").decode().splitlines()],
            "package": json.loads(package.read("datapackage.json")),
        }


for path in sys.argv[2:]:
    print(json.dumps(content(path, Path(sys.argv[1]))))
