//! `schemas/golden/<Name>.v<N>.json`: bytes as version N writes them, and what they mean. Once released, a file never
//! changes; `UPDATE=1` writes the newest version's only.

use crate::compatibility::released;
use crate::every::{RecordType, record_types, schemas_directory};
use messages::schemas::learn;
use serde_json::{Value, json};
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Once;

fn golden_file(record: &RecordType, version: usize) -> PathBuf {
    schemas_directory().join("golden").join(format!("{}.v{version}.json", record.name))
}

/// The version of a record that this program writes: the released one it equals, or the next.
fn version(record: &RecordType) -> usize {
    let released = released(record.name);
    let is_current = |text: &String| learn(text.as_bytes(), None) == Ok(record.fingerprint);
    released.iter().position(is_current).unwrap_or(released.len()) + 1
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

/// One line of bytes and one line of meaning per sample.
fn render(record: &RecordType) -> String {
    let entry = |bytes: &Vec<u8>| {
        format!("  {{\n    \"hex\": {},\n    \"value\": {}\n  }}", json!(hex(bytes)), (record.show)(bytes).unwrap())
    };
    format!("[\n{}\n]\n", record.samples.iter().map(entry).collect::<Vec<_>>().join(",\n"))
}

/// Tests run side by side, so each that reads the files waits for this.
fn update_when_asked() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        if std::env::var_os("UPDATE").is_some() {
            std::fs::create_dir_all(schemas_directory().join("golden")).unwrap();
            for record in record_types() {
                std::fs::write(golden_file(&record, version(&record)), render(&record)).unwrap();
            }
        }
    });
}

#[test]
fn the_newest_version_writes_the_golden_bytes() {
    update_when_asked();
    for record in record_types() {
        let file = golden_file(&record, version(&record));
        let expected = render(&record);
        let found = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(
            found == expected,
            "{} writes other bytes than {} holds; run the test with UPDATE=1 if they are meant to differ",
            record.name,
            file.display(),
        );
    }
}

#[test]
fn the_golden_bytes_of_every_version_mean_what_they_meant() {
    update_when_asked();
    for record in record_types() {
        for text in released(record.name) {
            learn(text.as_bytes(), None).unwrap();
        }
        for version in 1..=version(&record) {
            let golden = std::fs::read_to_string(golden_file(&record, version)).unwrap();
            let golden: Vec<Value> = serde_json::from_str(&golden).unwrap();
            assert!(!golden.is_empty());
            for entry in golden {
                let shown = (record.show)(&unhex(entry["hex"].as_str().unwrap())).unwrap();
                // A newer struct may have more fields than the bytes, and no longer have some of them.
                for (field, value) in entry["value"].as_object().unwrap() {
                    let Some(shown) = shown.get(field) else { continue };
                    assert_eq!(shown, value, "{} v{version}, {field}", record.name);
                }
            }
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
        // Not eprintln!, which the test harness would hide.
        let _ = writeln!(std::io::stderr(), "\nleft out: a_foreign_reader_agrees ({why})");
    };
    let Some(python) = std::env::var_os("RECRAWL_PYTHON") else {
        return left_out("RECRAWL_PYTHON is not set");
    };
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/foreign/decode.py");
    let output = match Command::new(&python).arg(script).arg(schemas_directory()).output() {
        Ok(output) => output,
        Err(error) => return left_out(&format!("{}: {error}", python.display())),
    };
    let (said, complained) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    match output.status.code() {
        Some(3) => left_out(complained.trim()),
        Some(0) => {
            let expected: usize = record_types().iter().map(version).sum();
            assert_eq!(said.trim(), format!("{expected} golden files agree"));
        }
        _ => panic!("{said}{complained}"),
    }
}
