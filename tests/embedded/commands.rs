//! Every command of operators, to a crawl that is stopped and to one that runs.

use operate::Access;
use tempfile::TempDir;
use tests::operating::{SETTINGS, sees_every_command, web};
use tests::{Crawl, Process, SOON, SimulatedWeb, authority_files, programs, wait_for};

const TOKEN: &str = "a-token-of-some-length";

fn crawl(web: &SimulatedWeb) -> Crawl {
    let crawl = SETTINGS.iter().fold(Crawl::of(web), |crawl, (key, value)| crawl.with(key, value));
    crawl.run(&["--until-idle"]).finish().exits_with(0);
    crawl
}

#[test]
fn every_command_reaches_a_crawl_that_is_stopped() {
    let web = web();
    let crawl = crawl(&web);
    let send = |arguments: &[&str]| crawl.ask(arguments[0], &arguments[1..]);
    let run = || {
        let output = crawl.ask("run", &["--until-idle"]);
        match output.status.code() {
            // As on a busy machine, where a request waits too long for its host.
            Some(1) => output.says(&["nothing was fetched: "]),
            _ => output.exits_with(0),
        };
    };
    sees_every_command(&web, crawl.directory.path(), &send, &run);
}

#[test]
fn every_command_reaches_a_crawl_that_runs_by_its_address() {
    let web = web();
    let crawl = crawl(&web).with("http.token", TOKEN);
    let process = crawl.start("run", &[]);
    let address = || {
        let said = process.stderr();
        said.split_once("status at http://").and_then(|(_, rest)| rest.split('/').next().map(str::to_owned))
    };
    wait_for("the crawl runs", SOON, || address().is_some());
    let address = address().unwrap();
    let send_with = |token: &str, arguments: &[&str]| {
        let mut command = programs().command("recrawl");
        command.args(["--format", "json"]).args(arguments).args(["--url", &address]).env("RECRAWL_HTTP_TOKEN", token);
        Process::start(command, crawl.directory.path()).finish()
    };
    send_with("", &["pause", "a.test"]).exits_with(3).says(&["401", "a token is needed"]);
    send_with("a-token-of-another-crawl", &["pause", "a.test"]).exits_with(3).says(&["a token is needed"]);
    let send = |arguments: &[&str]| send_with(TOKEN, arguments);
    sees_every_command(&web, crawl.directory.path(), &send, &|| ());
    process.signal(libc::SIGINT);
    process.finish().exits_with(0);
}

#[test]
fn commands_to_a_crawl_that_was_killed_do_not_reach_the_one_that_has_its_port() {
    let web = web();
    let (killed, other) = (Crawl::of(&web), Crawl::of(&web));
    let process = killed.run(&[]);
    let access = || Access::noted(&killed.data());
    wait_for("the crawl runs", SOON, || access().is_some());
    process.kill();
    let address = access().unwrap().address;
    // The port was free a moment ago. If another takes it, the test fails and says so.
    let other = other.with("http.bind", &address);
    let process = other.run(&[]);
    wait_for("the other crawl runs", SOON, || Access::noted(&other.data()).is_some());
    other.ask("status", &[]).exits_with(0);
    for (command, argument) in [("pause", "a.test"), ("seed", "http://a.test/new"), ("forget", "http://a.test/new")] {
        killed.ask(command, &[argument]).exits_with(3).says(&["another crawl runs at", &address, "http-address"]);
    }
    killed.ask("status", &[]).exits_with(3).says(&["another crawl runs at"]);
    process.signal(libc::SIGINT);
    process.finish().exits_with(0);
    assert!(Access::noted(&other.data()).is_none(), "a crawl that ends takes its address and token along");
    assert!(!other.data().join(operate::TOKEN_FILE).exists());
    // Nothing is there any more: the directory itself takes the command.
    killed.ask("pause", &["a.test"]).exits_with(0);
}

/// Sets a crawl's TLS to a new certificate for localhost. Returns its file, and the directory with it.
fn with_tls(crawl: Crawl) -> (Crawl, (TempDir, String)) {
    let (directory, files) = authority_files(vec!["localhost".to_owned()]);
    let [certificate, key] = files.map(|file| file.display().to_string());
    (crawl.with("http.tls_certificate", &certificate).with("http.tls_key", &key), (directory, certificate))
}

