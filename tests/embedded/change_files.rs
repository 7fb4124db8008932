//! Changes in files: the rows and lines are the changes that `recrawl changes` prints, each once.

use crate::archives::{crawl, directory, files_in, lines, read_with, web};
use crate::object_storage::json_lines;
use serde_json::Value;
use std::path::PathBuf;
use tests::{Crawl, ObjectStorage, Output, Process, SOON, programs, wait_for};

fn start(crawl: &Crawl, arguments: &[&str], variables: &[(&'static str, String)]) -> Process {
    let mut command = programs().command("recrawl");
    command.args(["--format", "jsonl", "changes"]).args(arguments).arg("--data").arg(crawl.data()).args(crawl.flags());
    command.envs(variables.iter().cloned());
    Process::start(command, crawl.directory.path())
}

fn changes(crawl: &Crawl, arguments: &[&str]) -> Output {
    start(crawl, arguments, &[]).finish()
}

/// A crawl that has seen changes.
fn crawled() -> Crawl {
    let web = web();
    let crawl = crawl(&web).with("log.retention_changes", "100d");
    crawl.run_until_requested(&web, 600);
    crawl
}

fn files(reported: &[Value]) -> Vec<PathBuf> {
    reported.iter().map(|file| PathBuf::from(file["file"].as_str().unwrap())).collect()
}

#[test]
fn rows_and_lines_in_a_directory_are_what_is_printed_each_once() {
    let crawl = crawled();
    let expected = lines(&changes(&crawl, &[]).exits_with(0));
    assert!(expected.len() > 20, "{}", expected.len());

    let out = directory(&crawl, "lines");
    let small = ["--out", out.to_str().unwrap(), "--as", "jsonl", "--max-file-bytes", "4000"];
    let killed = start(&crawl, &[&small[..], &["--follow"]].concat(), &[]);
    wait_for("some files", SOON, || files_in(&out).len() > 2);
    killed.kill();
    changes(&crawl, &small).exits_with(0).says(&["exporting to ", " after cursor ", " changes in "]);
    let paths = files_in(&out);
    assert_eq!(json_lines(&paths), expected);
    assert!(paths.iter().all(|path| path.file_name().unwrap().to_string_lossy().starts_with("changes-")), "{paths:?}");
    assert_eq!(changes(&crawl, &small).exits_with(0).stdout, "", "all is there already");

    let out = directory(&crawl, "rows");
    let rows = ["--out", out.to_str().unwrap(), "--verdict", "major,minor"];
    let reported = lines(&changes(&crawl, &rows).exits_with(0));
    let wanted: Vec<_> = expected
        .iter()
        .filter(|change| ["major", "minor"].contains(&change["verdict"].as_str().unwrap()))
        .cloned()
        .collect();
    assert!(!wanted.is_empty());
    let Some(read) = read_with("read_parquet.py", files(&reported)) else { return };
    assert_eq!(read.into_iter().map(|mut line| line["row"].take()).collect::<Vec<_>>(), wanted);
}

#[test]
fn rows_go_to_object_storage_and_the_next_run_goes_on() {
    let Some(storage) = ObjectStorage::start() else { return };
    let crawl = crawled();
    let expected = lines(&changes(&crawl, &[]).exits_with(0));
    let to = ["--to", "s3://archive/of/crawl", "--as", "parquet"];
    for arguments in [&[&to[..], &["--limit", "9"]].concat(), &to[..]] {
        start(&crawl, arguments, &storage.variables()).finish().exits_with(0).says(&["_changes.parquet.progress"]);
    }
    let keys: Vec<_> = storage.list().objects.into_keys().filter(|key| key.ends_with(".parquet")).collect();
    assert_eq!(keys.len(), 2, "{keys:?}");
    let fetched = keys.iter().enumerate().map(|(number, key)| {
        let file = directory(&crawl, &format!("object-{number}.parquet"));
        storage.fetch(key, &file);
        file
    });
    let Some(read) = read_with("read_parquet.py", fetched.collect()) else { return };
    let mut read: Vec<_> = read.into_iter().map(|mut line| line["row"].take()).collect();
    let mut expected = expected;
    let cursor = |change: &Value| change["cursor"].as_str().unwrap().to_owned();
    read.sort_by_key(cursor);
    expected.sort_by_key(cursor);
    assert_eq!(read, expected);
}

#[test]
fn files_and_deliveries_exclude_each_other() {
    let crawl = Crawl::default();
    let refuses = |arguments: &[&str], part: &str| drop(changes(&crawl, arguments).exits_with(2).says(&[part]));
    refuses(&["--as", "parquet"], "--out");
    refuses(&["--out", "files", "--exec", "true"], "cannot be used with");
    refuses(&["--to", "s3://archive/of", "--webhook", "http://127.0.0.1:1/"], "cannot be used with");
    refuses(&["--to", "s3://archive/of", "--out", "files"], "cannot be used with");
}
