//! Exports of fetches to object storage: a foreign client finds the same content as in an export to files, each fetch once.

use crate::archives::{crawl, directory, export, files_in, lines, read_with, web, web_of_pages};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::PathBuf;
use tests::{
    BUCKET, Crawl, ObjectStorage, Output, Process, Reply, SOON, SimulatedWeb, WebhookReceiver, deserted, programs,
    wait_for,
};

const TO: &str = "s3://archive/of/crawl";
/// Where the keys of an export to [`TO`] begin.
const BELOW: &str = "of/crawl/";

/// A crawl that has made this many requests for pages and ended. The web is served until it is dropped.
fn crawled(web: SimulatedWeb, page_requests: usize) -> (SimulatedWeb, Crawl) {
    let crawl = crawl(&web);
    crawl.run_until_requested(&web, page_requests);
    (web, crawl)
}

/// Starts an export that has these variables of the environment, and no others of object storage.
fn start(crawl: &Crawl, variables: &[(&str, String)], arguments: &[&str]) -> Process {
    let mut command = programs().command("recrawl");
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("AWS_") {
            command.env_remove(name);
        }
    }
    command.envs(variables.iter().map(|(name, value)| (name, value)));
    command.args(["--format", "jsonl", "export"]).args(arguments).arg("--data").arg(crawl.data()).args(crawl.flags());
    Process::start(command, crawl.directory.path())
}

fn to_storage(crawl: &Crawl, storage: &ObjectStorage, form: &str, further: &[&str]) -> Process {
    start(crawl, &storage.variables(), &[&[form, "--to", TO], further].concat())
}

/// Exports to the end. Returns the lines about objects.
fn finished(export: Process) -> Vec<Value> {
    lines(&export.finish().exits_with(0).says(&["exporting to s3://archive/of/crawl", " results "]))
}

/// The objects of a form, fetched in the order of their numbers.
fn fetched(crawl: &Crawl, storage: &ObjectStorage, ending: &str) -> Vec<PathBuf> {
    let listing = storage.list();
    let mut keys: Vec<_> = listing.objects.keys().filter(|key| key.ends_with(ending)).collect();
    keys.sort_by_key(|key| key.rsplit('-').next());
    let to = tempfile::tempdir_in(crawl.directory.path()).unwrap().keep();
    let fetch = |key: &&String| {
        let file = to.join(key.strip_prefix(BELOW).expect("all objects are below the prefix"));
        storage.fetch(key, &file);
        file
    };
    keys.iter().map(fetch).collect()
}

pub(crate) fn json_lines(files: &[PathBuf]) -> Vec<Value> {
    let texts = files.iter().map(|file| std::fs::read_to_string(file).unwrap());
    texts.flat_map(|text| text.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<_>>()).collect()
}

/// The progress of an export, as it is in the bucket.
fn progress(crawl: &Crawl, storage: &ObjectStorage, ending: &str) -> Value {
    let file = directory(crawl, "progress");
    storage.fetch(&format!("{BELOW}_recrawl{ending}.progress"), &file);
    serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap()
}

