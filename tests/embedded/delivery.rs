//! Changes reach programs and web servers at least once, in order, whatever happens on the way.

use aws_lc_rs::hmac;
use base64::prelude::{BASE64_STANDARD, Engine};
use serde_json::Value;
use simweb::SeededConfig;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use tests::{
    Crawl, Output, Process, Reply, SOON, SimulatedWeb, Webhook, WebhookReceiver, deserted, programs, wait_for,
};

const SECRET: &str = "a secret of our own making";
const PAGES: usize = 36;

/// A crawl that has ended and has a change of each page to deliver.
fn crawl() -> Crawl {
    static WEB: LazyLock<SimulatedWeb> = LazyLock::new(|| {
        let seeded = SeededConfig { hosts: 4, pages_per_host: PAGES / 4, ..SeededConfig::default() };
        SimulatedWeb::start(seeded, 1.0, |_| {})
    });
    let crawl = Crawl::of(&WEB).with_variable("RECRAWL_WEBHOOK_SECRET", SECRET);
    crawl.run(&["--until-idle"]).finish().exits_with(0);
    crawl
}

/// The changes as `recrawl changes` prints them.
fn reported(crawl: &Crawl) -> Vec<Value> {
    let output = crawl.ask("changes", &[]).exits_with(0);
    let reported: Vec<_> = output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(reported.len(), PAGES);
    reported
}

fn ids(reported: &[Value]) -> Vec<String> {
    reported.iter().map(|change| change["change_id"].as_str().unwrap().to_owned()).collect()
}

fn taken(receiver: &WebhookReceiver) -> Vec<String> {
    receiver.taken().iter().map(|webhook| webhook.id().to_owned()).collect()
}

fn start(crawl: &Crawl, receiver: &WebhookReceiver, further: &[&str]) -> Process {
    crawl.start("changes", &[&["--webhook", &receiver.url()], further].concat())
}

fn deliver(crawl: &Crawl, receiver: &WebhookReceiver, further: &[&str]) -> Output {
    start(crawl, receiver, further).finish()
}

/// Whether a webhook is signed as Standard Webhooks says.
fn is_signed(webhook: &Webhook) -> bool {
    let header = |name: &str| webhook.headers[name].as_str();
    let signed = [header("webhook-id"), ".", header("webhook-timestamp"), "."].concat().into_bytes();
    let tag =
        hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, SECRET.as_bytes()), &[signed, webhook.body.clone()].concat());
    header("webhook-signature") == format!("v1,{}", BASE64_STANDARD.encode(tag))
}

#[test]
fn a_server_that_fails_in_every_way_gets_every_change_signed_and_in_order() {
    let crawl = crawl();
    let reported = reported(&crawl);
    let receiver = WebhookReceiver::start(|webhook| {
        let number: usize = webhook.json()["page_id"].as_str().unwrap().bytes().map(usize::from).sum();
        match (webhook.came_before, number % 6) {
            (0, 0) => Reply::status(500),
            (0, 1) => Reply::Status(429, vec!["retry-after: 0".to_owned()]),
            (0, 2) => Reply::Close,
            (0, 3) => Reply::BreakOff,
            (0, 4) => Reply::status(404),
            _ => Reply::status(204),
        }
    });
    let done = deliver(&crawl, &receiver, &[]).exits_with(0);
    assert_eq!(taken(&receiver), ids(&reported), "each once, in the order of recrawl changes");
    assert_eq!(receiver.taken().iter().map(Webhook::json).collect::<Vec<_>>(), reported);
    assert!(receiver.seen().iter().all(is_signed), "{:?}", receiver.seen()[0]);
    let summary = done.json();
    let failed = receiver.seen().len() - PAGES;
    assert_eq!((&summary["delivered"], &summary["failed_attempts"]), (&PAGES.into(), &failed.into()));
    assert_eq!(summary["cursor"], reported.last().unwrap()["cursor"]);
    assert!(failed > PAGES / 2, "{failed}");

    let again = deliver(&crawl, &receiver, &[]).exits_with(0).json();
    assert_eq!(again["delivered"], 0, "what was delivered is not delivered again");
    let other = WebhookReceiver::start(|_| Reply::status(200));
    assert_eq!(
        deliver(&crawl, &other, &[]).exits_with(0).json()["delivered"],
        PAGES,
        "each receiver has its own cursor"
    );
    let mut check = programs().command("recrawl");
    check.args(["state", "check", "--data"]).arg(crawl.data());
    Process::start(check, crawl.directory.path()).finish().exits_with(0);
}

