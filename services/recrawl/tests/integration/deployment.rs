//! The files of Kubernetes and compose that have a part for each stage are written from the table of stages.

use minijinja::{Environment, context};
use recrawl::stages::{Pod, STAGES, StageEntry};

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

#[test]
fn stages_have_different_names() {
    let names: std::collections::BTreeSet<_> = STAGES.iter().map(|stage| stage.name()).collect();
    assert_eq!(names.len(), STAGES.len());
}
