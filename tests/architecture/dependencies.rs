//! Which crate may reach which other, from `cargo metadata`.

use crate::PURE;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::sync::OnceLock;

type Graph = BTreeMap<String, BTreeSet<String>>;

/// Normal dependencies of every crate of the build on this platform, by name.
fn dependencies() -> &'static Graph {
    static GRAPH: OnceLock<Graph> = OnceLock::new();
    GRAPH.get_or_init(read_dependencies)
}

fn cargo(arguments: &[&str]) -> Vec<u8> {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| env!("CARGO").into()))
        .args(arguments)
        .current_dir(tests::workspace())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// The output of `cargo metadata` for the build on this platform, read once.
fn cargo_metadata() -> &'static Value {
    static METADATA: OnceLock<Value> = OnceLock::new();
    METADATA.get_or_init(read_metadata)
}

fn read_metadata() -> Value {
    let version = String::from_utf8(cargo(&["-vV"])).unwrap();
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).expect("cargo says what it runs on");
    let metadata = cargo(&["metadata", "--format-version", "1", "--locked", "--filter-platform", host]);
    serde_json::from_slice(&metadata).unwrap()
}

fn list(value: &Value) -> Vec<Value> {
    value.as_array().unwrap().clone()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

fn read_dependencies() -> Graph {
    let metadata = cargo_metadata();
    let names: BTreeMap<String, String> =
        list(&metadata["packages"]).iter().map(|package| (text(&package["id"]), text(&package["name"]))).collect();
    let mut graph = Graph::new();
    // A macro runs while we are compiled; what it depends on is no part of the program.
    let is_macro = |package: &Value| list(&package["targets"])[0]["kind"][0] == "proc-macro";
    let macros: BTreeSet<_> =
        list(&metadata["packages"]).iter().filter(|it| is_macro(it)).map(|it| text(&it["id"])).collect();
    for node in list(&metadata["resolve"]["nodes"]) {
        if macros.contains(node["id"].as_str().unwrap()) {
            continue;
        }
        let below = graph.entry(names[&text(&node["id"])].clone()).or_default();
        for dependency in list(&node["deps"]) {
            // Tests and build scripts may use what the crate itself may not.
            if list(&dependency["dep_kinds"]).iter().any(|kind| kind["kind"].is_null()) {
                below.insert(names[&text(&dependency["pkg"])].clone());
            }
        }
    }
    graph
}

/// The name of a crate that lies at this path.
fn name_of(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// A way from one crate to another, if there is one.
fn way(graph: &Graph, from: &str, to: &str) -> Option<Vec<String>> {
    let mut came_from: BTreeMap<&str, &str> = BTreeMap::from([(from, from)]);
    let mut open = vec![from];
    while let Some(at) = open.pop() {
        if at == to {
            let mut way = vec![at.to_owned()];
            let mut at = at;
            while at != from {
                at = came_from[at];
                way.insert(0, at.to_owned());
            }
            return Some(way);
        }
        for next in graph.get(at).into_iter().flatten() {
            if !came_from.contains_key(next.as_str()) {
                came_from.insert(next, at);
                open.push(next);
            }
        }
    }
    None
}

#[test]
fn pure_crates_reach_neither_network_nor_runtime_nor_database_nor_chance() {
    let forbidden = [
        (
            "tokio",
            "wanting async means a decision and an action are stuck together: return the decision, let a service act",
        ),
        ("hyper", "fetching belongs to services/fetcher"),
        ("rdkafka", "go through the log seam of crates/stream; only crates/stream-kafka speaks to Kafka"),
        ("rocksdb", "go through the store seam of crates/stream; only crates/stream-rocksdb writes to disk"),
        ("getrandom", "take the seed or the number drawn as an argument, so that a replay can give it again"),
        ("rand", "take the seed or the number drawn as an argument, so that a replay can give it again"),
        ("fastrand", "take the seed or the number drawn as an argument, so that a replay can give it again"),
        ("daemon", "the way is the other one: services start in crates/daemon and use the pure crates"),
    ];
    // Steps to other people's crates that break nothing, and why.
    let harmless = [(
        "apache-avro",
        "rand",
        "draws the marks between the blocks of Avro container files; messages are single objects, without marks",
    )];
    let mut graph = dependencies().clone();
    for (from, to, _) in harmless {
        let existed = graph.get_mut(from).is_some_and(|below| below.remove(to));
        assert!(existed, "{from} no longer depends on {to}: remove the exception");
    }
    let mut broken = Vec::new();
    for name in PURE.map(name_of) {
        assert!(graph.contains_key(name), "there is no crate {name} any more; update the list of pure crates");
        for (target, advice) in forbidden {
            if let Some(way) = way(&graph, name, target) {
                broken.push(format!("{}: {advice}", way.join(" -> ")));
            }
        }
    }
    assert!(broken.is_empty(), "pure crates reach what they must not:\n{}", broken.join("\n"));
}

#[test]
fn only_one_crate_speaks_to_kafka_and_only_one_writes_to_rocksdb() {
    let graph = dependencies();
    for (target, owner) in [("rdkafka", "stream-kafka"), ("rocksdb", "stream-rocksdb")] {
        let users: Vec<_> = graph.iter().filter(|(_, below)| below.contains(target)).map(|(name, _)| name).collect();
        assert_eq!(users, [owner], "only {owner} may name {target}: add what you need to its interface instead");
    }
}

#[test]
fn documents_that_cannot_be_bounded_are_read_in_confined_processes_only() {
    let graph = dependencies();
    let users = |target: &str| -> Vec<_> {
        graph.iter().filter(|(_, below)| below.contains(target)).map(|(name, _)| name.as_str()).collect()
    };
    assert_eq!(users("hayro-interpret"), ["pdf-html"], "only pdf-html may name the interpreter of PDF");
    // Programs hand its function to `confined::run`. Stages and pure crates take a `document::ReadConfined`.
    assert_eq!(users("pdf-html"), ["recrawl"], "take a document::ReadConfined, which a program makes of a process");
    assert_eq!(users("seccompiler"), ["confined"], "only confined may give up system calls");
    for stage in ["fetcher", "detector", "scheduler"] {
        let found = way(graph, stage, "confined");
        assert!(found.is_none(), "{found:?}: take a document::ReadConfined, which a test can replace");
    }
}

#[test]
fn the_runtime_knows_no_record_of_the_product() {
    let graph = dependencies();
    for runtime in ["wire", "stream", "stream-kafka", "stream-rocksdb", "stream-testing"] {
        for target in ["messages", "sweeps", "change-rate"] {
            let found = way(graph, runtime, target);
            assert!(found.is_none(), "{found:?}: what the runtime asks of a record belongs into crates/wire");
        }
    }
}

#[test]
fn the_program_has_nothing_of_what_drives_stages_in_tests_and_simulations() {
    let found = way(dependencies(), "recrawl", "stream-testing");
    assert!(found.is_none(), "{found:?}: make it a dev-dependency, or move what the program needs out of it");
}

#[test]
fn nothing_depends_on_the_lab() {
    let lab: Vec<String> = std::fs::read_dir(tests::workspace().join("crates/lab"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let graph = dependencies();
    for name in &lab {
        assert!(graph.contains_key(name), "crates/lab/{name} is not called {name}");
    }
    // The tests crawl a simulated web.
    let may_look_in = |name: &String| lab.contains(name) || ["tests", "bench"].contains(&name.as_str());
    for (name, below) in graph.iter().filter(|(name, _)| !may_look_in(name)) {
        let found = lab.iter().find(|inside| below.contains(*inside));
        assert!(found.is_none(), "{name} -> {found:?}: research depends on the product; move what both need out of it");
    }
}

#[test]
fn no_program_has_test_data() {
    let graph = dependencies();
    assert!(graph.contains_key("edits"), "there is no crate edits any more; update its name");
    for program in ["recrawl", "recrawl-lab"] {
        let found = way(graph, program, "edits");
        assert!(found.is_none(), "{found:?}: a test or an example makes edits and prints what became of them");
    }
}

#[test]
fn settings_are_names_and_texts() {
    let graph = dependencies();
    for target in ["policies", "change-rate", "scope", "watch", "focus"] {
        let found = way(graph, "settings", target);
        assert!(found.is_none(), "{found:?}: {target} reads its settings, and checks them by settings::Draft");
    }
    for target in ["policies", "focus", "watch", "microlp", "icu_segmenter"] {
        let found = way(graph, "fetcher", target);
        assert!(found.is_none(), "{found:?}: the fetcher chooses no page and reads none");
    }
}

#[test]
fn stages_know_each_other_by_their_messages_only() {
    let graph = dependencies();
    let stages = recrawl::stages::STAGES.each_ref().map(recrawl::stages::StageEntry::name);
    for stage in stages {
        for other in stages.into_iter().filter(|other| *other != stage) {
            let found = way(graph, stage, other);
            assert!(found.is_none(), "{found:?}: what two stages share is a message in schemas/, or a pure crate");
        }
    }
    // A stage is built and tested without a log or a store of its own: services/recrawl chooses them.
    for stage in stages {
        for target in ["rdkafka", "rocksdb", "daemon"] {
            let found = way(graph, stage, target);
            assert!(
                found.is_none(),
                "{found:?}: what only the program needs belongs into services/recrawl/src/stages.rs"
            );
        }
    }
    // The libraries of the house never depend on the programs.
    let above = ["recrawl", "recrawl-lab", "tests", "bench"];
    for (name, below) in graph.iter().filter(|(name, _)| !above.contains(&name.as_str())) {
        assert!(!below.contains("recrawl"), "{name} -> recrawl: move what both need into a crate below");
    }
}