#[test]
fn a_server_that_is_silent_or_away_is_asked_again() {
    let crawl = crawl();
    let receiver = WebhookReceiver::start(|webhook| match webhook.came_before {
        0 => Reply::Silence,
        _ => Reply::status(200),
    });
    let done = deliver(&crawl, &receiver, &["--timeout", "200ms", "--limit", "2"]).exits_with(0);
    assert_eq!(done.says(&["did not answer within 200ms; attempt 2 in"]).json()["delivered"], 2);

    let absent = format!("http://{}/", deserted());
    let given_up = crawl.ask("changes", &["--webhook", &absent, "--give-up-after", "1s"]).exits_with(3);
    given_up.says(&["was not delivered: http://127.0.0.1:", "refused", "given up after", "begins with this change"]);
}

#[test]
fn a_kill_at_any_moment_loses_nothing() {
    let crawl = crawl();
    let reported = ids(&reported(&crawl));
    // The sender is killed while each fifth change is on its way, before and after the server has taken it.
    let receiver = WebhookReceiver::start(|webhook| {
        let number =
            webhook.json()["cursor"].as_str().unwrap().split('.').map(|part| part.parse::<u64>().unwrap()).sum::<u64>();
        match (webhook.came_before, number % 5) {
            (0, 0) => Reply::Silence,
            _ => Reply::status(200),
        }
    });
    let mut kills = 0;
    loop {
        let before = receiver.seen().len();
        let mut process = start(&crawl, &receiver, &["--timeout", "60s"]);
        let held = || receiver.seen().last().is_some_and(|webhook| !webhook.was_taken);
        wait_for("a change is on its way, or all is done", SOON, || {
            !process.is_running() || (receiver.seen().len() > before && held())
        });
        if !process.is_running() {
            process.finish().exits_with(0);
            break;
        }
        process.kill();
        kills += 1;
    }
    assert!(kills >= 5, "{kills}");
    let mut once = taken(&receiver);
    once.dedup();
    assert_eq!(once, reported);
    // Another time it is killed just after a change was taken, when it may not have noted that.
    let quick = WebhookReceiver::start(|_| Reply::status(200));
    for part in 1..6 {
        let process = start(&crawl, &quick, &["--follow"]);
        wait_for("some more are taken", SOON, || quick.taken().len() >= part * 5);
        process.kill();
    }
    deliver(&crawl, &quick, &[]).exits_with(0);
    let mut once = taken(&quick);
    let all = once.len();
    once.dedup();
    assert_eq!(once, reported, "at most one change is reported again: the one that was on its way");
    assert!(all <= reported.len() + 5);
}

