//! Exports of fetches: WARC files that a foreign reader understands, and lines of JSON.

use messages::Digest;
use serde_json::Value;
use simweb::{ChangeRates, FaultRule, FaultScope, HostDials, SeededConfig, ValidatorSupport, WebFault};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::process::Command;
use tests::{Crawl, Output, Process, SOON, SimulatedWeb, programs, wait_for};

/// A host that knows nothing of validators: what did not change is known by its digest there.
const PLAIN_HOST: &str = "host-0002.test";
const MOVED: &str = "http://host-0003.test/section-1/page-00001.html";
const BROKEN: &str = "http://host-0003.test/section-2/page-00002.html";

/// Lively pages, one of them elsewhere and one out of order.
pub(crate) fn web() -> SimulatedWeb {
    web_of_pages(2_000)
}

/// The same, with pages of about this length in bytes.
pub(crate) fn web_of_pages(bytes: usize) -> SimulatedWeb {
    let rates = ChangeRates::Same(2.0);
    let seeded = SeededConfig { hosts: 3, pages_per_host: 6, rates, days: 20.0, ..SeededConfig::default() };
    SimulatedWeb::start(seeded, 20_000.0, |config| {
        config.page_bytes = bytes;
        let validators = ValidatorSupport { etag: false, last_modified: false };
        config.host_dials.insert(PLAIN_HOST.to_owned(), HostDials { validators, ..HostDials::default() });
        let fault = |url: &str, fault| {
            let (host, path) = url["http://".len()..].split_once('/').unwrap();
            let scope = FaultScope::Path(format!("/{path}"));
            FaultRule { host: Some(host.to_owned()), ..FaultRule::everywhere(scope, fault) }
        };
        config.faults.push(fault(MOVED, WebFault::Redirect { code: 301, hops: 1 }));
        config.faults.push(fault(BROKEN, WebFault::Status { code: 500, retry_after_s: None }));
    })
}

/// A crawl of it that fetches each page many times, and keeps what it fetched.
pub(crate) fn crawl(web: &SimulatedWeb) -> Crawl {
    let crawl = Crawl::of(web)
        .with("log.retention_results", "100d")
        .with("log.batch_interval", "10ms")
        .with("budget.fetches_per_second", "0.01")
        .with("budget.burst", "1d")
        .with("policy.scan_interval", "5m")
        .with("policy.min_interval", "30m")
        .with("policy.lease_timeout", "30d")
        .with("politeness.response_time_factor", "0");
    web.clock_settings().into_iter().fold(crawl, |crawl, (key, value)| crawl.with(key, &value))
}

pub(crate) fn start(crawl: &Crawl, arguments: &[&str]) -> Process {
    let mut command = programs().command("recrawl");
    command.args(["--format", "jsonl", "export"]).args(arguments).arg("--data").arg(crawl.data()).args(crawl.flags());
    Process::start(command, crawl.directory.path())
}

pub(crate) fn export(crawl: &Crawl, arguments: &[&str]) -> Output {
    start(crawl, arguments).finish()
}

