"""Makes requests from the OpenAPI document of a port, with and without keys, and checks the answers against it.

usage: api.py ADDRESS REQUESTS DIRECTORY KEYS
KEYS is JSON: the token of each role. DIRECTORY is where backups may be made. Prints the number of answers by status as
JSON. Exits with 1 if an answer is not as the document says, is a fault of the server, or an act beyond the key's right.
"""

import json
import sys
from collections import Counter

import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
# Rank of the roles, and of a key for some hosts, which is an admin's.
RANKS = {None: 0, "viewer": 1, "operator": 2, "admin": 3, "some_hosts": 3}
# A key for some hosts never gives these.
OF_THE_WHOLE_CRAWL = {"addFocus", "removeFocus", "createBackup", "showPeople", "showPeopleHead"}
# Bodies that work: text made by chance seldom names a page.
PAGES = "http://www.mine.test/a\nhttp://other.test/b?c=d"
HOSTS = "www.mine.test\nother.test"
PROTECTION = {"x-content-type-options": "nosniff", "cache-control": "no-store"}

address, count, directory, keys = sys.argv[1], int(sys.argv[2]), sys.argv[3], json.loads(sys.argv[4])
session = requests.Session()
session.trust_env = False
document = session.get(f"{address}/openapi.json", timeout=60).json()
operations = [result.ok() for result in schemathesis.openapi.from_dict(document).get_all_operations()]
statuses, faults = Counter(), []


def prepare(case, number, role):
    """Gives a generated request the headers of its sender, and now and then a body that works."""
    operation = case.operation.definition.raw
    name = operation["operationId"]
    headers = case.headers
    headers.pop("Authorization", None)
    if number % 10:
        # Any text in it is another crawl.
        headers.pop("x-recrawl-log", None)
    if number % 3 == 0 and "x-role" in operation:
        headers["x-recrawl-command"] = "1"
    if role is not None:
        headers["Authorization"] = f"Bearer {keys[role]}"
    if name == "createBackup":
        # Nowhere else: what is made up may be a directory of this machine.
        case.body, case.media_type = f"{directory}/{number % 3}", "text/plain"
    elif "requestBody" in operation and "x-role" in operation and number % 3 == 0:
        case.body = HOSTS if "Hosts" in name or "Sites" in name else PAGES
        case.media_type = "text/plain"


def examine(case, number, role):
    prepare(case, number, role)
    response = case.call(base_url=address, session=session, timeout=60)
    operation = case.operation.definition.raw
    statuses[response.status_code] += 1
    needed = operation.get("x-role")
    is_done = 200 <= response.status_code < 300
    is_beyond = RANKS[role] < RANKS[needed] or (role == "some_hosts" and operation["operationId"] in OF_THE_WHOLE_CRAWL)
    why = []
    if is_done and is_beyond:
        why.append("an act without the right")
    for header, value in PROTECTION.items():
        if response.headers.get(header) != [value]:
            why.append(f"{header}: {response.headers.get(header)}")
    try:
        case.validate_response(response, checks=CHECKS)
    except BaseException as failure:  # Failures of checks come in a group of exceptions.
        why.append(f"{failure!r}: {getattr(failure, 'exceptions', '')}")
    if why:
        faults.append([operation["operationId"], role, case.method, response.status_code, str(case.body)[:200], why])


# Routes that are open to all answer all alike: two callers are enough.
combinations = [
    (operation, mode, role)
    for operation in operations
    for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
    for role in RANKS
    if "x-role" in operation.definition.raw or role in (None, "admin")
]
share = max(3, count // len(combinations))


def run(operation, mode, role, number):
    examples = settings(
        max_examples=share,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    made = [number]

    @seed(number)
    @examples
    @given(case=operation.as_strategy(generation_mode=mode))
    def ask(case):
        made[0] += 1
        examine(case, made[0], role)

    ask()


number = 0
# Routes with few parameters have few different requests, and where nothing can be wrong there are no wrong ones.
# Further rounds over the others make up for those.
while combinations and sum(statuses.values()) < count and not faults:
    fruitful = []
    for combination in combinations:
        number += 1_000
        before = sum(statuses.values())
        try:
            run(*combination, number)
        except Unsatisfiable:
            pass
        if sum(statuses.values()) - before >= share:
            fruitful.append(combination)
    combinations = fruitful

print(json.dumps({"requests": sum(statuses.values()), "statuses": {str(k): v for k, v in sorted(statuses.items())}}))
for fault in faults[:20]:
    print(json.dumps(fault, default=str), file=sys.stderr)
print(f"{len(faults)} faults", file=sys.stderr)
sys.exit(1 if faults else 0)
