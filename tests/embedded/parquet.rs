//! Exports of fetches as Parquet: a foreign reader finds the rows that the lines of JSON have.

use crate::archives::{crawl, directory, export, files_in, lines, read_with, web};
use serde_json::Value;
use std::path::PathBuf;
use tests::Crawl;

/// A row of a Parquet file, as DuckDB understands it, and the number of row groups of its file.
fn rows(files: &[Value]) -> Option<Vec<(Value, u64)>> {
    let files = files.iter().map(|file| PathBuf::from(file["file"].as_str().unwrap())).collect();
    let read = read_with("read_parquet.py", files)?;
    Some(read.into_iter().map(|mut line| (line["row"].take(), line["groups"].as_u64().unwrap())).collect())
}

fn parquet(crawl: &Crawl, name: &str, further: &[&str]) -> Vec<Value> {
    let directory = directory(crawl, name);
    let arguments = [&["parquet", "--out", directory.to_str().unwrap()], further].concat();
    lines(&export(crawl, &arguments).exits_with(0).says(&["results in "]))
}

#[test]
fn rows_of_parquet_are_the_lines_of_json() {
    let web = web();
    let crawl = crawl(&web);
    crawl.run_until_requested(&web, 300);
    let mut expected = lines(&export(&crawl, &["jsonl"]).exits_with(0));
    for line in &mut expected {
        let form = line.as_object_mut().unwrap().remove("body_form").unwrap();
        let Some(body) = line["body"].as_str().map(str::to_owned) else { continue };
        assert_eq!(form, "text", "the pages of this web are text");
        line["body"] = body.bytes().map(|byte| format!("{byte:02X}")).collect::<String>().into();
    }
    let whole = parquet(&crawl, "whole", &[]);
    assert_eq!((whole.len(), whole[0]["records"].as_u64()), (1, Some(expected.len() as u64)));
    let Some(read) = rows(&whole) else { return };
    let read: Vec<_> = read.into_iter().map(|(row, _)| row).collect();
    assert_eq!(read, expected);
    assert_eq!(files_in(&directory(&crawl, "whole")).len(), 1, "nothing is left open");

    // A limit of the files, and what follows a run that was killed after its second file.
    let small = parquet(&crawl, "small", &["--max-file-bytes", "30000"]);
    assert!(small.len() > 2 && small.iter().all(|file| file["bytes"].as_u64() <= Some(30_000)), "{small:?}");
    let rest = parquet(&crawl, "rest", &["--cursor", small[1]["cursor"].as_str().unwrap()]);
    let parts = [&small[..2], &rest].concat();
    for files in [&small, &parts] {
        let read: Vec<_> = rows(files).unwrap().into_iter().map(|(row, _)| row).collect();
        assert_eq!(read, expected);
    }
    let bodiless = rows(&parquet(&crawl, "bodiless", &["--no-body"])).unwrap();
    assert!(bodiless.len() == expected.len() && bodiless.iter().all(|(row, _)| row["body"].is_null()));
}
