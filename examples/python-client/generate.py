#!/usr/bin/env python3
"""Writes recrawl_client/api.py from the OpenAPI document of a recrawl.

usage: generate.py DOCUMENT           writes it; DOCUMENT is a file, or http://HOST:PORT/openapi.json
       generate.py DOCUMENT --check   exits with 1 if the file is not what would be written
"""

from __future__ import annotations

import json
import keyword
import re
import sys
import textwrap
import urllib.request
from pathlib import Path
from typing import Any, Dict, Iterable, Iterator, List, Tuple

TARGET = Path(__file__).with_name("recrawl_client") / "api.py"
METHODS = ("get", "post", "delete", "put", "patch")
# Screens for browsers are no interface.
SCREENS = ("text/html", "text/css", "text/javascript")
# Protocols of others, whose senders have clients of their own.
FOREIGN = ("/indexnow", "/websub/")
NAMES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}

HEAD = '''"""Types and operations of the port of recrawl.

Written by generate.py from the document that recrawl serves at /openapi.json, do not edit.
"""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, TypedDict, Union
from urllib.parse import quote

__all__ = [
{names}
]

'''

CALL = '''
class Api:
    """The operations. Each is one request; a refusal is a ``recrawl_client.Refused``."""

    def _call(
        self,
        method: str,
        path: str,
        *,
        query: Optional[Mapping[str, Union[str, int, None]]] = None,
        body: Any = None,
        media_type: Optional[str] = None,
        is_command: bool = False,
        answers_json: bool = False,
    ) -> Any:
        raise NotImplementedError
'''


class Types:
    """The types that operations name, each written once."""

    def __init__(self, document: Dict[str, Any]) -> None:
        self._document = document
        self.written: Dict[str, str] = {}

    def of(self, schema: Dict[str, Any]) -> str:
        if "$ref" in schema:
            path, schema = schema["$ref"].lstrip("#/").split("/"), self._document
            for part in path:
                schema = schema[part]
        if "oneOf" in schema or "anyOf" in schema:
            return union(self.of(one) for one in schema.get("oneOf") or schema["anyOf"])
        kind = schema.get("type")
        if isinstance(kind, list):
            return union(self.of({**schema, "type": one}) for one in kind)
        if kind == "array":
            return f"List[{self.of(schema.get('items', {}))}]"
        if kind == "object":
            return self._object(schema)
        return NAMES.get(str(kind), "Any")

    def _object(self, schema: Dict[str, Any]) -> str:
        properties, name = schema.get("properties"), schema.get("title")
        if not properties or not name:
            further = schema.get("additionalProperties")
            return f"Dict[str, {self.of(further) if isinstance(further, dict) else 'Any'}]"
        name, required = str(name), set(schema.get("required", ()))
        fields = {key: self._field(key, value) for key, value in sorted(properties.items())}
        lines = [fields[key] for key in fields if key in required]
        optional = [fields[key] for key in fields if key not in required]
        text = ""
        if lines and optional:
            text = f"\nclass _{name}(TypedDict):\n" + "\n".join(lines) + "\n\n"
            text += f"\nclass {name}(_{name}, total=False):\n" + "\n".join(optional) + "\n"
        else:
            total = "" if lines else ", total=False"
            text = f"\nclass {name}(TypedDict{total}):\n" + "\n".join(lines or optional) + "\n"
        if self.written.setdefault(name, text) != text:
            sys.exit(f"two schemas of the document have the title {name}, and differ")
        return name

    def _field(self, key: str, schema: Dict[str, Any]) -> str:
        if not key.isidentifier() or keyword.iskeyword(key):
            sys.exit(f"the field {key} cannot be written as a class")
        line = f"    {key}: {self.of(schema)}"
        meaning = schema.get("description")
        return line if meaning is None else line + "\n" + doc(meaning, 4)


def union(types: Iterable[str]) -> str:
    all_of_them = list(dict.fromkeys(types))
    others = [one for one in all_of_them if one != "None"]
    joined = others[0] if len(others) == 1 else f"Union[{', '.join(others)}]"
    return joined if len(others) == len(all_of_them) else f"Optional[{joined}]"


