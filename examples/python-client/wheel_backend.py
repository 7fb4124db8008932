"""Builds the wheel of recrawl_client with nothing but Python: a build backend (PEP 517) for a package of plain files.

    pip install .                                     or, without pip and network:
    python3 wheel_backend.py DIRECTORY                writes the wheel there and prints its path
"""

from __future__ import annotations

import base64
import hashlib
import re
import sys
import zipfile
from pathlib import Path
from typing import Any, Dict, Optional

HERE = Path(__file__).resolve().parent
PACKAGE = "recrawl_client"
# The same files give the same bytes.
EARLIEST = (1980, 1, 1, 0, 0, 0)


def version() -> str:
    found = re.search(r'^version = "(.+)"$', (HERE / "pyproject.toml").read_text(), re.MULTILINE)
    if found is None:
        sys.exit("pyproject.toml has no version")
    return found[1]


def build_wheel(
    directory: str, config_settings: Optional[Dict[str, Any]] = None, metadata_directory: Optional[str] = None
) -> str:
    information = f"{PACKAGE}-{version()}.dist-info"
    sources = [file for file in sorted((HERE / PACKAGE).iterdir()) if file.is_file()]
    files = {f"{PACKAGE}/{file.name}": file.read_bytes() for file in sources}
    readme = (HERE / "README.md").read_text()
    metadata = (
        f"Metadata-Version: 2.1\nName: recrawl-client\nVersion: {version()}\n"
        "Summary: Client of recrawl: typed operations, and changes that resume\n"
        "License: MIT OR Apache-2.0\nRequires-Python: >=3.9\n"
        f"Description-Content-Type: text/markdown\n\n{readme}"
    )
    files[f"{information}/METADATA"] = metadata.encode()
    kind = "Wheel-Version: 1.0\nGenerator: wheel_backend\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files[f"{information}/WHEEL"] = kind.encode()
    record = f"{information}/RECORD"
    lines = [f"{name},sha256={digest(content)},{len(content)}" for name, content in files.items()]
    files[record] = "".join(line + "\n" for line in [*lines, f"{record},,"]).encode()
    wheel = f"{PACKAGE}-{version()}-py3-none-any.whl"
    with zipfile.ZipFile(Path(directory) / wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, EARLIEST)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o100644 << 16
            archive.writestr(entry, content)
    return wheel


def digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def build_sdist(directory: str, config_settings: Optional[Dict[str, Any]] = None) -> str:
    raise NotImplementedError("the sources are in recrawl's repository")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print(Path(sys.argv[1]) / build_wheel(sys.argv[1]))
