//! The files of Kubernetes and compose that have a part for each stage are written from the table of stages.

use minijinja::{Environment, context};
use recrawl::stages::{Pod, STAGES, StageEntry};
use std::collections::{BTreeMap, BTreeSet};

const HOW: &str = "`UPDATE=1 cargo test -p recrawl --test integration deployment`";
/// Files whose whole text is that of a template beside them, and what stands before it.
const WHOLE: [&str; 3] =
    ["k8s/base/stages.yaml", "k8s/components/strimzi/kustomization.yaml", "compose/prometheus.yaml"];
const PARTLY: &str = "compose.yaml";
const BEGIN: &str = "  # Stages: written from compose/stages.yaml.jinja by ";
const END: &str = "  # End of stages.\n";

fn read(file: &str) -> String {
    std::fs::read_to_string(tests::workspace().join(file)).unwrap()
}

/// The text of a template.
fn rendered(template: &str) -> String {
    let stage = |stage: &StageEntry| {
        let Pod { replicas, cpu, memory, memory_limit, storage, schema_registry, has_lasting_name } = stage.pod;
        let pod = context! { replicas, cpu, memory, memory_limit, storage, schema_registry, has_lasting_name };
        context! { name => stage.name(), purpose => stage.purpose, pod }
    };
    let stages: Vec<_> = STAGES.iter().map(stage).collect();
    // The last line break is not the template's.
    Environment::new().render_str(&read(template), context! { stages }).unwrap() + "\n"
}

/// Compares a file with the text that it should have, or writes it.
fn compare(file: &str, expected: &str) {
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(tests::workspace().join(file), expected).unwrap();
    } else {
        assert!(read(file) == expected, "{file} differs from what it is written from; {HOW} writes it");
    }
}

#[test]
fn files_with_a_part_for_each_stage_are_those_of_their_templates() {
    for file in WHOLE {
        let template = format!("{file}.jinja");
        let head = format!("# Written from {template} by {HOW}, do not edit.\n");
        compare(file, &(head + rendered(&template).trim_start_matches('\n')));
    }
}

#[test]
fn compose_runs_each_stage() {
    let compose = read(PARTLY);
    let (before, rest) = compose.split_once(BEGIN).expect("the line where the stages begin");
    let (_, after) = rest.split_once(END).expect("the line where they end");
    let stages = rendered("compose/stages.yaml.jinja");
    compare(PARTLY, &format!("{before}{BEGIN}{HOW}, do not edit.{stages}{END}{after}"));
}

/// The fields of a service of compose that confine it.
#[derive(serde::Deserialize)]
struct Service {
    networks: BTreeSet<String>,
    mem_limit: String,
    pids_limit: u32,
    cap_drop: Vec<String>,
    security_opt: Vec<String>,
    #[serde(default)]
    ports: Vec<String>,
}

#[derive(serde::Deserialize)]
struct Compose {
    services: BTreeMap<String, Service>,
}

#[test]
fn compose_confines_each_service_and_lets_only_those_out_that_need_it() {
    let compose: Compose = serde_saphyr::from_str(&read(PARTLY)).unwrap();
    for (name, service) in &compose.services {
        let networks: Vec<&str> = service.networks.iter().map(String::as_str).collect();
        let expected: &[&str] = match name.as_str() {
            "fetcher" | "delivery" => &["loop", "web"],
            "prometheus" => &["loop", "watch"],
            "grafana" => &["watch"],
            _ => &["loop"],
        };
        assert_eq!(networks, expected, "{name}");
        assert_eq!((&*service.cap_drop, service.security_opt.len()), (&["ALL".to_owned()][..], 1), "{name}");
        assert!(!service.mem_limit.is_empty() && service.pids_limit > 0, "{name}");
        assert!(service.ports.iter().all(|port| port.starts_with("127.0.0.1:")), "{name}");
    }
    assert!(STAGES.iter().all(|stage| compose.services.contains_key(stage.name())));
    assert!(read(PARTLY).contains("  loop: {internal: true}\n"));
}

#[test]
fn stages_have_different_names() {
    let names: BTreeSet<_> = STAGES.iter().map(|stage| stage.name()).collect();
    assert_eq!(names.len(), STAGES.len());
}
