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


def with_parts(schema, parts):
    """A part is defined where it is first named as a type."""
    if isinstance(schema, str):
        return with_parts(parts.pop(schema), parts) if schema in parts else schema
    if isinstance(schema, list):
        return [with_parts(item, parts) for item in schema]
    if not isinstance(schema, dict):
        return schema
    inner = ("type", "items", "fields")
    return {key: with_parts(value, parts) if key in inner else value for key, value in schema.items()}


def schemas_of(directory):
    """All schemas, today's and released ones, by what their records begin with."""
    read = lambda path: json.loads(path.read_text("utf-8"))
    parts = {path.stem: read(path) for path in (directory / "parts").glob("*.avsc")}
    schemas = [with_parts(read(path), dict(parts)) for path in directory.glob("*.avsc")]
    schemas += [read(path) for path in directory.glob("released/*/*.avsc")]
    return {header_of(schema): schema for schema in schemas}


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


def check(place, entry, schemas):
    record = bytes.fromhex(entry["hex"])
    schema = schemas[record[:10]]
    datum = io.BytesIO(record[10:])
    value = fastavro.schemaless_reader(datum, schema)
    assert not datum.read(), f"{place}: bytes left over"
    assert plain(value) == entry["value"], f"{place}: {plain(value)} is not {entry['value']}"
    again = io.BytesIO()
    fastavro.schemaless_writer(again, schema, value)
    assert again.getvalue() == record[10:], f"{place}: written again, the bytes differ"


def main():
    directory = pathlib.Path(sys.argv[1])
    schemas = schemas_of(directory)
    count = 0
    for path in sorted((directory / "golden").glob("*.json")):
        for name, entries in json.loads(path.read_text("utf-8")).items():
            for entry in entries:
                check(f"{name} in {path.name}", entry, schemas)
                count += 1
    print(f"{count} golden records agree")


main()
