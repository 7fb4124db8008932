import java.util.List;
import java.util.Map;
import org.apache.kafka.common.errors.PolicyViolationException;
import org.apache.kafka.server.policy.CreateTopicPolicy;

/** Refuses the settings of segments, as some managed services do. Compiled by `javac --release 17` against Kafka's jars. */
public class RefusesSegments implements CreateTopicPolicy {
    public void configure(Map<String, ?> configs) {}

    public void validate(RequestMetadata topic) {
        for (String name : List.of("segment.bytes", "segment.ms")) {
            // The broker's own topics have them.
            if (topic.configs().containsKey(name) && !topic.topic().startsWith("__")) {
                throw new PolicyViolationException("this service does not let you set " + name);
            }
        }
    }

    public void close() {}
}