#[test]
fn what_comes_while_it_follows_is_delivered_and_a_signal_ends_it_between_changes() {
    let crawl = crawl();
    let receiver = WebhookReceiver::start(|_| Reply::status(200));
    let process = start(&crawl, &receiver, &["--follow"]);
    wait_for("what is there is delivered", SOON, || receiver.taken().len() == PAGES);
    let urls = reported(&crawl).iter().map(|change| change["url"].as_str().unwrap().to_owned()).collect::<Vec<_>>();
    // A page that is forgotten, by every stage, and seeded again is new again.
    crawl.ask("forget", &[&urls[0]]).exits_with(0);
    crawl.ask("run", &["--until-idle"]).exits_with(0);
    // It is in the list of seeds, which does not bring it back.
    let run = crawl.run(&["--until-idle"]).finish().exits_with(0).json();
    assert_eq!((&run["forgotten_seeds"], &run["pages"]), (&1.into(), &(PAGES - 1).into()));
    crawl.ask("seed", &[&urls[0]]).exits_with(0);
    crawl.ask("run", &["--until-idle"]).exits_with(0);
    wait_for("that it is forgotten is delivered, and the page again", SOON, || receiver.taken().len() == PAGES + 2);
    process.signal(libc::SIGTERM);
    assert_eq!(process.finish().exits_with(0).json()["delivered"], PAGES + 2);
    let taken = receiver.taken();
    let of_page: Vec<_> =
        taken.iter().map(|webhook| webhook.json()).filter(|change| change["url"] == urls[0]).collect();
    assert_eq!(of_page.iter().map(|change| &change["verdict"]).collect::<Vec<_>>(), ["first", "forgotten", "first"]);
    // A receiver that begins later gets nothing of its first life.
    let later = WebhookReceiver::start(|_| Reply::status(200));
    assert_eq!(deliver(&crawl, &later, &[]).exits_with(0).json()["delivered"], PAGES + 1);

    let failing = WebhookReceiver::start(|_| Reply::status(503));
    let process = start(&crawl, &failing, &["--follow"]);
    wait_for("it waits to try again", SOON, || failing.seen().len() > 2);
    process.signal(libc::SIGTERM);
    let attempts = failing.seen().len();
    assert_eq!(process.finish().exits_with(0).json()["delivered"], 0);
    assert_eq!(failing.seen().len(), attempts, "it waited for the next attempt");
}

#[test]
fn a_change_that_is_given_up_stops_the_command_or_is_left_out_as_asked() {
    let crawl = crawl();
    let reported = ids(&reported(&crawl));
    let works = Arc::new(AtomicBool::new(false));
    let (bad, now) = (reported[3].clone(), works.clone());
    let receiver = WebhookReceiver::start(move |webhook| match webhook.id() == bad && !now.load(Ordering::SeqCst) {
        true => Reply::status(422),
        false => Reply::status(200),
    });
    let stopped = deliver(&crawl, &receiver, &[]).exits_with(3);
    stopped.says(&[&reported[3], "refused it with 422: status 422", "begins with this change"]);
    assert_eq!(taken(&receiver), reported[..3]);
    let skipped = deliver(&crawl, &receiver, &["--on-failure", "skip"]).exits_with(3);
    let summary = skipped.says(&[&reported[3], "left out", "1 changes were not delivered"]).json();
    assert_eq!((&summary["delivered"], &summary["skipped"]), (&(PAGES - 4).into(), &1.into()));
    assert_eq!(taken(&receiver), [&reported[..3], &reported[4..]].concat());

    let slow = WebhookReceiver::start(|_| Reply::Status(503, vec!["Retry-After: 7200".to_owned()]));
    deliver(&crawl, &slow, &[]).exits_with(3).says(&["answered 503", "asks to wait 2h, longer than --give-up-after"]);
    works.store(true, Ordering::SeqCst);
}

#[test]
fn changes_that_are_not_wanted_are_passed_over_for_good() {
    let crawl = crawl();
    let last = reported(&crawl).pop().unwrap()["cursor"].clone();
    let receiver = WebhookReceiver::start(|_| Reply::status(200));
    let none = deliver(&crawl, &receiver, &["--verdict", "minor,major"]).exits_with(0).json();
    assert_eq!((&none["delivered"], &none["cursor"]), (&0.into(), &last));
    assert_eq!(deliver(&crawl, &receiver, &[]).exits_with(0).json()["delivered"], 0);
    assert_eq!(crawl.ask("changes", &["--verdict", "gone"]).exits_with(0).stdout, "");
    assert_eq!(crawl.ask("changes", &["--verdict", "gone,first"]).exits_with(0).stdout.lines().count(), PAGES);
}

#[test]
fn a_redirect_is_not_followed() {
    let crawl = crawl();
    let elsewhere = WebhookReceiver::start(|_| Reply::status(200));
    let location = format!("location: {}", elsewhere.url());
    for status in [301, 302, 303, 307, 308] {
        let location = location.clone();
        let receiver = WebhookReceiver::start(move |_| Reply::Status(status, vec![location.clone()]));
        deliver(&crawl, &receiver, &[]).exits_with(3).says(&["redirects are not followed"]);
        assert_eq!(receiver.seen().len(), 1);
    }
    assert!(elsewhere.seen().is_empty());
}

