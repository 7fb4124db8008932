"""Asks a server of the Model Context Protocol with the client of the protocol's authors, and prints what it saw as JSON.

usage: mcp_client.py COMMAND ARGUMENTS…

The client checks each message and each structured result by their schemas. It is asked to speak as it does today, and as it did
before the revision 2026-07-28. Exits with 1 if an answer is not as the protocol wants it.
"""

import json
import os
import sys

import anyio
from mcp import Client, StdioServerParameters


async def seen(mode):
    server = StdioServerParameters(command=sys.argv[1], args=sys.argv[2:], env=dict(os.environ))
    async with Client(server, mode=mode, read_timeout_seconds=60) as client:
        tools = (await client.list_tools()).tools
        changes = await client.call_tool("list_changes", {"cursor": "first", "limit": 3})
        url = changes.structured_content["untrusted"]["changes"][0]["url"]
        results = {"list_changes": changes}
        for name, arguments in (
            ("get_page", {"url": url}),
            ("read_page", {"url": url, "characters": 100}),
            ("list_versions", {"url": url}),
            ("search_pages", {"text": "host"}),
            ("list_pages", {"limit": 2}),
            ("get_status", {}),
        ):
            results[name] = await client.call_tool(name, arguments)
        wrong = await client.call_tool("read_page", {"url": "no address"})
        return {
            "revision": client.protocol_version,
            "server": client.server_info.name,
            "tools": sorted(tool.name for tool in tools),
            "failed": sorted(name for name, result in results.items() if result.is_error),
            "wrong_is_an_error": wrong.is_error,
        }


async def main():
    print(json.dumps({mode: await seen(mode) for mode in ("auto", "legacy")}))


anyio.run(main)
