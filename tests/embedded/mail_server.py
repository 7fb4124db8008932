"""A mail server by others (aiosmtpd). It writes each mail as a line of JSON into a file, and its port on stdout.

It ends with its standard input. Without aiosmtpd it ends with status 3.
"""

import asyncio
import json
import sys
from email import message_from_bytes, policy

try:
    from aiosmtpd.smtp import SMTP
except ImportError:
    sys.exit(3)


class Keep:
    """Greylists each mail once, and keeps what comes again."""

    def __init__(self, path):
        self.path = path
        self.known = set()

    async def handle_DATA(self, server, session, envelope):
        mail = message_from_bytes(envelope.content, policy=policy.default)
        identity = mail["Message-ID"]
        if identity not in self.known:
            self.known.add(identity)
            return "451 4.7.1 come back later"
        parts = {part.get_content_type(): part.get_content() for part in mail.walk() if not part.is_multipart()}
        defects = [str(defect) for part in mail.walk() for defect in part.defects]
        record = {
            "to": envelope.rcpt_tos,
            "id": identity,
            "subject": mail["Subject"],
            "references": mail["References"],
            "date": mail["Date"].datetime.isoformat(),
            "parts": parts,
            "defects": defects,
        }
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
        return "250 2.0.0 taken"


async def main():
    keep = Keep(sys.argv[1])
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: SMTP(keep, hostname="test"), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()


asyncio.run(main())
