"""Reads schemas/golden/*.json with fastavro and the schemas alone, and writes the same bytes again.

Usage: decode.py SCHEMAS_DIRECTORY. Exits 3 when fastavro is not installed, 1 when something disagrees.
"""

import datetime
import io
import json
import pathlib
import sys

try:
    import fastavro
except ImportError:
    sys.exit(print("fastavro is not installed", file=sys.stderr) or 3)

MARKER = b"\xc3\x01"
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


def schema_of(directory, name, version):
    """The version's own file when it was released, else the newest schema."""
    kept = directory / "released" / name / f"v{version}.avsc"
    return json.loads((kept if kept.exists() else directory / f"{name}.avsc").read_text("utf-8"))


def header_of(schema):
    canonical = fastavro.schema.to_parsing_canonical_form(schema)
    return MARKER + bytes.fromhex(fastavro.schema.fingerprint(canonical, "CRC-64-AVRO"))


def plain(value):
    """As the golden files show it: bytes as numbers, moments as microseconds."""
    if isinstance(value, bytes):
        return list(value)
    if isinstance(value, datetime.datetime):
        return (value - EPOCH) // datetime.timedelta(microseconds=1)
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value


def check(path, directory):
    name, version = path.name.removesuffix(".json").rsplit(".v", 1)
    schema = schema_of(directory, name, version)
    for entry in json.loads(path.read_text("utf-8")):
        record = bytes.fromhex(entry["hex"])
        header = header_of(schema)
        assert record[:10] == header, f"{path.name}: {record[:10].hex()} is not {header.hex()}"
        datum = io.BytesIO(record[10:])
        value = fastavro.schemaless_reader(datum, schema)
        assert not datum.read(), f"{path.name}: bytes left over"
        assert plain(value) == entry["value"], f"{path.name}: {plain(value)} is not {entry['value']}"
        again = io.BytesIO()
        fastavro.schemaless_writer(again, schema, value)
        assert again.getvalue() == record[10:], f"{path.name}: written again, the bytes differ"


def main():
    directory = pathlib.Path(sys.argv[1])
    files = sorted((directory / "golden").glob("*.json"))
    for path in files:
        check(path, directory)
    print(f"{len(files)} golden files agree")


main()
