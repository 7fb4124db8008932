//! The port against its own document: requests that schemathesis makes from `/openapi.json`, by callers of every role.

use daemon::http::{KeyEntry, Role};
use operate::Access;
use serde_json::{Value, json};
use std::process::Command;
use tests::{Crawl, HttpAnswer, SOON, wait_for};

/// Requests, if `RECRAWL_API_REQUESTS` does not say how many. The nightly run makes 10,000.
const REQUESTS: &str = "600";

#[test]
fn requests_of_the_document_have_its_answers_and_do_nothing_without_a_right() {
    let Some(python) = std::env::var_os("RECRAWL_PYTHON") else {
        println!("LEFT OUT: RECRAWL_PYTHON is not set (`make env` sets it)");
        return;
    };
    let keys =
        json!({ "viewer": "of-viewer", "operator": "of-operator", "admin": "of-admin", "some_hosts": "of-hosts" });
    let key = |name: &str, role, hosts| KeyEntry::new(name, role, hosts, keys[name].as_str().unwrap()).to_toml();
    let file = key("viewer", Role::Viewer, None)
        + &key("operator", Role::Operator, None)
        + &key("admin", Role::Admin, None)
        + &key("some_hosts", Role::Admin, Some(vec!["*.mine.test".to_owned()]));
    let crawl = Crawl::default();
    let keys_file = crawl.directory.path().join("keys.toml");
    std::fs::write(&keys_file, file).unwrap();
    // Addresses that are made up must not be asked for: all names are here, and nothing answers at this port.
    let crawl = crawl
        .with("fetch.resolve", "*=127.0.0.1:1")
        .with("fetch.ports", "1")
        .with("http.keys_file", &keys_file.display().to_string())
        .with("hints.token", "a-token-of-the-hints")
        .with("hints.indexnow", "www.mine.test=0123456789abcdef")
        .with("hints.websub", "news=http://www.mine.test/feed.xml")
        .with("hints.websub_secrets", "news=a-secret-of-the-hub");
    std::fs::write(crawl.seeds_file(), "http://www.mine.test/").unwrap();
    let running = crawl.run(&[]);
    let address = || Access::noted(&crawl.data()).map(|access| access.address);
    let is_ready = || HttpAnswer::to(address()?, "/readyz").filter(|answer| answer.status == 200);
    wait_for("the crawl is ready", SOON, || is_ready().is_some());
    let output = Command::new(python)
        .arg(tests::workspace().join("tests/embedded/api.py"))
        .arg(format!("http://{}", address().unwrap()))
        .arg(std::env::var("RECRAWL_API_REQUESTS").unwrap_or_else(|_| REQUESTS.to_owned()))
        .arg(crawl.directory.path())
        .arg(keys.to_string())
        .output()
        .unwrap();
    let (made, faults) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    println!("{made}");
    assert!(output.status.success(), "{made}\n{faults}");
    let statuses = serde_json::from_str::<Value>(&made).unwrap()["statuses"].clone();
    for status in ["200", "204", "400", "401", "403", "404"] {
        assert!(statuses[status].as_u64() > Some(0), "no request was answered with {status}: {statuses}");
    }
    running.signal(libc::SIGINT);
    running.finish().exits_with(0);
}