#[test]
fn certificates_are_verified() {
    let crawl = crawl();
    let receiver = WebhookReceiver::start_with_tls(|_| Reply::status(200));
    let refused = deliver(&crawl, &receiver, &["--give-up-after", "300ms"]).exits_with(3);
    refused.says(&["invalid peer certificate"]);
    assert!(receiver.seen().is_empty());
    let authority = receiver.authority().unwrap().display().to_string();
    assert_eq!(deliver(&crawl, &receiver, &["--ca-file", &authority]).exits_with(0).json()["delivered"], PAGES);
    assert!(receiver.seen().iter().all(is_signed));
}

#[test]
fn chat_systems_get_their_form_and_their_headers() {
    let crawl = crawl();
    let receiver = WebhookReceiver::start(|_| Reply::status(200));
    let headers = crawl.directory.path().join("headers");
    std::fs::write(&headers, "# of the bot\nAuthorization: Bearer xyz\n").unwrap();
    let headers = headers.display().to_string();
    deliver(&crawl, &receiver, &["--template", "matrix", "--header-file", &headers, "--limit", "1"]).exits_with(0);
    let first = &receiver.taken()[0];
    let name = first.id().replace(|character: char| !character.is_ascii_alphanumeric(), "-");
    assert_eq!(
        (first.target.as_str(), first.json()["msgtype"].as_str()),
        (&*format!("PUT /hook/{name}"), Some("m.notice"))
    );
    assert_eq!(first.headers["authorization"], "Bearer xyz");

    let file = crawl.directory.path().join("address");
    std::fs::write(&file, receiver.url() + "\n").unwrap();
    let address = format!("@{}", file.display());
    let further = ["--webhook", &address, "--template", "slack", "--unsigned"];
    assert_eq!(
        crawl.ask("changes", &further).exits_with(0).json()["delivered"],
        PAGES - 1,
        "the same receiver goes on"
    );
    let last = receiver.taken().pop().unwrap();
    assert!(last.json()["text"].as_str().unwrap().starts_with("<http://host-"));
    assert!(last.target.starts_with("POST ") && !last.headers.contains_key("webhook-signature"));
}

#[test]
fn a_program_gets_every_change_at_least_once() {
    let crawl = crawl();
    let reported = reported(&crawl);
    let directory = crawl.directory.path().join("taken");
    std::fs::create_dir(&directory).unwrap();
    // Fails at the first attempt of each change, and takes the second.
    let script = r#"cat > "$0/$CHANGE_ID.$CHANGE_ATTEMPT"; test "$CHANGE_ATTEMPT" = 2"#;
    let command = format!("sh -c '{script}' '{}'", directory.display());
    let three = ["--exec", &command, "--limit", "3"];
    let done = crawl.ask("changes", &three).exits_with(0);
    assert_eq!(done.says(&["sh exited with 1; attempt 2 in"]).json()["delivered"], 3);
    for change in &reported[..3] {
        let file: PathBuf = directory.join(format!("{}.2", change["change_id"].as_str().unwrap()));
        assert_eq!(&serde_json::from_slice::<Value>(&std::fs::read(file).unwrap()).unwrap(), change);
    }
    assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 6);

    // Killed while the program runs: the change is delivered again.
    let started = crawl.directory.path().join("started");
    let waits = format!("sh -c 'touch \"$0\"; exec sleep 2' '{}'", started.display());
    let cursor = crawl.directory.path().join("cursor").display().to_string();
    let process = crawl.start("changes", &["--exec", &waits, "--cursor-file", &cursor]);
    wait_for("the program runs", SOON, || started.exists());
    process.kill();
    let count = crawl.directory.path().join("count");
    let counts = format!("sh -c 'echo $CHANGE_ID >> \"$0\"' '{}'", count.display());
    crawl.ask("changes", &["--exec", &counts, "--cursor-file", &cursor]).exits_with(0);
    let counted = std::fs::read_to_string(&count).unwrap();
    assert_eq!(counted.lines().collect::<Vec<_>>(), ids(&reported));
}