#[test]
fn other_machines_reach_a_crawl_only_with_a_key_and_tls() {
    let web = web();
    let crawl = || Crawl::of(&web).with("http.bind", "0.0.0.0:0");
    let ends = |crawl: Crawl| crawl.run(&["--until-idle"]).finish();
    ends(crawl()).exits_with(2).says(&["http.bind: ", "a key and TLS", "http.keys_file", "http.behind_proxy"]);
    ends(crawl().with("http.token", TOKEN)).exits_with(2).says(&["need TLS, or keys travel in clear"]);
    let (locked, _files) = with_tls(crawl());
    ends(locked).exits_with(2).says(&["need a key"]);
    let (locked, _files) = with_tls(crawl().with("http.token", TOKEN));
    ends(locked).exits_with(0);
    ends(crawl().with("http.behind_proxy", "true")).exits_with(0);
    let with_file = crawl();
    let file = with_file.directory.path().join("token");
    std::fs::write(&file, "short\n").unwrap();
    let (with_file, _files) = with_tls(with_file.with("http.token_file", &file.display().to_string()));
    with_file.run(&["--until-idle"]).finish().exits_with(2).says(&["http.token_file: ", "at least 16"]);
    std::fs::write(&file, format!("{TOKEN}\n")).unwrap();
    with_file.run(&["--until-idle"]).finish().exits_with(0);
    with_file.with("http.tls_key", "/nowhere").run(&[]).finish().exits_with(2).says(&["/nowhere: "]);
}

#[test]
fn a_key_commands_what_its_role_and_hosts_permit_until_it_is_withdrawn() {
    let web = web();
    let crawl = crawl(&web);
    let keys = crawl.directory.path().join("keys.toml").display().to_string();
    let key = |arguments: &[&str]| {
        let mut command = programs().command("recrawl");
        command.args(["--format", "json", "key"]).args(arguments).args(["--file", &keys]);
        Process::start(command, crawl.directory.path()).finish()
    };
    let token = |arguments: &[&str]| {
        let made = key(arguments).exits_with(0).json();
        made["token"].as_str().unwrap().to_owned()
    };
    let operator = token(&["alice", "--role", "operator", "--host", "a.test"]);
    key(&["alice", "--role", "admin"]).exits_with(2).says(&["alice has a key"]);
    let admin = token(&["root", "--role", "admin"]);
    let stored = std::fs::read_to_string(&keys).unwrap();
    assert!(!stored.contains(&operator) && !stored.contains(&admin));
    let (crawl, (_directory, certificate)) = with_tls(crawl.with("http.keys_file", &keys));
    let process = crawl.start("run", &[]);
    let port = || {
        let said = process.stderr();
        said.split_once("status at https://127.0.0.1:").and_then(|(_, rest)| rest.split('/').next().map(str::to_owned))
    };
    wait_for("the crawl runs", SOON, || port().is_some());
    let address = format!("https://localhost:{}", port().unwrap());
    let send = |token: &str, arguments: &[&str]| {
        let mut command = programs().command("recrawl");
        let ca_file = format!("http.ca_file={certificate}");
        command.args(arguments).args(["--url", &address, "--set", &ca_file]).env("RECRAWL_HTTP_TOKEN", token);
        Process::start(command, crawl.directory.path()).finish()
    };
    send(&operator, &["pause", "a.test"]).exits_with(0);
    send(&operator, &["pause", "b.test"]).exits_with(3).says(&["403", "is not for b.test"]);
    send(&operator, &["forget", "http://a.test/"]).exits_with(3).says(&["403", "/api/v1/pages/forget takes admin"]);
    send(&admin, &["forget", "http://b.test/x"]).exits_with(0);
    send(&admin, &["status"]).exits_with(0);
    // The user of the directory needs neither.
    crawl.ask("resume", &["a.test"]).exits_with(0);
    let rest = stored.split_inclusive("[[keys]]").skip(2).collect::<String>();
    std::fs::write(&keys, format!("[[keys]]{rest}")).unwrap();
    send(&operator, &["pause", "a.test"]).exits_with(3).says(&["401"]);
    send(&admin, &["pause", "a.test"]).exits_with(0);
    process.signal(libc::SIGINT);
    process.finish().exits_with(0).says(&["command refused key=\"alice\"", "command taken key=\"root\""]);
}
