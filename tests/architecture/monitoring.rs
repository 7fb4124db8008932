//! Alerts, dashboards and autoscaling use only series that the table of metrics lists, as far as reading the files shows.
//! The tests of the loops check that running programs have these series.

use std::fs;
use std::path::Path;
use tests::monitoring::Monitoring;

#[test]
fn alerts_and_dashboards_use_series_that_are_listed() {
    let monitoring = Monitoring::read(tests::workspace()).unwrap();
    assert_eq!(monitoring.unlisted(), [""; 0], "docs/METRICS.md has no such series");
}

#[test]
fn a_series_that_is_not_listed_is_found() {
    let cases = [
        ("monitoring/rules.yaml", "recrawl_scheduler_due", "recrawl_scheduler_overdue"),
        ("monitoring/rules.yaml", "recrawl_scheduler_due", "recrawl_detector_due"),
        ("monitoring/rules.yaml", "recrawl_stage_failing", "recrawl_stage_faulty"),
        ("monitoring/rules.yaml", "class=\"failed\"", "kind=\"failed\""),
        ("monitoring/rules.yaml", "commit_seconds_bucket", "commit_seconds"),
        ("monitoring/dashboards/recrawl-loop.json", "recrawl_backlog_seconds{", "recrawl_lag_seconds{"),
        (
            "monitoring/dashboards/recrawl-state.json",
            "label_values(recrawl_backlog_records",
            "label_values(recrawl_lag",
        ),
    ];
    for (file, text, instead) in cases {
        let repository = altered(file, text, instead);
        let monitoring = Monitoring::read(repository.path()).unwrap();
        assert!(!monitoring.unlisted().is_empty(), "{file}: {instead}");
    }
    for (file, text, instead, why) in [
        ("monitoring/rules.yaml", "record: recrawl:budget_use:ratio", "record: recrawl:use:ratio", "nothing records"),
        ("keda/fetcher.yaml", "query: recrawl:fetch_", "query: recrawl:fetcher_", "nothing records"),
        (
            "monitoring/rules.yaml",
            "(recrawl_backlog_seconds) > 900",
            "(recrawl_backlog_seconds > 900",
            "RecrawlBacklogOld",
        ),
    ] {
        let repository = altered(file, text, instead);
        let error = Monitoring::read(repository.path()).unwrap_err();
        assert!(error.contains(why), "{error}");
    }
}

/// The manifests with a text of one file replaced.
fn altered(file: &str, text: &str, instead: &str) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for part in ["monitoring", "monitoring/dashboards", "keda"] {
        let (from, to) =
            (tests::workspace().join("k8s/components").join(part), directory.path().join("k8s/components").join(part));
        fs::create_dir_all(&to).unwrap();
        for entry in fs::read_dir(from).unwrap().map(Result::unwrap).filter(|entry| entry.path().is_file()) {
            fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
    let path = directory.path().join("k8s/components").join(Path::new(file));
    let before = fs::read_to_string(&path).unwrap();
    assert!(before.contains(text), "{file} no longer has {text}: change this test with it");
    fs::write(&path, before.replace(text, instead)).unwrap();
    directory
}
