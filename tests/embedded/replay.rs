//! Archives are replayed: by indexes beside WARC files, and as packages.

use crate::archives::{crawl, directory, export, files_in, lines, read_with, start, web};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use tests::{Crawl, SOON, wait_for};

/// A crawl with failures and robots.txt, some hundred fetches long.
fn crawled() -> (tests::SimulatedWeb, Crawl) {
    let web = web();
    let crawl = crawl(&web).with("fetch.record_failures", "true");
    crawl.run_until_requested(&web, 600);
    (web, crawl)
}

/// Names in a directory with this ending, without it.
fn stems(directory: &Path, ending: &str) -> BTreeSet<String> {
    let names = files_in(directory).into_iter().map(|path| path.file_name().unwrap().to_string_lossy().into_owned());
    names.filter_map(|name| Some(name.strip_suffix(ending)?.to_owned())).collect()
}

/// The address of a capture, and one of the texts that are known of it.
fn text<'a>(line: &'a Value, part: &str, name: &str) -> (&'a str, Option<&'a str>) {
    (line["capture"]["url"].as_str().unwrap(), line[part][name].as_str())
}

#[test]
fn every_capture_is_replayed_with_its_body_although_exports_were_killed() {
    let (_web, crawl) = crawled();
    let out = directory(&crawl, "replay");
    let arguments = ["warc", "--out", out.to_str().unwrap(), "--max-file-bytes", "20000"];
    for kill in 1..=4 {
        let exporting = start(&crawl, &[&arguments[..], &["--follow"]].concat());
        let is_under_way = || stems(&out, ".warc.gz").len() >= 3 * kill;
        wait_for("some files are complete", SOON, is_under_way);
        exporting.kill();
    }
    let reported = lines(&export(&crawl, &arguments).exits_with(0));
    let (archives, indexes) = (stems(&out, ".warc.gz"), stems(&out, ".cdxj"));
    assert_eq!(archives, indexes, "each file has its index, and each index its file");
    assert_eq!(files_in(&out).len(), archives.len() + indexes.len(), "nothing is left over: {:?}", files_in(&out));
    for file in &reported {
        let index = file["file"].as_str().unwrap().replace(".warc.gz", ".cdxj");
        assert_eq!(file["companion"].as_str(), Some(index.as_str()));
    }

    let Some(read) = read_with("replay.py", vec![out.clone()]) else { return };
    let (files, captures): (Vec<Value>, Vec<Value>) = read.into_iter().partition(|line| line["index"].is_string());
    assert_eq!(files.len(), archives.len());
    for file in &files {
        let index = out.join(file["file"].as_str().unwrap().replace(".warc.gz", ".cdxj"));
        assert_eq!(std::fs::read_to_string(index).unwrap(), file["index"].as_str().unwrap(), "{}", file["file"]);
    }
    let mut replayed = BTreeMap::<&str, usize>::new();
    let known: BTreeSet<_> = captures.iter().map(|line| text(line, "capture", "digest")).collect();
    for line in &captures {
        let capture = &line["capture"];
        assert!(line["problem"].is_null(), "{line}");
        let digest = text(line, "replayed", "digest");
        match text(line, "capture", "digest") {
            (_, None) => assert!(capture["mime"] == "warc/revisit" && known.contains(&digest), "{line}"),
            expected => assert_eq!(digest, expected, "{line}"),
        }
        *replayed.entry(capture["mime"].as_str().unwrap_or_default()).or_default() += 1;
    }
    assert!(replayed["warc/revisit"] > 20 && replayed["text/html"] > 30, "{replayed:?}");
}

#[test]
fn packages_are_valid_and_have_what_files_have() {
    let (_web, crawl) = crawled();
    let (out, unpacked) = (directory(&crawl, "packages"), directory(&crawl, "unpacked"));
    let arguments = ["wacz", "--out", out.to_str().unwrap(), "--max-file-bytes", "60000"];
    let reported = lines(&export(&crawl, &arguments).exits_with(0).says(&["results as "]));
    let files: Vec<_> = reported.iter().map(|line| PathBuf::from(line["file"].as_str().unwrap())).collect();
    assert_eq!(files_in(&out), files);
    assert!(files.len() > 3, "{reported:?}");
    for file in &reported {
        assert!(file["bytes"].as_u64() <= Some(60_000) && file["file"].as_str().unwrap().ends_with(".wacz"), "{file}");
    }

    std::fs::create_dir(&unpacked).unwrap();
    let Some(packages) = read_with("read_wacz.py", [vec![unpacked.clone()], files].concat()) else { return };
    assert_eq!(packages.len(), reported.len());
    let mut pages = 0;
    for package in &packages {
        assert_eq!((&package["problems"], &package["archives"]), (&Value::Null, &Value::from(1)), "{package}");
        assert_eq!(package["index"], package["expected_index"]);
        let [header, listed @ ..] = package["pages"].as_array().unwrap().as_slice() else { panic!("{package}") };
        assert_eq!(header["format"], "json-pages-1.0");
        for page in listed {
            let (url, time) = (page["url"].as_str().unwrap(), page["ts"].as_str().unwrap());
            let time: String = time.chars().filter(char::is_ascii_digit).collect();
            let captured = format!(" {time} {{\"url\": \"{url}\", \"mime\": \"text/html\", \"status\": \"200\"");
            assert!(package["index"].as_str().unwrap().contains(&captured), "{page}");
            assert!(!page["title"].as_str().unwrap().is_empty() && page["title"] != page["url"], "{page}");
        }
        pages += listed.len();
    }
    assert!(pages > 30, "{pages}");

    // The same records as those of plain files.
    let plain = directory(&crawl, "plain");
    export(&crawl, &["warc", "--out", plain.to_str().unwrap()]).exits_with(0);
    let records = |directory: &Path| -> BTreeSet<String> {
        let files = files_in(directory).into_iter().filter(|path| path.extension().is_some_and(|it| it == "gz"));
        let records = read_with("read_warc.py", files.collect()).unwrap().into_iter();
        let captures = records.filter(|record| record["type"] != "warcinfo");
        captures.map(|record| record["fields"]["WARC-Record-ID"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(records(&unpacked), records(&plain));
}