#[test]
fn object_storage_has_what_files_have() {
    let Some(storage) = ObjectStorage::start() else { return };
    let (_web, crawl) = crawled(web(), 300);
    let expected = lines(&export(&crawl, &["jsonl"]).exits_with(0));
    assert!(expected.len() > 17, "{expected:#?}");

    let reported = finished(to_storage(&crawl, &storage, "jsonl", &["--max-file-bytes", "40000"]));
    let listing = storage.list();
    assert!(reported.len() > 2 && listing.uploads.is_empty(), "{reported:?} {listing:?}");
    for object in &reported {
        let key = object["file"].as_str().unwrap().strip_prefix("s3://archive/").unwrap();
        assert_eq!(object["bytes"].as_u64(), listing.objects.get(key).copied());
        assert!(object["bytes"].as_u64() <= Some(40_000), "{object}");
    }
    assert_eq!(json_lines(&fetched(&crawl, &storage, ".jsonl")), expected);
    assert_eq!(progress(&crawl, &storage, ".jsonl")["cursor"], reported.last().unwrap()["cursor"]);
    assert_eq!(finished(to_storage(&crawl, &storage, "jsonl", &[])), Vec::<Value>::new(), "all is there already");

    let files = |of: &[Value]| of.iter().map(|line| PathBuf::from(line["file"].as_str().unwrap())).collect::<Vec<_>>();
    let locally = |form: &str| {
        let out = directory(&crawl, form);
        files(&lines(&export(&crawl, &[form, "--out", out.to_str().unwrap()]).exits_with(0)))
    };
    finished(to_storage(&crawl, &storage, "warc", &["--max-file-bytes", "20000"]));
    let records = |files: Vec<PathBuf>| {
        let records = read_with("read_warc.py", files).unwrap().into_iter();
        records
            .filter(|record| record["type"] != "warcinfo")
            .map(|mut record| {
                assert_ne!(record["digests_hold"], Value::Bool(false), "{record}");
                record["fields"].as_object_mut().unwrap().remove("WARC-Warcinfo-ID");
                record.as_object_mut().unwrap().remove("file");
                record
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(records(fetched(&crawl, &storage, ".warc.gz")), records(locally("warc")));

    // As for a storage that writes under no condition.
    let variables = but(&storage.variables(), "AWS_CONDITIONAL_PUT", "disabled");
    let small = ["parquet", "--to", TO, "--max-file-bytes", "30000"];
    finished(start(&crawl, &variables, &[&small[..], &["--limit", "9"]].concat()));
    finished(start(&crawl, &variables, &small));
    let rows = |files| {
        let rows = read_with("read_parquet.py", files).unwrap().into_iter();
        rows.map(|mut row| row["row"].take()).collect::<Vec<_>>()
    };
    assert_eq!(rows(fetched(&crawl, &storage, ".parquet")), rows(locally("parquet")));
    assert!(storage.list().uploads.is_empty());
}

#[test]
fn long_objects_go_in_parts_over_tls_to_an_authority_of_ones_own() {
    let Some(storage) = ObjectStorage::start_with_tls() else { return };
    let (_web, crawl) = crawled(web_of_pages(1_500_000), 200);
    let expected = lines(&export(&crawl, &["jsonl"]).exits_with(0));
    let killed = to_storage(&crawl, &storage, "jsonl", &["--follow"]);
    wait_for("parts are sent", SOON, || storage.list().uploads.iter().any(|(_, parts)| *parts > 0));
    killed.kill();
    let output = to_storage(&crawl, &storage, "jsonl", &[]).finish().exits_with(0);
    let reported = lines(&output.says(&["-00000.jsonl was not completed by the export before this one"]));
    assert!(storage.list().uploads.is_empty(), "the upload of the first is aborted");
    assert!(
        reported.len() == 1 && reported[0]["bytes"].as_u64() > Some(2 * (8 << 20)),
        "two whole parts and more: {reported:?}"
    );
    assert!(json_lines(&fetched(&crawl, &storage, ".jsonl")) == expected);

    let stranger: Vec<_> = storage.variables().into_iter().filter(|(name, _)| *name != "AWS_CA_BUNDLE").collect();
    let refused = start(&crawl, &stranger, &["warc", "--to", TO]).finish().exits_with(3);
    refused.says(&["localhost:", "does not answer", "ertificate"]);
}

fn is_begun(storage: &ObjectStorage) -> bool {
    let listing = storage.list();
    !listing.uploads.is_empty() && !listing.objects.is_empty()
}

#[test]
fn a_killed_export_goes_on_and_each_fetch_is_there_once() {
    let Some(storage) = ObjectStorage::start() else { return };
    let (_web, crawl) = crawled(web(), 300);
    let expected = lines(&export(&crawl, &["jsonl"]).exits_with(0));
    // Killed before anything is complete: the upload is left as it is.
    let killed = to_storage(&crawl, &storage, "jsonl", &["--follow"]);
    wait_for("an upload is begun and noted", SOON, || is_begun(&storage));
    killed.kill();
    let left = storage.list();
    assert_eq!((left.uploads.len(), left.objects.keys().filter(|key| key.ends_with(".jsonl")).count()), (1, 0));
    // Killed whenever another object is there: within a part, before or behind the note that the object is complete.
    let small = ["--max-file-bytes", "8000"];
    let count = || storage.list().objects.len();
    for _ in 0..4 {
        let before = count();
        let killed = to_storage(&crawl, &storage, "jsonl", &[&small[..], &["--follow"]].concat());
        wait_for("another object", SOON, || count() > before + 1);
        killed.kill();
    }
    let output = to_storage(&crawl, &storage, "jsonl", &small).finish().exits_with(0);
    assert!(!lines(&output).is_empty(), "the kills left something to do");
    assert_eq!(json_lines(&fetched(&crawl, &storage, ".jsonl")), expected);
    // A kill between the beginning of an upload and its note leaves the upload without parts.
    let left = storage.list().uploads;
    assert!(left.iter().all(|(_, parts)| *parts == 0), "{left:?}");
}

#[test]
fn an_object_that_was_complete_when_its_export_was_killed_is_not_written_again() {
    let Some(storage) = ObjectStorage::start() else { return };
    let (_web, crawl) = crawled(web(), 200);
    let reported = finished(to_storage(&crawl, &storage, "jsonl", &[]));
    let note = progress(&crawl, &storage, ".jsonl");
    let (shown, key) = (reported[0]["file"].as_str().unwrap(), format!("{BELOW}_recrawl.jsonl.progress"));
    let object = shown.strip_prefix("s3://archive/of/crawl/").unwrap();
    // The note as it was right before the object was completed.
    let open = json!({ "file": object, "upload": "an-upload-that-is-over", "cursor": note["cursor"] });
    let before = json!({ "topic": note["topic"], "cursor": null, "next": 1, "open": open });
    storage.put(&key, &before.to_string());
    let again = to_storage(&crawl, &storage, "jsonl", &[]).finish().exits_with(0);
    let again = again.says(&[shown, "is complete; the export before this one did not come to note it"]);
    assert_eq!(again.stdout, "");
    assert_eq!(progress(&crawl, &storage, ".jsonl"), note);

    // The same note, but the object did not come about.
    storage.put(&key, &before.to_string());
    storage.delete(&format!("{BELOW}{object}"));
    let again = to_storage(&crawl, &storage, "jsonl", &[]).finish().exits_with(0);
    let again = again.says(&[shown, "what it had is exported again"]);
    assert_eq!(lines(&again)[0]["records"], reported[0]["records"]);
    assert!(lines(&again)[0]["file"].as_str().unwrap().ends_with("-00001.jsonl"));
}

#[test]
fn a_second_export_to_the_same_place_takes_it_over() {
    let Some(storage) = ObjectStorage::start() else { return };
    let (_web, crawl) = crawled(web(), 200);
    let expected = lines(&export(&crawl, &["jsonl"]).exits_with(0));
    let first = to_storage(&crawl, &storage, "jsonl", &["--follow"]);
    wait_for("an upload is begun and noted", SOON, || is_begun(&storage));
    finished(to_storage(&crawl, &storage, "jsonl", &[]));
    first.signal(libc::SIGINT);
    let reported = first.finish().exits_with(3).says(&["another export writes there"]);
    assert_eq!(reported.stdout, "");
    assert_eq!(json_lines(&fetched(&crawl, &storage, ".jsonl")), expected);
}

#[test]
fn files_that_are_open_for_long_are_completed_while_the_export_goes_on() {
    let Some(storage) = ObjectStorage::start() else { return };
    let (_web, crawl) = crawled(web(), 200);
    let complete = |form: &str, ending: &str| {
        let following = to_storage(&crawl, &storage, form, &["--follow", "--max-file-age", "50ms"]);
        let is_there = || storage.list().objects.keys().any(|key| key.ends_with(ending));
        wait_for("an object is complete", SOON, is_there);
        following.signal(libc::SIGTERM);
        finished(following);
    };
    complete("jsonl", ".jsonl");
    complete("warc", ".warc.gz");
    complete("parquet", ".parquet");
    let out = directory(&crawl, "aged");
    let following = start(&crawl, &[], &["warc", "--out", out.to_str().unwrap(), "--follow", "--max-file-age", "50ms"]);
    let is_complete = || files_in(&out).iter().any(|file| file.extension().is_some_and(|it| it == "gz"));
    wait_for("a file is complete", SOON, is_complete);
    following.signal(libc::SIGTERM);
    following.finish().exits_with(0);
    assert!(storage.list().uploads.is_empty());
}

/// The variables with one of them changed.
fn but(variables: &[(&'static str, String)], name: &'static str, value: &str) -> Vec<(&'static str, String)> {
    let others = variables.iter().filter(|(known, _)| *known != name).cloned();
    others.chain([(name, value.to_owned())]).collect()
}

#[test]
fn refusals_name_what_is_wrong_and_no_secret() {
    let Some(storage) = ObjectStorage::start() else { return };
    let (_web, crawl) = crawled(web(), 60);
    let good = storage.variables();
    let check = |variables: &[(&str, String)], arguments: &[&str], code: i32, parts: &[&str]| {
        let patience = ["--give-up-after", "1s"];
        let output = start(&crawl, variables, &[&["warc"], arguments, &patience].concat()).finish();
        let output = output.exits_with(code).says(parts);
        let secret = variables.iter().find(|(name, _)| *name == "AWS_SECRET_ACCESS_KEY");
        let reports = |text: &str| secret.is_some_and(|(_, secret)| text.contains(secret.as_str()));
        assert!(!reports(&output.stderr) && !reports(&output.stdout), "{output:?}");
    };
    let to = ["--to", TO];
    check(
        &storage.variables_of_owner(),
        &["--to", "s3://elsewhere/of"],
        2,
        &["there is no bucket elsewhere", "--to", "NoSuchBucket"],
    );
    check(&but(&good, "AWS_ACCESS_KEY_ID", "AKIAXXXXXXXXXXXXXXXX"), &to, 2, &["correct AWS_ACCESS_KEY_ID"]);
    check(&but(&good, "AWS_SECRET_ACCESS_KEY", "another-one"), &to, 2, &["correct AWS_SECRET_ACCESS_KEY"]);
    check(
        &storage.variables_of_reader(),
        &to,
        2,
        &["may not do this", "s3:PutObject", "s3:ListBucket for bucket archive"],
    );
    check(
        &but(&good, "AWS_ALLOW_HTTP", "false"),
        &to,
        2,
        &["AWS_ENDPOINT_URL begins with http://", "AWS_ALLOW_HTTP=true"],
    );
    let away = but(&good, "AWS_ENDPOINT_URL", &format!("http://{}", deserted()));
    check(&away, &to, 3, &["trying again", "does not answer", "AWS_ENDPOINT_URL", "behind what is complete"]);
    // It begins an upload before it is refused, and takes it back: see the end of this test.
    check(&storage.variables_without_progress(), &to, 2, &["may not do this (PUT)"]);
    let half: Vec<_> = good.iter().filter(|(name, _)| *name != "AWS_ACCESS_KEY_ID").cloned().collect();
    check(&half, &to, 2, &["AccessKeyId"]);
    check(&but(&good, "AWS_CA_BUNDLE", "/nowhere.pem"), &to, 2, &["AWS_CA_BUNDLE /nowhere.pem"]);

    let xml = |code: &str| format!("<Error><Code>{code}</Code><Message>Said so.</Message></Error>");
    let expired = WebhookReceiver::start(move |_| Reply::Body(400, xml("ExpiredToken")));
    let variables =
        but(&but(&good, "AWS_ENDPOINT_URL", expired.url().trim_end_matches("/hook")), "AWS_SESSION_TOKEN", "t");
    check(&variables, &to, 2, &["the credentials have expired", "AWS_SESSION_TOKEN", "ExpiredToken: Said so."]);
    let busy = WebhookReceiver::start(move |_| Reply::Body(503, xml("SlowDown")));
    let variables = but(&good, "AWS_ENDPOINT_URL", busy.url().trim_end_matches("/hook"));
    check(&variables, &to, 3, &["answered 503; trying again", "answered 503: SlowDown: Said so."]);
    assert!(busy.seen().len() > 2, "it is tried again");
    assert!(storage.list().objects.is_empty() && storage.list().uploads.is_empty(), "{:?}", storage.list());

    for bad in ["gs://archive/of", "archive", "s3://"] {
        check(&good, &["--to", bad], 2, &["give s3://BUCKET/PREFIX"]);
    }
    check(&good, &["--to", TO, "--out", "/tmp/x"], 2, &["--out"]);
    let help = start(&crawl, &good, &["warc", "--help"]).finish().exits_with(0);
    assert!(help.stdout.contains("s3://BUCKET/PREFIX") && !help.stdout.contains(storage.secret()), "{}", help.stdout);
}

#[test]
fn progress_of_another_crawl_is_refused() {
    let Some(storage) = ObjectStorage::start() else { return };
    let (_web, crawl) = crawled(web(), 60);
    let key = format!("{BELOW}_recrawl.parquet.progress");
    let refuses = |note: &str, arguments: &[&str], parts: &[&str]| {
        storage.put(&key, note);
        let refused: Output = to_storage(&crawl, &storage, "parquet", arguments).finish().exits_with(2).says(parts);
        assert_eq!(refused.stdout, "");
    };
    refuses("no JSON", &[], &["_recrawl.parquet.progress: it is not a progress file", "--prefix"]);
    let note =
        |topic: &str, cursor: &str| json!({ "topic": topic, "cursor": cursor, "next": 1, "open": null }).to_string();
    refuses(&note("other.fetch-results", "0.0.0.0"), &[], &["it is of topic other.fetch-results, but this crawl's is"]);
    refuses(
        &note("recrawl.fetch-results", "9999.0.0.0"),
        &[],
        &["the cursor in s3://archive/of/crawl/_recrawl", "ahead of this crawl"],
    );
    refuses(&note("recrawl.fetch-results", "9"), &[], &["it has 1 partitions"]);
    refuses(&note("recrawl.fetch-results", "x"), &[], &["not a cursor"]);
    refuses(&note("recrawl.fetch-results", "0.0.0.0"), &["--cursor", "0.0.0.0"], &["has a cursor already"]);
    let names: BTreeSet<_> = storage.list().objects.into_keys().collect();
    assert_eq!(names, BTreeSet::from([key]), "nothing of bucket {BUCKET} was touched");
}
