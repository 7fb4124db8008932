//! Exports to a directory: each fetch is in its files once, however often and in whatever way an export ends.

use crate::archives::{crawl, directory, export, files_in, lines, start, web};
use crate::object_storage::json_lines;
use tests::{SOON, wait_for};

#[test]
fn exports_to_a_directory_go_on_where_the_last_one_has_stopped_or_was_killed() {
    let web = web();
    let crawl = crawl(&web);
    crawl.run_until_requested(&web, 300);
    let expected = lines(&export(&crawl, &["jsonl"]).exits_with(0));
    let out = directory(&crawl, "lines");
    let arguments = ["jsonl", "--out", out.to_str().unwrap()];
    export(&crawl, &[&arguments[..], &["--limit", "9"]].concat())
        .exits_with(0)
        .says(&["exporting to ", "from the beginning"]);
    // Killed while a file is open that has everything else.
    let killed = start(&crawl, &[&arguments[..], &["--follow"]].concat());
    let open_bytes = || {
        let open = files_in(&out).into_iter().find(|path| path.extension().is_some_and(|ending| ending == "open"));
        open.and_then(|path| path.metadata().ok()).map_or(0, |file| file.len())
    };
    wait_for("a file is open and has something", SOON, || open_bytes() > 0);
    let busy = export(&crawl, &arguments).exits_with(2);
    busy.says(&["another recrawl writes there", "give another --out or --prefix"]);
    killed.kill();
    assert!(open_bytes() > 0);
    export(&crawl, &arguments).exits_with(0).says(&["exporting to ", " after cursor "]);
    assert_eq!(json_lines(&files_in(&out)), expected, "nothing twice, nothing left out");
    let again = export(&crawl, &arguments).exits_with(0);
    assert_eq!((again.stdout.as_str(), json_lines(&files_in(&out))), ("", expected));
    assert!(files_in(&out).iter().all(|file| file.extension().is_some_and(|ending| ending == "jsonl")));
    let twice = export(&crawl, &[&arguments[..], &["--cursor", "0.0.0.0"]].concat()).exits_with(2);
    twice.says(&["_recrawl.jsonl.progress has a cursor already"]);
}
