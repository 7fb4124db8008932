#!/usr/bin/env python3
"""Keeps a table of the changes of a crawl over Kafka, each once.

usage: consume_changes.py BROKERS [--prefix recrawl.] [--database changes.db] [--until-end] [--set NAME=VALUE …]

The position is kept in the database, in the transaction that keeps the changes. So after a kill at any moment no change is
lost or there twice. --until-end ends when all that is there now is read. --set gives settings to the client of Kafka, such as
security.protocol=SASL_SSL.
"""

import argparse
import io
import json
import sqlite3
import sys

import fastavro
from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, TopicPartition

BATCH = 500
# Changes are kept for 30 days. A consumer that was away for longer begins with the oldest that is there.
SETTINGS = {"isolation.level": "read_committed", "enable.auto.commit": False, "auto.offset.reset": "earliest"}


class Schemas:
    """The writers' schemas, from the topic that has all of them: no registry is needed."""

    def __init__(self, settings, topic):
        # A consumer of its own, so that it can be read again up to its end.
        self._consumer = Consumer({**SETTINGS, **settings, "enable.partition.eof": True})
        self._topic = topic
        self._next = OFFSET_BEGINNING
        self._known = {}

    def of(self, key):
        if key not in self._known:
            self._read_on()
        if key not in self._known:
            raise LookupError(f"the topic {self._topic} has no schema {key.hex()} yet; start again later")
        return self._known[key]

    def _read_on(self):
        self._consumer.assign([TopicPartition(self._topic, 0, self._next)])
        for record in records(self._consumer, 1):
            self._known[record.key()] = fastavro.parse_schema(json.loads(record.value()))
            self._next = record.offset() + 1

    def close(self):
        self._consumer.close()


def records(consumer, partitions):
    """All records up to the ends of some partitions."""
    while partitions:
        record = consumer.poll(30)
        if record is None:
            raise ConnectionError("the brokers do not answer")
        if record.error() is None:
            yield record
        elif record.error().code() == KafkaError._PARTITION_EOF:
            partitions -= 1
        else:
            raise KafkaException(record.error())


def decoded(value, schemas):
    """The change in a record, whatever `output.format` was when it was written."""
    if value[:2] == b"\xc3\x01":  # Avro's single object: the fingerprint of the schema, and the datum
        return datum(value[10:], schemas.of(value[2:10]))
    if value[:1] == b"\x00":  # the form of Confluent: the id of the schema, and the datum
        return datum(value[5:], schemas.of(value[:5]))
    return json.loads(value)


def datum(value, schema):
    return fastavro.schemaless_reader(io.BytesIO(value), schema)


def text_of(value):
    """Ids as hexadecimal digits, and moments as RFC 3339, as the form JSON has them."""
    if isinstance(value, bytes):
        return value.hex()
    if hasattr(value, "isoformat"):
        return value.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return value


def opened(path):
    database = sqlite3.connect(path)
    database.executescript(
        """
        CREATE TABLE IF NOT EXISTS positions (part INTEGER PRIMARY KEY, next INTEGER NOT NULL);
        CREATE TABLE IF NOT EXISTS changes (
            change_id TEXT PRIMARY KEY, page_id TEXT NOT NULL, url TEXT NOT NULL, verdict TEXT NOT NULL,
            seen_at TEXT NOT NULL, title TEXT, magnitude REAL NOT NULL);
        CREATE INDEX IF NOT EXISTS changes_of_pages ON changes (page_id);
        """
    )
    return database


def keep(database, partition, offset, change):
    row = {name: text_of(change.get(name)) for name in
           ("change_id", "page_id", "url", "verdict", "seen_at", "title", "magnitude")}
    if row["verdict"] == "forgotten":
        # The operator takes back what was published of the page.
        database.execute("DELETE FROM changes WHERE page_id = :page_id", row)
    database.execute(
        "INSERT OR IGNORE INTO changes VALUES (:change_id, :page_id, :url, :verdict, :seen_at, :title, :magnitude)", row)
    database.execute("INSERT OR REPLACE INTO positions VALUES (?, ?)", (partition, offset + 1))


def consume(arguments):
    settings = dict(setting.split("=", 1) for setting in arguments.set)
    settings = {"bootstrap.servers": arguments.brokers, "group.id": "consume-changes-example", **settings}
    topic = arguments.prefix + "page-changes"
    database, schemas = opened(arguments.database), Schemas(settings, arguments.prefix + "schemas")
    consumer = Consumer({**SETTINGS, **settings, "enable.partition.eof": arguments.until_end})
    partitions = sorted(consumer.list_topics(topic, timeout=30).topics[topic].partitions)
    if not partitions:
        sys.exit(f"there is no topic {topic}: recrawl topics create makes it")
    next_offsets = dict(database.execute("SELECT part, next FROM positions"))
    # The group's offsets are not used: those of the database are in step with its changes.
    consumer.assign([TopicPartition(topic, part, next_offsets.get(part, OFFSET_BEGINNING)) for part in partitions])
    open_partitions, count = set(partitions), 0
    while open_partitions:
        batch = consumer.consume(BATCH, timeout=1.0)
        with database:  # one transaction
            for record in batch:
                if record.error() is None:
                    keep(database, record.partition(), record.offset(), decoded(record.value(), schemas))
                    count += 1
                elif record.error().code() == KafkaError._PARTITION_EOF:
                    open_partitions.discard(record.partition())
                else:
                    raise KafkaException(record.error())
    consumer.close()
    schemas.close()
    print(f"{count} changes read", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("brokers")
    parser.add_argument("--prefix", default="recrawl.")
    parser.add_argument("--database", default="changes.db")
    parser.add_argument("--until-end", action="store_true")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    consume(parser.parse_args())


if __name__ == "__main__":
    main()
