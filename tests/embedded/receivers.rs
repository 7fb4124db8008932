//! `recrawl run` delivers to the receivers of its settings by itself.

use simweb::SeededConfig;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use tests::{Crawl, Output, Process, Reply, SOON, SimulatedWeb, WebhookReceiver, wait_for};

const PAGES: usize = 36;

/// A crawl of pages that do not change.
pub(crate) fn crawl() -> Crawl {
    static WEB: LazyLock<SimulatedWeb> = LazyLock::new(|| {
        let seeded = SeededConfig { hosts: 4, pages_per_host: PAGES / 4, ..SeededConfig::default() };
        SimulatedWeb::start(seeded, 1.0, |_| {})
    });
    Crawl::of(&WEB)
}

/// The options that name a configuration with this text.
pub(crate) fn config(crawl: &Crawl, text: &str) -> Vec<String> {
    let path: PathBuf = crawl.directory.path().join("receivers.toml");
    std::fs::write(&path, text).unwrap();
    vec!["--config".to_owned(), path.display().to_string()]
}

pub(crate) fn run(crawl: &Crawl, config: &[String], further: &[&str]) -> Process {
    let config: Vec<&str> = config.iter().map(String::as_str).collect();
    crawl.run(&[&config, further].concat())
}

pub(crate) fn ask(crawl: &Crawl, command: &str, config: &[String], further: &[&str]) -> Output {
    let config: Vec<&str> = config.iter().map(String::as_str).collect();
    crawl.ask(command, &[&config, further].concat())
}

fn webhook(name: &str, receiver: &WebhookReceiver, further: &str) -> String {
    format!("[[deliver]]\nname = \"{name}\"\nurl = \"{}\"\nunsigned = true\n{further}\n", receiver.url())
}

fn ids(receiver: &WebhookReceiver) -> Vec<String> {
    receiver.taken().iter().map(|webhook| webhook.id().to_owned()).collect()
}

#[test]
fn a_run_delivers_to_each_receiver_what_it_wants_and_one_that_fails_holds_no_other() {
    let crawl = crawl();
    let [all, gone, flaky] = [0, 0, 3].map(|failures| {
        let left = AtomicUsize::new(failures);
        WebhookReceiver::start(move |_| {
            let fails = left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok();
            Reply::status(if fails { 503 } else { 200 })
        })
    });
    let never = WebhookReceiver::start(|_| Reply::status(422));
    let text = [
        webhook("never", &never, ""),
        webhook("all", &all, ""),
        webhook("gone", &gone, "verdicts = [\"gone\"]"),
        webhook("flaky", &flaky, ""),
    ];
    let config = config(&crawl, &text.concat());
    // It ends when the receivers have all, but for the one that fails.
    let done = run(&crawl, &config, &["--until-idle"]).finish().exits_with(0).json();
    let reported = crawl.ask("changes", &[]).exits_with(0).stdout;
    assert_eq!(reported.lines().count(), PAGES);
    let mut expected: Vec<String> = reported
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["change_id"].as_str().unwrap().to_owned())
        .collect();
    expected.sort();
    let mut of_all = ids(&all);
    of_all.sort();
    assert_eq!(of_all, expected, "each once");
    assert!(gone.seen().is_empty() && never.taken().is_empty() && !never.seen().is_empty());
    let status = |name: &str| {
        let receivers = done["receivers"].as_array().unwrap();
        receivers.iter().find(|receiver| receiver["name"] == name).unwrap().clone()
    };
    assert_eq!(
        (&status("all")["delivered_total"], &status("all")["problem"]),
        (&PAGES.into(), &serde_json::Value::Null)
    );
    assert!(status("all")["last_delivered_at"].is_string());
    let problem = status("never")["problem"].as_str().unwrap().to_owned();
    assert!(problem.contains("refused it with 422") && status("never")["failing_since"].is_string(), "{problem}");
    assert_eq!(status("never")["delivered_total"], 0);

    // A later run goes on. What has failed before is delivered now, and nothing is delivered twice.
    let text = [webhook("never", &all, ""), webhook("all", &all, ""), webhook("flaky", &flaky, "")];
    let config = self::config(&crawl, &text.concat());
    run(&crawl, &config, &["--until-idle"]).finish().exits_with(0);
    assert_eq!(all.taken().len(), 2 * PAGES);
    let mut of_flaky = ids(&flaky);
    of_flaky.sort();
    assert_eq!(of_flaky, expected);
}