pub(crate) fn lines(output: &Output) -> Vec<Value> {
    output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Exports to a directory, and gives the lines about its files.
fn archive(crawl: &Crawl, name: &str, further: &[&str]) -> Vec<Value> {
    let directory = directory(crawl, name);
    let arguments = [&["warc", "--out", directory.to_str().unwrap()], further].concat();
    lines(&export(crawl, &arguments).exits_with(0).says(&["results as "]))
}

pub(crate) fn directory(crawl: &Crawl, name: &str) -> PathBuf {
    crawl.directory.path().join(name)
}

/// One record, as warcio understands it.
struct Record(Value);

impl Record {
    fn kind(&self) -> &str {
        self.0["type"].as_str().unwrap()
    }

    fn field(&self, name: &str) -> Option<&str> {
        self.0["fields"][name].as_str()
    }

    fn id(&self) -> &str {
        self.field("WARC-Record-ID").unwrap()
    }

    fn url(&self) -> &str {
        self.field("WARC-Target-URI").unwrap()
    }

    fn status(&self) -> &str {
        self.0["status"].as_str().unwrap()
    }

    fn payload(&self) -> Vec<u8> {
        let hex = self.0["payload"].as_str().unwrap();
        (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
    }
}

/// The records of the files of a directory; `None`, and a line that says so, when
/// there is no warcio to read them.
fn read(directory: &Path) -> Option<Vec<Record>> {
    Some(read_with("read_warc.py", archives_in(directory))?.into_iter().map(Record).collect())
}

/// The content of files as a foreign reader prints it; `None`, and a line that says so, when the reader is not installed.
pub(crate) fn read_with(script: &str, files: Vec<PathBuf>) -> Option<Vec<Value>> {
    let left_out = |why: &str| {
        assert!(std::env::var_os("CI").is_none(), "archives cannot be read back: {why}");
        println!("LEFT OUT: archives are not read by {script}: {why}");
        None
    };
    let Some(python) = std::env::var_os("RECRAWL_PYTHON") else { return left_out("RECRAWL_PYTHON is not set") };
    let script = tests::workspace().join("tests/embedded").join(script);
    let output = match Command::new(&python).arg(script).args(files).output() {
        Ok(output) => output,
        Err(error) => return left_out(&format!("{}: {error}", python.display())),
    };
    let complained = String::from_utf8_lossy(&output.stderr);
    match output.status.code() {
        Some(3) => left_out(complained.trim()),
        Some(0) => {
            let said = String::from_utf8(output.stdout).unwrap();
            Some(said.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
        }
        _ => panic!("{complained}"),
    }
}

/// The files of a directory, which may not be there yet, in the order of their numbers and without the notes of exports.
pub(crate) fn files_in(directory: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(directory).into_iter().flatten().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> =
        files.filter(|path| !path.file_name().unwrap().to_string_lossy().starts_with('_')).collect();
    files.sort_by_key(|path| path.to_string_lossy().rsplit('-').next().map(str::to_owned));
    files
}

/// The WARC files of a directory, without their indexes.
fn archives_in(directory: &Path) -> Vec<PathBuf> {
    files_in(directory).into_iter().filter(|path| path.extension().is_some_and(|it| it != "cdxj")).collect()
}

/// The bodies that each page has had, by what archives call them.
fn bodies(web: &SimulatedWeb) -> HashMap<String, BTreeSet<Vec<u8>>> {
    let of_page = |(number, page): (usize, &simweb::PageHistory)| {
        let bodies = (0..page.states.len()).map(|version| web.body(number, version)).collect();
        (page.url(), bodies)
    };
    web.trace().pages.iter().enumerate().map(of_page).collect()
}

#[test]
fn a_crawl_is_archived_as_it_happened() {
    let web = web();
    let crawl = crawl(&web);
    crawl.run_until_requested(&web, 600);
    let reported = archive(&crawl, "whole", &[]);
    assert_eq!(reported.len(), 1, "{reported:?}");
    let results = lines(&export(&crawl, &["jsonl", "--no-body"]).exits_with(0));
    let outcomes =
        |wanted: &[&str]| results.iter().filter(|line| wanted.contains(&line["outcome"].as_str().unwrap())).count();
    assert!(outcomes(&["not_modified"]) > 5 && outcomes(&["same_content"]) > 5, "{results:#?}");

    let Some(records) = read(&directory(&crawl, "whole")) else { return };
    assert_eq!(reported[0]["records"].as_u64(), Some(records.len() as u64));
    assert_eq!(records[0].kind(), "warcinfo");
    let ids: BTreeSet<_> = records.iter().map(Record::id).collect();
    assert_eq!(ids.len(), records.len(), "every record has a name of its own");
    for record in &records[1..] {
        assert_eq!(record.field("WARC-Warcinfo-ID"), Some(records[0].id()));
        let address = (record.kind() != "metadata").then_some("127.0.0.1");
        assert_eq!(record.field("WARC-IP-Address"), address);
        assert!(ids.contains(record.field("WARC-Concurrent-To").unwrap()));
    }
    are_what_was_served(&records, &web);
    refer_to_what_did_not_change(&records);
    let of = |kind: &str| records.iter().filter(|record| record.kind() == kind).count();
    assert_eq!(of("revisit"), outcomes(&["not_modified", "same_content"]));
    let hops: usize = results.iter().map(|line| line["hops"].as_array().unwrap().len()).sum();
    let answers = results.iter().filter(|line| !line["status"].is_null()).count();
    assert_eq!((of("request"), of("response") + of("revisit")), (answers + hops, answers + hops));
    can_be_taken_in_parts(&crawl, &records);
}

/// Responses carry the bytes that the web had, or say that they do not.
fn are_what_was_served(records: &[Record], web: &SimulatedWeb) {
    let bodies = bodies(web);
    let mut seen = BTreeMap::<&str, usize>::new();
    for record in records.iter().filter(|record| record.kind() == "response") {
        assert_eq!(record.0["digests_hold"], Value::Bool(true), "{}", record.0);
        *seen.entry(record.status()).or_default() += 1;
        let page = record.url().split('?').next().unwrap();
        match record.status() {
            "200" => assert!(bodies[page].contains(&record.payload()), "{page} never was this"),
            _ => assert_eq!(record.payload(), b"", "{}", record.0),
        }
    }
    assert!(seen["200"] > 18 && seen["301"] > 0 && seen["500"] > 0, "{seen:?}");
    let moved = records.iter().find(|record| record.kind() == "response" && record.url() == MOVED).unwrap();
    let header = |name: &str| {
        let headers = moved.0["headers"].as_array().unwrap().iter();
        headers
            .map(|pair| (pair[0].as_str().unwrap(), pair[1].as_str().unwrap()))
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
    };
    assert!(header("location").is_some_and(|(_, value)| value.ends_with("?hop=1")), "{}", moved.0);
    let broken = records.iter().find(|record| record.kind() == "response" && record.url() == BROKEN).unwrap();
    assert_eq!(broken.field("WARC-Truncated"), Some("unspecified"), "its few words were not kept");
    let requests = records.iter().filter(|record| record.kind() == "request");
    for request in requests {
        assert_eq!(request.0["digests_hold"], Value::Bool(true));
        assert!(request.0["headers"].as_array().unwrap().iter().any(|pair| pair[0] == "user-agent"), "{}", request.0);
    }
}

#[test]
fn failures_and_robots_txt_are_archived_where_wanted() {
    let web = web();
    let crawl = crawl(&web).with("fetch.record_failures", "true");
    crawl.run_until_requested(&web, 100);
    archive(&crawl, "failures", &[]);
    let Some(records) = read(&directory(&crawl, "failures")) else { return };
    let responses: Vec<_> = records.iter().filter(|record| record.kind() == "response").collect();
    assert!(responses.iter().all(|record| record.0["digests_hold"] == Value::Bool(true)));
    let broken = responses.iter().find(|record| record.url() == BROKEN).unwrap();
    assert!(!broken.payload().is_empty() && broken.field("WARC-Truncated").is_none(), "{}", broken.0);
    let robots: BTreeSet<_> = responses.iter().map(|of| of.url()).filter(|url| url.ends_with("/robots.txt")).collect();
    assert_eq!(robots.len(), web.hosts().len(), "{robots:?}");
}

/// Every revisit names the response whose body it speaks of. What the server answered is in it, or beside it.
fn refer_to_what_did_not_change(records: &[Record]) {
    let by_id: HashMap<_, _> = records.iter().map(|record| (record.id(), record)).collect();
    for revisit in records.iter().filter(|record| record.kind() == "revisit") {
        let original = by_id[revisit.field("WARC-Refers-To").unwrap()];
        assert_eq!((original.kind(), original.status()), ("response", "200"));
        assert_eq!(revisit.field("WARC-Refers-To-Target-URI"), Some(original.url()));
        assert_eq!(revisit.field("WARC-Refers-To-Date"), original.field("WARC-Date"));
        assert_eq!(revisit.field("WARC-Payload-Digest"), original.field("WARC-Payload-Digest"));
        assert_eq!(revisit.payload(), b"");
        let profile = revisit.field("WARC-Profile").unwrap();
        if revisit.url().contains(PLAIN_HOST) {
            assert!(profile.ends_with("identical-payload-digest") && revisit.status() == "200", "{}", revisit.0);
        } else {
            assert!(profile.ends_with("server-not-modified") && revisit.0["status"].is_null(), "{}", revisit.0);
            let is_beside =
                |record: &&Record| record.kind() == "metadata" && record.field("WARC-Refers-To") == Some(revisit.id());
            let answer = records.iter().find(is_beside).unwrap().payload();
            assert!(answer.starts_with(b"response: HTTP/1.1 304 "), "{}", String::from_utf8_lossy(&answer));
        }
    }
}

/// The same records, by their names and what they refer to, come in several files, and in several exports.
fn can_be_taken_in_parts(crawl: &Crawl, whole: &[Record]) {
    let reported = |records: &[Record]| -> BTreeSet<(String, Option<String>)> {
        let captures = records.iter().filter(|record| record.kind() != "warcinfo");
        captures.map(|it| (it.id().to_owned(), it.field("WARC-Refers-To").map(str::to_owned))).collect()
    };
    let whole = reported(whole);
    let small = archive(crawl, "small", &["--max-file-bytes", "20000"]);
    assert!(small.len() > 3 && small.iter().all(|file| file["bytes"].as_u64() <= Some(20_000)), "{small:?}");
    let records = read(&directory(crawl, "small")).unwrap();
    assert_eq!(reported(&records), whole);
    assert_eq!(records.iter().filter(|record| record.kind() == "warcinfo").count(), small.len());
    let names: BTreeSet<_> = small.iter().map(|file| PathBuf::from(file["file"].as_str().unwrap())).collect();
    assert_eq!(
        archives_in(&directory(crawl, "small")).into_iter().collect::<BTreeSet<_>>(),
        names,
        "nothing is left open"
    );

    // A run that was killed after its second file goes on behind that, and then in one that was limited.
    let second = small[1]["cursor"].as_str().unwrap();
    archive(crawl, "rest", &["--cursor", second, "--limit", "9"]);
    archive(crawl, "rest", &[]);
    let before = |record: &Record| small[..2].iter().any(|file| file["file"] == record.0["file"]);
    let mut parts = reported(&records.into_iter().filter(before).collect::<Vec<_>>());
    let rest = reported(&read(&directory(crawl, "rest")).unwrap());
    assert!(parts.is_disjoint(&rest), "nothing twice");
    parts.extend(rest);
    assert_eq!(parts, whole, "nothing left out");
    assert_eq!(
        archives_in(&directory(crawl, "rest")).len(),
        2,
        "the second run numbered its file after the first one's"
    );
}

#[test]
fn lines_have_what_was_fetched() {
    let web = web();
    let crawl = crawl(&web);
    crawl.run_until_requested(&web, 300);
    let all = lines(&export(&crawl, &["jsonl"]).exits_with(0).says(&["results; cursor "]));
    let bodies = bodies(&web);
    let fetched: Vec<_> = all.iter().filter(|line| line["outcome"] == "fetched").collect();
    assert!(fetched.len() >= 17, "{all:#?}");
    for line in fetched {
        let body = line["body"].as_str().unwrap().as_bytes();
        assert!(bodies[line["url"].as_str().unwrap()].contains(body));
        assert_eq!(line["content_digest"].as_str(), Some(Digest::of(body).to_string().as_str()));
        assert_eq!((line["body_form"].as_str(), line["charset"].as_str()), (Some("text"), Some("UTF-8")));
        let headers = line["headers"].as_array().unwrap();
        assert!(headers.iter().any(|pair| pair[0] == "content-type"), "{headers:?}");
    }
    let moved = all.iter().find(|line| line["url"] == MOVED).unwrap();
    assert_eq!((&moved["hops"][0]["status"], &moved["hops"][0]["url"]), (&Value::from(301), &Value::from(MOVED)));

    let middle = all.len() / 2;
    let cursor = all[middle - 1]["cursor"].as_str().unwrap();
    let first = lines(&export(&crawl, &["jsonl", "--limit", &middle.to_string()]).exits_with(0));
    let rest = lines(&export(&crawl, &["jsonl", "--cursor", cursor]).exits_with(0));
    assert_eq!([first, rest].concat(), all);
    let bodiless = lines(&export(&crawl, &["jsonl", "--no-body"]).exits_with(0));
    assert!(bodiless.len() == all.len() && bodiless.iter().all(|line| line["body"].is_null()));
    let since = all[middle]["fetched_at"].as_str().unwrap();
    let later = lines(&export(&crawl, &["jsonl", "--since", since]).exits_with(0));
    assert!(!later.is_empty() && later.iter().all(|line| line["fetched_at"].as_str() >= Some(since)));
}

#[test]
fn an_archive_of_a_running_crawl_is_complete_when_it_is_stopped() {
    let web = web();
    let crawl = crawl(&web);
    let running = crawl.run(&[]);
    wait_for("the crawl is under way", SOON, || web.page_requests() > 0);
    let out = directory(&crawl, "live");
    let exporting = start(&crawl, &["warc", "--follow", "--out", out.to_str().unwrap()]);
    let open_bytes = || files_in(&out).iter().map(|path| path.metadata().unwrap().len()).sum::<u64>();
    wait_for("something is written", SOON, || open_bytes() > 0);
    let before = open_bytes();
    wait_for("what is fetched meanwhile is written too", SOON, || open_bytes() > before);
    exporting.signal(libc::SIGINT);
    let reported = lines(&exporting.finish().exits_with(0).says(&["; cursor "]));
    running.signal(libc::SIGINT);
    running.finish().exits_with(0);
    assert_eq!(reported.len(), 1);
    let file = reported[0]["file"].as_str().unwrap();
    assert!(file.ends_with(".warc.gz") && archives_in(&out) == [PathBuf::from(file)], "{:?}", files_in(&out));
    let Some(records) = read(&out) else { return };
    assert_eq!(reported[0]["records"].as_u64(), Some(records.len() as u64));
}

#[test]
fn an_export_that_fails_is_to_be_gone_on_with_behind_what_is_complete() {
    let web = web();
    let crawl = crawl(&web);
    crawl.run_until_requested(&web, 200);
    let out = directory(&crawl, "gone");
    let exporting = start(&crawl, &["warc", "--follow", "--out", out.to_str().unwrap()]);
    let is_begun = || files_in(&out).iter().any(|path| path.metadata().is_ok_and(|file| file.len() > 0));
    wait_for("a file is begun", SOON, is_begun);
    std::fs::remove_dir_all(&out).unwrap();
    exporting.signal(libc::SIGINT);
    let output = exporting.finish().exits_with(3).says(&["recrawl: ", out.to_str().unwrap(), "cursor 0.0.0.0"]);
    assert_eq!(output.stdout, "", "no file is complete");

    // A file that no note knows of.
    std::fs::create_dir(&out).unwrap();
    let unfinished = out.join("recrawl-20261121000000000-00007.warc.gz.open");
    std::fs::write(&unfinished, "half a file").unwrap();
    let arguments = ["warc", "--out", out.to_str().unwrap(), "--cursor", "0.0.0.0"];
    let output = export(&crawl, &arguments).exits_with(0);
    let output = output.says(&[unfinished.to_str().unwrap(), "is left alone"]);
    assert!(lines(&output)[0]["file"].as_str().unwrap().ends_with("-00008.warc.gz"), "{}", output.stdout);
    assert_eq!(std::fs::read(&unfinished).unwrap(), b"half a file", "it is not ours to delete");
}

#[test]
fn what_cannot_be_exported_says_why() {
    let nothing = Crawl::default();
    export(&nothing, &["jsonl"]).exits_with(2).says(&["recrawl: ", &nothing.data().display().to_string()]);
    let web = web();
    let crawl = Crawl::of(&web);
    crawl.run(&["--until-idle"]).finish().exits_with(0);
    export(&crawl, &["jsonl"]).exits_with(0).says(&["set log.retention_results to keep them"]);
    let file = crawl.seeds_file().display().to_string();
    let under = format!("{file}/archive");
    export(&crawl, &["warc", "--out", &under]).exits_with(3).says(&["recrawl: ", &under]);
    export(&crawl, &["jsonl", "--prefix", "a"]).exits_with(2).says(&["--out"]);
    export(&crawl, &["jsonl", "--out", &under]).exits_with(3).says(&["recrawl: ", &under]);
    let out = directory(&crawl, "out").display().to_string();
    export(&crawl, &["warc", "--out", &out, "--prefix", "a/b"]).exits_with(2).says(&["letters, digits"]);
    export(&crawl, &["warc", "--out", &out, "--cursor", "1.x"]).exits_with(2).says(&["not a cursor"]);
    export(&crawl, &["warc", "--out", &out, "--cursor", "1.2.3.4.5"]).exits_with(2).says(&["partitions"]);
    export(&crawl, &["warc", "--out", &out, "--cursor", "99999.0.0.0"]).exits_with(2).says(&["ahead of this crawl"]);
    export(&crawl, &["warc"]).exits_with(2).says(&["--out"]);
}
