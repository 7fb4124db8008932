"""Reads Parquet files with DuckDB, and prints a line of JSON per row: with bytes in hexadecimal.

Usage: read_parquet.py FILE... Exits 3 when DuckDB is not installed, 1 when a file cannot be read to its end.
"""

import json
import sys

try:
    import duckdb
except ImportError:
    sys.exit(print("DuckDB is not installed", file=sys.stderr) or 3)

ROWS = "from read_parquet($path, file_row_number = true)"
SHOWN = {
    "TIMESTAMP WITH TIME ZONE": "strftime({0} at time zone 'UTC', '%Y-%m-%dT%H:%M:%S.%gZ') as {0}",
    "BLOB": "hex({0}) as {0}",
}

for path in sys.argv[1:]:
    columns = duckdb.execute(f"describe select * {ROWS}", {"path": path}).fetchall()
    shown = [SHOWN.get(kind, "{0}").format(f'"{name}"') for name, kind, *_ in columns if name != "file_row_number"]
    rows = duckdb.execute(f"select {', '.join(shown)} {ROWS} order by file_row_number", {"path": path})
    names, rows = [column[0] for column in rows.description], rows.fetchall()
    lists = {name for name, kind, *_ in columns if kind == "JSON"}
    compressions = duckdb.execute("select distinct compression from parquet_metadata($path)", {"path": path}).fetchall()
    groups = duckdb.execute("select count(distinct row_group_id) from parquet_metadata($path)", {"path": path}).fetchone()[0]
    assert compressions == [("ZSTD",)], compressions
    for values in rows:
        row = {name: json.loads(value) if value and name in lists else value for name, value in zip(names, values)}
        print(json.dumps({"file": path, "groups": groups, "row": row}))