#[test]
fn a_kill_of_the_run_loses_nothing_and_repeats_at_most_the_change_that_was_under_way() {
    let crawl = crawl();
    let receiver = WebhookReceiver::start(|_| Reply::status(200));
    let config = config(&crawl, &webhook("all", &receiver, ""));
    let kills = 5;
    for part in 1..=kills {
        let process = run(&crawl, &config, &[]);
        wait_for("some more are delivered", SOON, || receiver.taken().len() >= part * 4);
        process.kill();
    }
    run(&crawl, &config, &["--until-idle"]).finish().exits_with(0);
    let mut once = ids(&receiver);
    let all = once.len();
    once.sort();
    once.dedup();
    assert_eq!(once.len(), PAGES);
    assert!(all <= PAGES + kills, "{all}");
}

#[test]
fn a_receiver_that_is_new_begins_with_what_comes_after_its_first_start_or_with_all() {
    let crawl = crawl();
    crawl.run(&["--until-idle"]).finish().exits_with(0);
    let [new, oldest] = [(), ()].map(|()| WebhookReceiver::start(|_| Reply::status(200)));
    let text = [webhook("new", &new, ""), webhook("oldest", &oldest, "begin = \"oldest\"")].concat();
    let config = config(&crawl, &text);
    run(&crawl, &config, &["--until-idle"]).finish().exits_with(0);
    assert_eq!((new.seen().len(), oldest.taken().len()), (0, PAGES));
}

#[test]
fn what_cannot_be_is_refused_at_the_start_with_the_name_of_the_entry() {
    let crawl = crawl();
    let check = |text: &str, parts: &[&str]| {
        let config = config(&crawl, text);
        ask(&crawl, "run", &config, &["http://a.test/"]).exits_with(2).says(parts);
    };
    let url = "url = \"https://a.test/x\"";
    check(
        &format!("[[deliver]]\nname = \"a\"\n{url}"),
        &["deliver \"a\": there is no secret", "secret_file", "unsigned"],
    );
    check(
        &format!("[[deliver]]\nname = \"a\"\n{url}\nsecret_file = \"none\""),
        &["deliver \"a\": secret_file: none: No such file"],
    );
    check(
        &format!("[[deliver]]\nname = \"a\"\n{url}\nverdicts = [\"mayor\"]\nhosts = [\"a/b\"]"),
        &[
            "receivers.toml:4: deliver \"a\": verdicts: cannot contain \"mayor\"",
            "first, minor",
            ":5: deliver \"a\": hosts",
        ],
    );
    check("[[deliver]]\nname = \"a\"\nurl = \"ftp://a\"", &["deliver \"a\": url: the URL must begin with https://"]);
    check("[[deliver]]\nname = \"a\"\nprogram = \"say 'x\"", &["deliver \"a\": program:", "quotation mark"]);
    let mail = |further: &str| {
        format!("[[deliver]]\nname = \"a\"\n[deliver.mail]\nto = [\"a@b.test\"]\nfrom = \"c@b.test\"\n{further}")
    };
    check(
        &mail("server = \"mail.test\""),
        &["deliver \"a\": mail.server: \"mail.test\" is no mail server", "smtp://HOST"],
    );
    let plain = "server = \"smtp://mail.test\"\nuser = \"u\"\npassword_file = \"p\"\nplaintext = true";
    check(&mail(plain), &["mail.plaintext: a password would be read"]);
    check(&mail("server = \"smtp://mail.test\"\nuser = \"u\""), &["mail.user: needs a password"]);
    assert!(!crawl.data().join("LOG").exists());
}
