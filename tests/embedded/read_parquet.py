"""Reads Parquet files with DuckDB, and prints a line of JSON per row: as `recrawl export jsonl`, with the body in hexadecimal.

Usage: read_parquet.py FILE... Exits 3 when DuckDB is not installed, 1 when a file cannot be read to its end.
"""

import json
import sys

try:
    import duckdb
except ImportError:
    sys.exit(print("DuckDB is not installed", file=sys.stderr) or 3)

SELECT = """
    select * replace (strftime(fetched_at at time zone 'UTC', '%Y-%m-%dT%H:%M:%S.%gZ') as fetched_at, hex(body) as body)
    from read_parquet($path, file_row_number = true) order by file_row_number
"""

for path in sys.argv[1:]:
    rows = duckdb.execute(SELECT, {"path": path})
    names, rows = [column[0] for column in rows.description], rows.fetchall()
    compressions = duckdb.execute("select distinct compression from parquet_metadata($path)", {"path": path}).fetchall()
    groups = duckdb.execute("select count(distinct row_group_id) from parquet_metadata($path)", {"path": path}).fetchone()[0]
    assert compressions == [("ZSTD",)], compressions
    for values in rows:
        row = dict(zip(names, values))
        row.pop("file_row_number")
        for name in "hops", "headers":
            row[name] = row[name] and json.loads(row[name])
        print(json.dumps({"file": path, "groups": groups, "row": row}))
