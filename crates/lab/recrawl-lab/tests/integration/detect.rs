//! `recrawl-lab detect`, as scripts call it.

use serde_json::Value;
use tests::{Output, Process, programs};

fn detect(arguments: &[&str]) -> Output {
    let directory = tempfile::tempdir().unwrap();
    let mut command = programs().command("recrawl-lab");
    command.arg("detect").args(arguments).current_dir(&directory);
    Process::start(command, directory.path()).finish()
}

fn lines(output: &Output) -> Vec<Value> {
    output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_recorded_history_is_judged() {
    detect(&["--corpus", "nowhere"]).exits_with(2).says(&["nowhere"]);
    let Some(corpus) = corpora::find("content") else { return };
    let corpus = corpus.display().to_string();
    let arguments = ["--format", "jsonl", "--corpus", &corpus, "--source", "fcdo-advice"];
    let judged = lines(&detect(&arguments).exits_with(0));
    assert!(judged.len() > 500, "{}", judged.len());
    let times: Vec<_> = judged.iter().map(|line| line["unix_time"].as_i64().unwrap()).collect();
    assert!(times.is_sorted());
    for line in &judged {
        assert!(line["page_id"].is_u64() && line["verdict"].is_string() && line["meaningful"].is_boolean(), "{line}");
        assert!(line["magnitude"].is_number());
        assert!(["content", "links", "structure"].iter().all(|part| !line[part].is_null()), "{line}");
    }
}