def doc(text: str, indent: int) -> str:
    """A docstring of lines that are not too long."""
    space = " " * indent
    lines = textwrap.wrap(text.replace("\\", "\\\\").replace('"""', "'''").replace("`", "``"), 110 - indent)
    if len(lines) == 1 and not lines[0].endswith('"'):
        return f'{space}"""{lines[0]}"""'
    return "\n".join([f'{space}"""{lines[0]}'] + [space + line for line in lines[1:]] + [f'{space}"""'])


def operations(document: Dict[str, Any]) -> Iterator[Tuple[str, str, Dict[str, Any]]]:
    for path, item in sorted(document["paths"].items()):
        for method in METHODS:
            operation = item.get(method)
            if operation is None or path.startswith(FOREIGN):
                continue
            if not any(media in SCREENS for media in success(operation)[1]):
                yield method.upper(), path, operation


def success(operation: Dict[str, Any]) -> Tuple[str, Dict[str, Any]]:
    answers = operation["responses"].items()
    return next((status, answer.get("content", {})) for status, answer in answers if status < "3")


def method_of(types: Types, method: str, path: str, operation: Dict[str, Any]) -> str:
    name = re.sub(r"(?<!^)(?=[A-Z])", "_", operation["operationId"]).lower()
    (media, content), *_ = success(operation)[1].items()
    is_json = media == "application/json"
    answer = types.of(content["schema"]) if is_json else "str"
    named = [parameter for parameter in operation.get("parameters", ()) if "$ref" not in parameter]
    is_command = any(parameter.get("$ref", "").endswith("/Command") for parameter in operation.get("parameters", ()))
    arguments, details, options = ["self"], [], []
    for parameter in (one for one in named if one["in"] == "path"):
        arguments.append(f"{parameter['name']}: str")
        path = path.replace("{" + parameter["name"] + "}", "{quote(" + parameter["name"] + ", safe='')}")
    body = operation.get("requestBody")
    if body is not None:
        (body_media, body_content), *_ = body["content"].items()
        arguments.append(f"body: {types.of(body_content['schema'])}")
        details.append(f"body: {body['description']}")
        options += ["body=body", f'media_type="{body_media}"']
    queries = [one for one in named if one["in"] == "query"]
    if queries:
        arguments.append("*")
        pairs = []
        for query in queries:
            kind = types.of(query["schema"])
            optional = f"Optional[{kind}] = None"
            arguments.append(f"{query['name']}: {kind if query['required'] else optional}")
            details.append(f"{query['name']}: {query['description']}")
            pairs.append(f'"{query["name"]}": {query["name"]}')
        options.append("query={" + ", ".join(pairs) + "}")
    options += ["is_command=True"] * is_command + ["answers_json=True"] * is_json
    role = f" Role: {operation['x-role']}." if "x-role" in operation else ""
    text = operation["summary"].rstrip(".") + "." + role
    lines = ["", f"    def {name}({', '.join(arguments)}) -> {answer}:"]
    docstring = doc(" ".join([text, *details]), 8)
    shown = f'f"{path}"' if "{" in path else f'"{path}"'
    call = ", ".join([f'"{method}"', shown, *options])
    typed = f"        answer: {answer} = self._call({call})"
    if len(typed) > 118:
        separator = ", " if len(call) <= 106 else ",\n            "
        inner = separator.join([f'"{method}"', shown, *options])
        typed = f"        answer: {answer} = self._call(\n            {inner}\n        )"
    return "\n".join([*lines, docstring, typed, "        return answer"]) + "\n"


def module(document: Dict[str, Any]) -> str:
    types = Types(document)
    methods = [method_of(types, *operation) for operation in operations(document)]
    names = "\n".join(f'    "{name}",' for name in sorted([*types.written, "Api"]))
    return HEAD.replace("{names}", names) + "\n".join(types.written.values()) + "\n" + CALL + "".join(methods)


def main(arguments: List[str]) -> int:
    if not arguments or arguments[1:] not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    source = arguments[0]
    if source.startswith(("http://", "https://")):
        with urllib.request.urlopen(source, timeout=30) as answer:
            text = module(json.load(answer))
    else:
        text = module(json.loads(Path(source).read_text()))
    if arguments[1:] == ["--check"]:
        if TARGET.exists() and TARGET.read_text() == text:
            return 0
        print(f"{TARGET} is not what {source} says; run {Path(__file__).name} {source}", file=sys.stderr)
        return 1
    TARGET.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
