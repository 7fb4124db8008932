"""Reads the changes of a real crawl, with many restarts of the readers and some of the crawl, and compares.

usage: restarts.py RECRAWL DATA SEEDS READER_RESTARTS CRAWL_RESTARTS FLAGS…

RECRAWL is the program. It crawls SEEDS in the directory DATA, with the settings in FLAGS. Two readers go through the
changes. One keeps the cursor with what it has written and is killed. The other leaves the cursor to a file and ends in
order. Together they take up to ten changes for each restart.
Exits with 1 if either lost a change or has one twice. Prints what was done as JSON.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, List

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from recrawl_client import Client  # noqa: E402


def lines(path: Path) -> List[Dict[str, Any]]:
    """What a reader has written. A line that a kill cut off does not count."""
    whole = path.read_bytes().rpartition(b"\n")[0] if path.exists() else b""
    return [json.loads(line) for line in whole.splitlines()]


def read(data: str, output: str, cursor_file: str, most: str) -> None:
    """The program of a reader: writes a line for each change to its output, and a point to stdout."""
    path = Path(output)
    kept = lines(path)
    with open(path, "r+b" if path.exists() else "wb") as file:
        file.truncate(sum(len(json.dumps(line)) + 1 for line in kept))
    options = {"cursor_file": cursor_file} if cursor_file else {"cursor": kept[-1]["cursor"] if kept else None}
    sink = os.open(path, os.O_WRONLY | os.O_APPEND)
    with Client.of_data(data).changes(limit=7, poll_s=0.02, **options) as changes:
        for number, change in enumerate(changes, 1):
            line = {key: change[key] for key in ("cursor", "change_id", "page_id", "seen_at")}
            os.write(sink, json.dumps(line).encode() + b"\n")
            os.write(1, b".")
            if number == int(most):
                break


def reader(data: str, output: Path, cursor_file: str, most: int) -> "subprocess.Popen[bytes]":
    command = [sys.executable, __file__, "--read", data, str(output), cursor_file, str(most)]
    return subprocess.Popen(command, stdout=subprocess.PIPE)


def main(arguments: List[str]) -> int:
    program, data, seeds, *numbers = arguments[:5]
    directory, flags = Path(data).parent, ["--data", data, *arguments[5:]]
    reader_restarts, crawl_restarts = map(int, numbers)
    killed, ended, cursor_file = (directory / name for name in ("killed.jsonl", "ended.jsonl", "ended.cursor"))
    chance = random.Random(20261130)
    start = [program, "run", "--seeds", seeds, *flags]
    with open(directory / "crawl.log", "ab") as log:
        crawl = subprocess.Popen(start, stdout=log, stderr=log)
        restarts = 0
        try:
            for number in range(reader_restarts):
                most = chance.randint(1, 4)
                if (number + 1) * crawl_restarts // reader_restarts > restarts:
                    crawl.kill()
                    crawl.wait()
                    crawl = subprocess.Popen(start, stdout=log, stderr=log)
                    restarts += 1
                one = reader(data, killed, "", most + 5)
                # It is killed somewhere behind this change: while it writes, asks, or ends.
                assert one.stdout is not None and len(one.stdout.read(most)) == most
                one.kill()
                one.wait()
                assert reader(data, ended, str(cursor_file), most).wait() == 0, "a reader failed"
            crawl.send_signal(signal.SIGINT)
            assert crawl.wait() == 0, "the crawl failed"
        finally:
            crawl.kill()
    faults: List[str] = []
    ask = [program, "--format", "jsonl", "changes", *flags]

    def listed(*further: str) -> List[Dict[str, Any]]:
        done = subprocess.run([*ask, *further], check=True, stdout=subprocess.PIPE)
        return [json.loads(line) for line in done.stdout.splitlines()]

    everything = {change["change_id"] for change in listed()}
    counts = {}
    for path in (killed, ended):
        have = lines(path)
        ids = [line["change_id"] for line in have]
        rest = {change["change_id"] for change in listed("--cursor", have[-1]["cursor"])}
        times = [(line["page_id"], line["seen_at"]) for line in have]
        counts[path.stem] = len(ids)
        if len(set(ids)) != len(ids):
            faults.append(f"{path.stem}: {len(ids) - len(set(ids))} changes twice")
        if set(ids) | rest != everything:
            faults.append(f"{path.stem}: {len(everything - set(ids) - rest)} changes lost")
        if set(ids) & rest:
            faults.append(f"{path.stem}: {len(set(ids) & rest)} changes behind the cursor were read before")
        for page in {page for page, _ in times}:
            seen = [at for one, at in times if one == page]
            if seen != sorted(seen):
                faults.append(f"{path.stem}: changes of {page} out of order")
    print(json.dumps({"changes": len(everything), "restarts": restarts, "read": counts, "faults": faults}))
    return 1 if faults else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--read"]:
        read(*sys.argv[2:])
        sys.exit(0)
    sys.exit(main(sys.argv[1:]))
