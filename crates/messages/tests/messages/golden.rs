//! `schemas/golden/next.json`: bytes of every record as this program writes them, and what they mean. A release keeps a
//! copy under its version, which never changes.

use crate::compatibility::released;
use crate::every::{RecordType, record_types, schemas_directory};
use messages::schemas::learn;
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Once;

fn golden_file(version: &str) -> PathBuf {
    schemas_directory().join("golden").join(format!("{version}.json"))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

/// By the name of the record: for each sample a line of bytes and a line of meaning.
fn render() -> String {
    let entry = |record: &RecordType, bytes: &Vec<u8>| {
        format!(
            "    {{\n      \"hex\": {},\n      \"value\": {}\n    }}",
            json!(hex(bytes)),
            (record.show)(bytes).unwrap()
        )
    };
    let entries = |record: &RecordType| record.samples.iter().map(|bytes| entry(record, bytes)).collect::<Vec<_>>();
    let record = |record: &RecordType| format!("  \"{}\": [\n{}\n  ]", record.name, entries(record).join(",\n"));
    format!("{{\n{}\n}}\n", record_types().iter().map(record).collect::<Vec<_>>().join(",\n"))
}

/// Tests run side by side, so each that reads the files waits for this.
fn update_when_asked() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(golden_file("next"), render()).unwrap();
        }
    });
}

#[test]
fn the_program_writes_the_golden_bytes() {
    update_when_asked();
    let (expected, found) = (render(), std::fs::read_to_string(golden_file("next")).unwrap_or_default());
    let first = expected.lines().zip(found.lines()).find(|(expected, found)| expected != found);
    let hint = "run the test with UPDATE=1 if they are meant to differ";
    assert!(found == expected, "schemas/golden/next.json holds other bytes; {hint}: {first:#?}");
}

#[test]
fn the_golden_bytes_of_every_version_mean_what_they_meant() {
    update_when_asked();
    let records = record_types();
    for record in &records {
        for text in released(record.name) {
            learn(text.as_bytes(), None).unwrap();
        }
    }
    for file in std::fs::read_dir(schemas_directory().join("golden")).unwrap() {
        let path = file.unwrap().path();
        let golden: Map<String, Value> = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        for (name, entries) in &golden {
            let record = records.iter().find(|record| record.name == name).unwrap();
            for entry in entries.as_array().unwrap() {
                let shown = (record.show)(&unhex(entry["hex"].as_str().unwrap())).unwrap();
                assert_still_means(&format!("{name} in {}", path.display()), &entry["value"], &shown);
            }
        }
    }
}

/// A newer struct may have more fields than the bytes, and no longer have some of them.
fn assert_still_means(place: &str, meant: &Value, shown: &Value) {
    let (Value::Object(fields), Value::Object(shown)) = (meant, shown) else {
        return assert_eq!(meant, shown, "{place}");
    };
    for (name, meant) in fields {
        if let Some(shown) = shown.get(name) {
            assert_still_means(&format!("{place}: {name}"), meant, shown);
        }
    }
}

/// fastavro reads the golden bytes by the schemas alone, and writes the same bytes again. `RECRAWL_PYTHON` names a
/// Python that has it (`make setup` makes one); without it the test says that it is left out, except on CI.
#[test]
fn a_foreign_reader_agrees() {
    update_when_asked();
    let left_out = |why: &str| {
        assert!(std::env::var_os("CI").is_none(), "the foreign reader cannot run: {why}");
        println!("LEFT OUT: golden records are not read by fastavro: {why}");
    };
    let Some(python) = std::env::var_os("RECRAWL_PYTHON") else {
        return left_out("RECRAWL_PYTHON is not set");
    };
    let script = corpora::workspace().join("crates/messages/tests/foreign/decode.py");
    let output = match Command::new(&python).arg(script).arg(schemas_directory()).output() {
        Ok(output) => output,
        Err(error) => return left_out(&format!("{}: {error}", python.display())),
    };
    let (said, complained) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    match output.status.code() {
        Some(3) => left_out(complained.trim()),
        Some(0) => {
            let expected: usize = record_types().iter().map(|record| record.samples.len()).sum();
            let said: usize = said.trim().strip_suffix(" golden records agree").unwrap().parse().unwrap();
            assert!(said >= expected, "{said} of {expected} golden records were read");
        }
        _ => panic!("{said}{complained}"),
    }
}
