//! Types shared by several schemas, each defined in a file of `schemas/parts`.
//!
//! A schema refers to a part by name. [`with_parts`] replaces the first reference by the definition, so that the schema
//! on the wire and on the topic `schemas` is self-contained.

use serde_json::Value;

const PARTS: [(&str, &str); 13] = [
    ("ChangeBelief", include_str!("../../../schemas/parts/ChangeBelief.avsc")),
    ("ChangedUnit", include_str!("../../../schemas/parts/ChangedUnit.avsc")),
    ("WatchedValue", include_str!("../../../schemas/parts/WatchedValue.avsc")),
    ("DateSource", include_str!("../../../schemas/parts/DateSource.avsc")),
    ("Exchange", include_str!("../../../schemas/parts/Exchange.avsc")),
    ("FetchOutcome", include_str!("../../../schemas/parts/FetchOutcome.avsc")),
    ("Hop", include_str!("../../../schemas/parts/Hop.avsc")),
    ("Look", include_str!("../../../schemas/parts/Look.avsc")),
    ("LookJudgement", include_str!("../../../schemas/parts/LookJudgement.avsc")),
    ("PageDate", include_str!("../../../schemas/parts/PageDate.avsc")),
    ("FocusRelevance", include_str!("../../../schemas/parts/FocusRelevance.avsc")),
    ("Validators", include_str!("../../../schemas/parts/Validators.avsc")),
    ("Verdict", include_str!("../../../schemas/parts/Verdict.avsc")),
];

/// The text of a schema file with its parts inlined. Text that is not JSON is left unchanged.
pub fn with_parts(schema: &str) -> String {
    let Ok(mut json) = serde_json::from_str(schema) else { return schema.to_owned() };
    define(&mut json, &mut PARTS.to_vec());
    json.to_string()
}

/// Inlines the parts that a type refers to. Parts that are already defined are removed from `undefined`.
fn define(schema: &mut Value, undefined: &mut Vec<(&str, &str)>) {
    match schema {
        Value::String(name) => {
            if let Some(place) = undefined.iter().position(|(part, _)| part == name) {
                let (_, definition) = undefined.remove(place);
                *schema = serde_json::from_str(definition).expect("a part is JSON; a test reads them all");
                define(schema, undefined);
            }
        }
        Value::Array(types) => types.iter_mut().for_each(|one| define(one, undefined)),
        Value::Object(members) => {
            for inner in ["type", "items", "fields"] {
                members.get_mut(inner).into_iter().for_each(|one| define(one, undefined));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use apache_avro::Schema;

    #[test]
    fn a_part_is_defined_at_its_first_mention_and_named_after_it() {
        let field = |name: &str| format!(r#"{{"name": "{name}", "type": "Validators"}}"#);
        let fields = format!("{}, {}", field("sent"), field("received"));
        let schema = format!(r#"{{"type": "record", "name": "T", "namespace": "recrawl", "fields": [{fields}]}}"#);
        assert!(Schema::parse_str(&schema).is_err(), "the name alone defines nothing");
        assert!(Schema::parse_str(&with_parts(&schema)).is_ok());
    }

    #[test]
    fn every_part_file_is_known() {
        let directory = corpora::workspace().join("schemas/parts");
        let files = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name());
        let mut files: Vec<_> = files.map(|name| name.into_string().unwrap()).collect();
        assert!(PARTS.iter().all(|(_, text)| serde_json::from_str::<Value>(text).is_ok()));
        let mut known: Vec<_> = PARTS.iter().map(|(name, _)| format!("{name}.avsc")).collect();
        files.sort();
        known.sort();
        assert_eq!(files, known);
    }
}