#[test]
fn what_cannot_be_is_reported_before_anything_is_sent() {
    let crawl = crawl();
    let file = |name: &str, text: &str| {
        let path = crawl.directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let (short, template) = (file("short", "tiny"), file("mine.json", "{\n\"a\": {{ urll }}}"));
    let (headers, foreign) = (file("headers", "\nnonsense\n"), file("foreign.cursor", "1.2.3.4"));
    let elsewhere = file("elsewhere.cursor", r#"{"topic":"recrawl.page-changes","cursor":"1.2"}"#);
    let receiver = WebhookReceiver::start(|_| Reply::status(200));
    let url = receiver.url();
    let check = |arguments: &[&str], parts: &[&str]| {
        crawl.ask("changes", arguments).exits_with(2).says(parts);
    };
    check(&["--webhook", "hooks.test/x"], &["--webhook: the URL must begin with https://"]);
    check(&["--webhook", "https://a:b@hooks.test/"], &["must not hold a user name", "--header-file"]);
    check(&["--webhook", "@/no/such/file"], &["--webhook @/no/such/file: No such file"]);
    check(&["--webhook", &url, "--exec", "true"], &["cannot be used with"]);
    check(&["--exec", "true", "--template", "slack"], &["cannot be used with"]);
    check(&["--template", "slack"], &["--webhook"]);
    check(&["--exec", "true", "--verdict", "minor,mayor"], &["write some of first, minor, major"]);
    check(&["--exec", "/no/such/program"], &["cannot start /no/such/program"]);
    check(&["--exec", "say 'open"], &["quotation mark"]);
    check(&["--webhook", &url, "--secret-file", &short], &["the secret has 4 bytes; it needs 16"]);
    check(&["--webhook", &url, "--template", "slakc"], &["slack, discord, teams, matrix"]);
    check(&["--webhook", &url, "--template", &template], &["undefined value", "mine.json:2"]);
    check(&["--webhook", &url, "--header-file", &headers], &["headers:2: this is not Name: value"]);
    check(&["--webhook", &url, "--ca-file", &short], &["give a PEM file with certificates"]);
    check(&["--webhook", &url, "--timeout", "0s"], &["--timeout: give more than 0s"]);
    check(&["--webhook", &url, "--cursor-file", &foreign], &["is not a progress file", "delete it to begin again"]);
    check(
        &["--webhook", &url, "--cursor-file", &elsewhere],
        &["elsewhere.cursor: it has 2 partitions, but this crawl has 4"],
    );
    let other = file("other.cursor", r#"{"topic":"other.page-changes","cursor":"1.2.3.4"}"#);
    check(&["--webhook", &url, "--cursor-file", &other], &["it is of topic other.page-changes"]);
    check(&["--cursor-file", &foreign], &["goes with --webhook or --exec"]);
    let nowhere = Crawl::default();
    nowhere.ask("changes", &["--exec", "true"]).exits_with(2).says(&["no log at"]);
    assert!(!nowhere.data().exists(), "nothing is made where no crawl is");
    assert!(receiver.seen().is_empty());

    let cursor = reported(&crawl)[5]["cursor"].as_str().unwrap().to_owned();
    assert_eq!(deliver(&crawl, &receiver, &["--cursor", &cursor]).exits_with(0).json()["delivered"], PAGES - 6);
    check(&["--webhook", &url, "--cursor", &cursor], &["has a cursor already"]);
    let held = WebhookReceiver::start(|_| Reply::Silence);
    let first = start(&crawl, &held, &[]);
    wait_for("the first one is at work", SOON, || !held.seen().is_empty());
    deliver(&crawl, &held, &[]).exits_with(2).says(&["another recrawl writes there"]);
    first.kill();
    let crawl = crawl.with_variable("RECRAWL_WEBHOOK_SECRET", "");
    deliver(&crawl, &receiver, &[]).exits_with(2).says(&["set RECRAWL_WEBHOOK_SECRET", "--unsigned"]);
}
