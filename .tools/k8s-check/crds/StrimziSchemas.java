// Prints the schemas of Strimzi's custom resources, API v1, as JSON. Strimzi publishes no Go module with them, but its API
// classes carry everything, in annotations that this package name makes visible.
package io.strimzi.crdgenerator.annotations;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.introspect.AnnotatedMember;
import com.fasterxml.jackson.databind.introspect.BeanPropertyDefinition;
import java.lang.annotation.Annotation;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

// The annotations of Strimzi's generator that say what a value may be.
@Retention(RetentionPolicy.RUNTIME) @interface PresentInVersions { String value(); }
@Retention(RetentionPolicy.RUNTIME) @interface RequiredInVersions { String value(); }
@Retention(RetentionPolicy.RUNTIME) @interface Minimum { int value(); }
@Retention(RetentionPolicy.RUNTIME) @interface Maximum { int value(); }
@Retention(RetentionPolicy.RUNTIME) @interface MinimumItems { int value(); }
@Retention(RetentionPolicy.RUNTIME) @interface Pattern { String value(); }

final class StrimziSchemas {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final Map<String, Object> ANYTHING = Map.of("x-kubernetes-preserve-unknown-fields", true);
    private static final String MODEL = "io.strimzi.api.kafka.model.";

    public static void main(String[] arguments) throws Exception {
        Map<String, Object> kinds = new TreeMap<>();
        for (String name : List.of("kafka.Kafka", "nodepool.KafkaNodePool", "topic.KafkaTopic", "user.KafkaUser")) {
            Class<?> kind = Class.forName(MODEL + name);
            Map<String, Object> schema = schema(MAPPER.constructType(kind));
            @SuppressWarnings("unchecked")
            Map<String, Object> properties = (Map<String, Object>) schema.get("properties");
            properties.keySet().retainAll(List.of("apiVersion", "kind", "metadata", "spec"));
            properties.put("metadata", new TreeMap<>(Map.of("type", "object", "x-kubernetes-preserve-unknown-fields", true)));
            schema.put("required", List.of("spec"));
            kinds.put("kafka.strimzi.io/v1 " + kind.getSimpleName(), schema);
        }
        System.out.println(MAPPER.writeValueAsString(kinds));
    }

    private static Map<String, Object> schema(JavaType type) throws Exception {
        Class<?> raw = type.getRawClass();
        if (raw == String.class) return of("type", "string");
        if (raw == boolean.class || raw == Boolean.class) return of("type", "boolean");
        if (raw == int.class || raw == long.class || raw == Integer.class || raw == Long.class) return of("type", "integer");
        if (raw == double.class || raw == float.class || raw == Double.class || raw == Float.class) return of("type", "number");
        if (raw.isEnum()) {
            List<Object> names = new ArrayList<>();
            for (Object constant : raw.getEnumConstants()) names.add(MAPPER.convertValue(constant, String.class));
            Map<String, Object> schema = of("type", "string");
            schema.put("enum", names);
            return schema;
        }
        if (type.isCollectionLikeType() || type.isArrayType()) {
            Map<String, Object> schema = of("type", "array");
            schema.put("items", schema(type.getContentType()));
            return schema;
        }
        // Maps, and types of Kubernetes' own API.
        if (!raw.getName().startsWith(MODEL)) {
            return raw.getSimpleName().equals("Quantity") ? of("x-kubernetes-int-or-string", true) : new TreeMap<>(ANYTHING);
        }
        Map<String, Object> properties = new TreeMap<>();
        TreeSet<String> required = new TreeSet<>();
        JsonSubTypes variants = raw.getAnnotation(JsonSubTypes.class);
        JsonTypeInfo told = raw.getAnnotation(JsonTypeInfo.class);
        if (variants == null) {
            collect(type, properties, required);
        } else {
            // One object with the fields of all variants, as in Strimzi's own definitions.
            List<Object> names = new ArrayList<>();
            for (JsonSubTypes.Type variant : variants.value()) {
                names.add(variant.name());
                collect(MAPPER.constructType(variant.value()), properties, new TreeSet<>());
            }
            String field = told == null || told.property().isEmpty() ? "type" : told.property();
            Map<String, Object> which = of("type", "string");
            which.put("enum", names);
            properties.put(field, which);
            required.add(field);
        }
        Map<String, Object> schema = of("type", "object");
        schema.put("properties", properties);
        if (!required.isEmpty()) schema.put("required", required);
        return schema;
    }

    private static void collect(JavaType type, Map<String, Object> properties, TreeSet<String> required) throws Exception {
        for (BeanPropertyDefinition property : MAPPER.getSerializationConfig().introspect(type).findProperties()) {
            AnnotatedMember getter = property.getAccessor();
            if (getter == null || property.getName().equals("additionalProperties")) continue;
            PresentInVersions present = annotation(property, PresentInVersions.class);
            if (present != null && !hasV1(present.value())) continue;
            Map<String, Object> schema = new LinkedHashMap<>(schema(getter.getType()));
            Minimum minimum = annotation(property, Minimum.class);
            if (minimum != null) schema.put("minimum", minimum.value());
            Maximum maximum = annotation(property, Maximum.class);
            if (maximum != null) schema.put("maximum", maximum.value());
            Pattern pattern = annotation(property, Pattern.class);
            if (pattern != null) schema.put("pattern", pattern.value());
            MinimumItems items = annotation(property, MinimumItems.class);
            if (items != null) schema.put("minItems", items.value());
            properties.put(property.getName(), schema);
            RequiredInVersions needed = annotation(property, RequiredInVersions.class);
            if (property.isRequired() || (needed != null && hasV1(needed.value()))) required.add(property.getName());
        }
    }

    private static <A extends Annotation> A annotation(BeanPropertyDefinition property, Class<A> kind) {
        A found = property.getGetter() == null ? null : property.getGetter().getAnnotated().getAnnotation(kind);
        if (found == null && property.getField() != null) found = property.getField().getAnnotated().getAnnotation(kind);
        return found;
    }

    /** Whether a range of versions, such as "v1alpha1-v1beta2" or "v1beta2+", contains v1. */
    private static boolean hasV1(String range) {
        return range.endsWith("+") || range.endsWith("v1") || range.equals("all");
    }

    private static Map<String, Object> of(String key, Object value) {
        return new TreeMap<>(Map.of(key, value));
    }
}
