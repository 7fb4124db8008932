//! The document of the port, and the page that is written from the same table.

use crate::port::{echo, get, port_with, sent};
use daemon::http::{Access, STEP_TIMEOUT, openapi, reference, routes};
use serde_json::Value;
use std::io::Read;
use std::path::Path;

#[test]
fn the_page_is_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/API.md");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, reference()).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == reference(),
        "docs/API.md is stale: UPDATE=1 cargo test -p daemon --test integration api_document"
    );
}

#[test]
fn the_port_serves_the_document_and_it_has_every_route_and_no_other() {
    let (_open, address) = port_with(STEP_TIMEOUT, echo);
    let mut text = String::new();
    sent(address, &get("/openapi.json")).read_to_string(&mut text).unwrap();
    let served: Value = serde_json::from_str(text.split_once("\r\n\r\n").unwrap().1).unwrap();
    assert_eq!(served, openapi());
    assert_eq!(served["openapi"], "3.1.0");
    let paths = served["paths"].as_object().unwrap();
    let operations = |name: &'static str| paths.values().filter(move |path| path.get(name).is_some()).count();
    let described: usize = ["get", "post", "delete", "put", "patch", "trace"].map(operations).iter().sum();
    assert_eq!(described, routes().count());
    assert_eq!(operations("head"), routes().filter(|route| route.has_head()).count());
    assert_eq!(operations("options"), paths.len());
    for route in routes() {
        let operation = &paths[route.path][route.method.name().to_ascii_lowercase()];
        assert_eq!(operation["operationId"], route.id);
        let role = operation["x-role"].as_str();
        match route.access {
            Access::Role(needed) => assert_eq!(role, Some(needed.word()), "{}", route.id),
            Access::Open | Access::Sender => assert_eq!(role, None, "{}", route.id),
        }
        assert!(!operation.to_string().contains("]("), "a link of docs/API.md: {operation}");
    }
}

#[test]
fn every_reference_of_the_document_leads_somewhere() {
    fn check(value: &Value, document: &Value) {
        match value {
            Value::Object(members) => {
                if let Some(Value::String(target)) = members.get("$ref") {
                    assert!(document.pointer(target.trim_start_matches('#')).is_some(), "{target}");
                }
                members.values().for_each(|member| check(member, document));
            }
            Value::Array(items) => items.iter().for_each(|item| check(item, document)),
            _ => {}
        }
    }
    check(&openapi(), &openapi());
}
