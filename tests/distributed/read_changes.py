"""Reads a topic of changes with the clients of Confluent, to its end, and prints each change as a line of JSON.

Usage: read_changes.py BROKERS TOPIC REGISTRY. A record in the wire format of Confluent is read by the schema that the
registry has for its id; any other record must be JSON. Exits 3 when the clients are not installed.
"""

import json
import sys

try:
    from confluent_kafka import Consumer, KafkaError, TopicPartition
    from confluent_kafka.schema_registry import SchemaRegistryClient
    from confluent_kafka.schema_registry.avro import AvroDeserializer
    from confluent_kafka.serialization import MessageField, SerializationContext
except ImportError as missing:
    sys.exit(print(f"Confluent's clients are not installed: {missing}", file=sys.stderr) or 3)


def plain(value):
    """As JSON shows it: ids and digests in hexadecimal, moments to the millisecond."""
    if isinstance(value, bytes):
        return value.hex()
    if hasattr(value, "isoformat"):
        return value.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value


def main():
    brokers, topic, registry = sys.argv[1:]
    decode = AvroDeserializer(SchemaRegistryClient({"url": registry}))
    consumer = Consumer({
        "bootstrap.servers": brokers, "group.id": "a-third-party", "enable.auto.commit": False, "enable.partition.eof": True,
    })
    partitions = consumer.list_topics(topic, timeout=30).topics[topic].partitions
    consumer.assign([TopicPartition(topic, number, 0) for number in partitions])
    open_partitions = set(partitions)
    while open_partitions:
        record = consumer.poll(30)
        assert record is not None, "the broker does not answer"
        if record.error():
            assert record.error().code() == KafkaError._PARTITION_EOF, record.error()
            open_partitions.discard(record.partition())
            continue
        value = record.value()
        if value[0] == 0:
            form, change = "confluent", decode(value, SerializationContext(topic, MessageField.VALUE))
        else:
            form, change = "json", json.loads(value)
        assert record.key().hex() == plain(change["page_id"])
        print(json.dumps({"form": form, "change": plain(change)}))
    consumer.close()


main()
