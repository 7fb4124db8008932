import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.DecoderFactory;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Prints the changes of a crawl over Kafka, one JSON object a line, and goes on where it stopped.
 *
 * <p>usage: ConsumeChanges BROKERS [PREFIX] [GROUP]. Any number of processes of a group share the partitions. The group's position is
 * committed behind changes that are printed: after a kill the last ones come again, with the same change_id, and none is lost.
 */
public final class ConsumeChanges {
    private static final Duration WAIT = Duration.ofSeconds(1);

    private final Schemas schemas;

    private ConsumeChanges(Schemas schemas) {
        this.schemas = schemas;
    }

    public static void main(String[] arguments) throws IOException {
        if (arguments.length < 1 || arguments.length > 3) {
            System.err.println("usage: ConsumeChanges BROKERS [PREFIX] [GROUP]");
            System.exit(2);
        }
        String prefix = arguments.length > 1 ? arguments[1] : "recrawl.";
        String group = arguments.length > 2 ? arguments[2] : "consume-changes-example";
        try (Schemas schemas = new Schemas(arguments[0], prefix + "schemas");
                KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(settings(arguments[0], group))) {
            Thread main = Thread.currentThread();
            // Ctrl-C and SIGTERM end it between two batches, with the position of what is printed.
            Runtime.getRuntime().addShutdownHook(new Thread(() -> {
                consumer.wakeup();
                try {
                    main.join();
                } catch (InterruptedException interrupted) {
                    Thread.currentThread().interrupt();
                }
            }));
            consumer.subscribe(List.of(prefix + "page-changes"));
            new ConsumeChanges(schemas).follow(consumer);
        }
    }

    static Properties settings(String brokers, String group) {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", brokers);
        settings.put("group.id", group);
        settings.put("key.deserializer", ByteArrayDeserializer.class.getName());
        settings.put("value.deserializer", ByteArrayDeserializer.class.getName());
        settings.put("enable.auto.commit", "false");
        settings.put("auto.offset.reset", "earliest");
        // The default of Java's client also shows records of transactions that were aborted.
        settings.put("isolation.level", "read_committed");
        return settings;
    }

    private void follow(KafkaConsumer<byte[], byte[]> consumer) throws IOException {
        try {
            while (true) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(WAIT)) {
                    System.out.println(json(record.value()));
                }
                // A closed pipe must not count as printed.
                if (System.out.checkError()) {
                    return;
                }
                consumer.commitSync();
            }
        } catch (WakeupException stopped) {
            // Asked to end. What was polled last is printed, and nothing else was polled.
            consumer.commitSync();
        }
    }

    /** The change in a record, whatever output.format was when it was written. */
    private String json(byte[] value) throws IOException {
        if (value.length > 10 && value[0] == (byte) 0xC3 && value[1] == 1) {
            return datum(schemas.of(value, 2, 8), value, 10); // Avro's single object: the schema's fingerprint, and the datum
        }
        if (value.length > 5 && value[0] == 0) {
            return datum(schemas.of(value, 0, 5), value, 5); // the form of Confluent: the schema's id, and the datum
        }
        return new String(value, StandardCharsets.UTF_8);
    }

    private static String datum(Schema schema, byte[] value, int offset) throws IOException {
        var decoder = DecoderFactory.get().binaryDecoder(value, offset, value.length - offset, null);
        GenericRecord change = new GenericDatumReader<GenericRecord>(schema).read(null, decoder);
        return change.toString();
    }

    /** The writers' schemas, from the topic that has all of them: no registry is needed. */
    private static final class Schemas implements AutoCloseable {
        private final KafkaConsumer<byte[], byte[]> consumer;
        private final TopicPartition place;
        private final Map<String, Schema> known = new HashMap<>();

        Schemas(String brokers, String topic) {
            Properties settings = settings(brokers, "unused");
            settings.remove("group.id");
            consumer = new KafkaConsumer<>(settings);
            place = new TopicPartition(topic, 0);
            Collection<TopicPartition> all = List.of(place);
            consumer.assign(all);
            consumer.seekToBeginning(all);
        }

        Schema of(byte[] value, int from, int length) {
            String key = HexFormat.of().formatHex(value, from, from + length);
            if (!known.containsKey(key)) {
                readOn();
            }
            Schema schema = known.get(key);
            if (schema == null) {
                throw new IllegalStateException("the topic " + place.topic() + " has no schema " + key + " yet; start again later");
            }
            return schema;
        }

        private void readOn() {
            long end = consumer.endOffsets(List.of(place)).get(place);
            while (consumer.position(place) < end) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(WAIT)) {
                    String text = StandardCharsets.UTF_8.decode(ByteBuffer.wrap(record.value())).toString();
                    known.put(HexFormat.of().formatHex(record.key()), new Schema.Parser().parse(text));
                }
            }
        }

        @Override
        public void close() {
            consumer.close();
        }
    }
}
