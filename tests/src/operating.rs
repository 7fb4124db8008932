//! Checks of the effect of operators' commands on fetches, for every way by which commands reach a crawl.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, also in its helpers")]

use crate::{Output, SOON, SimulatedWeb, wait_for};
use simweb::{RequestKind, SeededConfig};
use std::path::Path;

/// Two hosts with two pages each.
pub fn web() -> SimulatedWeb {
    SimulatedWeb::start(SeededConfig { hosts: 2, pages_per_host: 2, ..SeededConfig::default() }, 1.0, |_| ())
}

/// Settings with which a page is fetched once, and then only on command.
pub const SETTINGS: [(&str, &str); 2] = [("policy.min_interval", "1h"), ("policy.audit_share", "0")];

/// How names are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Given {
    Named,
    InFile,
}
use Given::{InFile, Named};

/// Gives every command by name and by file to a crawl that has fetched all pages of [`web`] once, and sees what is fetched then.
/// `run` lets a crawl that is stopped go on until it is idle, and is called until the step has its effect.
pub fn sees_every_command(web: &SimulatedWeb, directory: &Path, send: &dyn Fn(&[&str]) -> Output, run: &dyn Fn()) {
    let urls = web.urls();
    // One of each host, and the one to be forgotten.
    let (a, b, c) = (urls[0].as_str(), urls[2].as_str(), urls[1].as_str());
    let (host_a, host_b) = ("host-0001.test", "host-0002.test");
    let fetched = |url: &str| {
        let is_it =
            |host: &str, path: &str| url.strip_prefix("http://").and_then(|it| it.strip_prefix(host)) == Some(path);
        let ledger = web.ledger().into_iter().filter(|entry| entry.kind == RequestKind::Page);
        ledger.filter(|entry| is_it(&entry.host, &entry.path)).count()
    };
    let file = directory.join("names.txt");
    assert_eq!([a, b, c].map(fetched), [1, 1, 1]);
    // A command without an effect is followed by one that has one on the same host or page: what was fetched in spite of it
    // would be counted there.
    let steps: [(&str, &[&str], Given, [usize; 3]); 19] = [
        ("pause", &[host_a], InFile, [1, 1, 1]),
        ("refetch", &[a, b], InFile, [1, 2, 1]),
        ("resume", &[host_a], Named, [2, 2, 1]),
        ("block", &[host_b], InFile, [2, 2, 1]),
        ("refetch", &[a, b], Named, [3, 2, 1]),
        ("unblock", &[host_b], InFile, [3, 3, 1]),
        ("pause", &[host_b], Named, [3, 3, 1]),
        ("refetch", &[a, b], InFile, [4, 3, 1]),
        ("resume", &[host_b], InFile, [4, 4, 1]),
        ("block", &[host_a], Named, [4, 4, 1]),
        ("refetch", &[a, b], Named, [4, 5, 1]),
        ("unblock", &[host_a], Named, [5, 5, 1]),
        ("forget", &[c], InFile, [5, 5, 1]),
        ("refetch", &[c, a], Named, [6, 5, 1]),
        ("seed", &[c], InFile, [6, 5, 1]),
        ("refetch", &[a], InFile, [7, 5, 1]),
        ("seed", &[c], Named, [7, 5, 2]),
        ("forget", &[c], Named, [7, 5, 2]),
        ("refetch", &[c, a], InFile, [8, 5, 2]),
    ];
    for (step, (command, names, given, expected)) in steps.into_iter().enumerate() {
        match given {
            Named => send(&[&[command][..], names].concat()).exits_with(0),
            InFile => {
                std::fs::write(&file, format!("# of step {step}\n{}\n", names.join("\n"))).unwrap();
                send(&[command, "--file", file.to_str().unwrap()]).exits_with(0)
            }
        };
        run();
        let what = format!("step {step}, {command} {names:?} {given:?}: {expected:?} were fetched");
        wait_for(&what, SOON, || {
            let counts = [a, b, c].map(fetched);
            assert!(counts.iter().zip(expected).all(|(count, most)| *count <= most), "{what}, not {counts:?}");
            let is_done = counts == expected;
            if !is_done {
                run();
            }
            is_done
        });
    }
}
