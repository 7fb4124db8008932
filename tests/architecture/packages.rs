//! Third-party packages: their licences, and packages in more than one version, from `cargo metadata`.

use crate::dependencies::{metadata, text};
use spdx::{Expression, LicenseId, ParseMode};
use std::collections::{BTreeMap, BTreeSet};

/// Licences that may be linked into the programs: none asks more than to be named.
const LICENCES: [&str; 11] = [
    "Apache-2.0",
    "BSD-3-Clause",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MPL-2.0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
    "BSL-1.0",
    "CC0-1.0",
];

/// Packages of which two versions are compiled, and who keeps the older one.
const TWICE: [(&str, &str); 21] = [
    ("bit-vec", "bit-set, below fancy-regex"),
    ("crypto-common", "crc-fast, below object_store"),
    ("digest", "crc-fast, below object_store"),
    ("foldhash", "hashbrown 0.15"),
    ("getrandom", "ring"),
    ("hashbrown", "dashmap and ouroboros, below governor and apache-avro"),
    ("heck", "ouroboros"),
    ("itertools", "bindgen"),
    ("num-bigint", "apache-avro"),
    ("phf", "html5ever, which only the tests have"),
    ("phf_codegen", "html5ever, which only the tests have"),
    ("phf_generator", "html5ever, which only the tests have"),
    ("phf_shared", "html5ever, which only the tests have"),
    ("prettyplease", "lrlex, below promql-parser, which only the tests have"),
    ("rand", "opentelemetry_sdk"),
    ("rand_core", "opentelemetry_sdk"),
    ("shlex", "bindgen"),
    ("syn", "macros in transition to 3"),
    ("synstructure", "macros in transition to syn 3"),
    ("unicode-width", "lrpar, below promql-parser, which only the tests have"),
    ("untrusted", "ring"),
];

/// Whether an SPDX expression can be met with [`LICENCES`]. Older manifests separate alternatives with a slash, which lax
/// reading allows. An exception only permits more.
fn is_permitted(expression: &str) -> bool {
    let permitted = |id: LicenseId| LICENCES.contains(&id.name);
    Expression::parse_mode(expression, ParseMode::LAX)
        .is_ok_and(|expression| expression.evaluate(|asked| asked.license.id().is_some_and(permitted)))
}

#[test]
fn every_package_may_be_linked() {
    let refused: Vec<_> = (metadata().iter())
        .filter(|package| !is_permitted(package["license"].as_str().unwrap_or_default()))
        .map(|package| format!("{} {}: {}", text(&package["name"]), text(&package["version"]), package["license"]))
        .collect();
    assert!(refused.is_empty(), "find another package, or add the licence with the team's consent: {refused:#?}");
}

#[test]
fn a_licence_must_be_known_and_an_alternative_is_enough() {
    let check = |expression, permitted| assert_eq!(is_permitted(expression), permitted, "{expression}");
    check("MIT", true);
    check("GPL-3.0", false);
    check("GPL-3.0/MIT", true);
    check("(MIT OR GPL-3.0) AND ISC", true);
    check("ISC AND (GPL-2.0 OR LGPL-3.0)", false);
    check("Apache-2.0 WITH LLVM-exception", true);
    check("GPL-2.0 WITH Classpath-exception-2.0", false);
    check("LicenseRef-ours", false);
    check("", false);
}

#[test]
fn packages_in_two_versions_are_known() {
    let mut versions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for package in metadata() {
        versions.entry(text(&package["name"])).or_default().insert(text(&package["version"]));
    }
    let found: Vec<_> = versions.iter().filter(|(_, all)| all.len() > 1).map(|(name, _)| name.as_str()).collect();
    let known: Vec<_> = TWICE.iter().map(|(name, _)| *name).collect();
    assert_eq!(
        found, known,
        "two versions cost build time and size; take one, or say who keeps the other: {versions:#?}"
    );
}
