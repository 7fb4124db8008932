//! Changes are collected and sent together, by a clock that the test sets: none is lost, none is sent twice, on days on which
//! clocks are changed too.

use crate::receivers::{ask, config, crawl};
use serde_json::{Value, json};
use std::time::{SystemTime, UNIX_EPOCH};
use tests::{Crawl, MailFault, MailServer, MailStep, Process, Reply, SOON, WebhookReceiver, wait_for};

/// The options that let a program begin at a moment.
fn at(moment: &str) -> Vec<String> {
    let origin = humantime(moment);
    let anchor = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64();
    ["--set".to_owned(), format!("clock.origin={origin:.1}"), "--set".to_owned(), format!("clock.anchor={anchor:.3}")]
        .to_vec()
}

/// Seconds since 1970 of a time such as 2026-03-29T06:00:00Z.
fn humantime(moment: &str) -> f64 {
    let number = |range: std::ops::Range<usize>| moment[range].parse::<i64>().unwrap();
    let (year, month, day) = (number(0..4), number(5..7), number(8..10));
    // Howard Hinnant's days_from_civil.
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let of_era = year - era * 400;
    let of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468;
    (days * 86_400 + number(11..13) * 3_600 + number(14..16) * 60 + number(17..19)) as f64
}

fn deliver_at(crawl: &Crawl, config: &[String], moment: &str) -> Value {
    let (at, mut options) = (at(moment), vec!["--once"]);
    options.extend(at.iter().map(String::as_str));
    ask(crawl, "deliver", config, &options).exits_with(0).json()
}

fn start_at(crawl: &Crawl, config: &[String], moment: &str) -> Process {
    let options = [config.to_vec(), at(moment)].concat();
    crawl.start("deliver", &options.iter().map(String::as_str).collect::<Vec<_>>())
}

/// A crawl that begins at noon of the day before summer time does in Berlin, and has seen its pages.
fn seen(text: &str) -> (Crawl, Vec<String>) {
    let crawl = crawl();
    let config = config(&crawl, text);
    let options = [config.clone(), at("2026-03-28T11:00:00Z"), vec!["--until-idle".to_owned()]].concat();
    crawl.run(&options.iter().map(String::as_str).collect::<Vec<_>>()).finish().exits_with(0);
    (crawl, config)
}

#[test]
fn a_digest_comes_once_a_day_through_restarts_and_missed_days() {
    let receiver = WebhookReceiver::start(|_| Reply::status(200));
    let text = format!(
        "[[deliver]]\nname = \"desk\"\nurl = \"{}\"\nunsigned = true\ndigest = \"1d@08:00 Europe/Berlin\"\n",
        receiver.url()
    );
    let (crawl, config) = seen(&text);
    assert!(receiver.seen().is_empty(), "it was not due");
    // Clocks are set an hour ahead in that night: eight o'clock is two hours after midnight in UTC no more, but six.
    let statuses = deliver_at(&crawl, &config, "2026-03-29T05:59:00Z");
    assert!(receiver.seen().is_empty());
    assert_eq!(statuses[0]["next_digest_at"], "2026-03-29T06:00:00Z");
    assert_eq!(statuses[0]["waiting"].as_u64().map(|waiting| waiting > 0), Some(true), "{statuses}");
    deliver_at(&crawl, &config, "2026-03-29T06:00:01Z");
    let [digest] = &receiver.taken()[..] else { panic!("{:?}", receiver.seen()) };
    assert_eq!(digest.id(), "digest-desk-2026-03-29T06:00:00Z");
    let digest = digest.json();
    assert_eq!((&digest["changes"], &digest["more"]), (&json!(36), &json!(0)));
    assert_eq!(digest["sentence"], "36 changes on 4 hosts");
    assert_eq!(digest["groups"][0]["hosts"].as_array().unwrap().len(), 4);
    let command = digest["command"].as_str().unwrap();
    assert!(command.starts_with("recrawl changes --data ") && command.contains(" --cursor 0.0.0.0"), "{command}");
    // The command shows what it has.
    let words: Vec<&str> = command.split(' ').collect();
    let shown = crawl.ask("changes", &words[4..]).exits_with(0).stdout;
    assert_eq!(shown.lines().count(), 36);
    for moment in ["2026-03-29T06:10:00Z", "2026-03-30T06:00:01Z", "2026-04-10T12:00:00Z"] {
        deliver_at(&crawl, &config, moment);
        assert_eq!(receiver.seen().len(), 1, "{moment}: nothing has changed");
    }
    // Days were missed: what came is one digest, of the last time that it was due.
    let url = digest["groups"][0]["hosts"][0]["shown"][0]["url"].as_str().unwrap().to_owned();
    crawl.ask("forget", &[&url]).exits_with(0);
    crawl.ask("run", &["--until-idle"]).exits_with(0);
    deliver_at(&crawl, &config, "2026-04-20T12:00:00Z");
    let taken = receiver.taken();
    assert_eq!(taken.len(), 2);
    assert_eq!(taken[1].id(), "digest-desk-2026-04-20T06:00:00Z");
    assert_eq!(taken[1].json()["changes"], 1);
}

#[test]
fn a_digest_that_a_kill_interrupted_is_sent_again_as_it_was_and_later_changes_come_with_the_next() {
    let server = MailServer::start(|reached| {
        (reached.step == MailStep::Content && reached.before == 0).then_some(MailFault::TakeAndHold)
    });
    let text = format!(
        "[[deliver]]\nname = \"desk\"\ndigest = \"1d@08:00 Europe/Berlin\"\n\
         mail = {{ to = [\"ada@example.net\"], from = \"crawl@example.org\", server = \"{}\" }}\n",
        server.url()
    );
    let (crawl, config) = seen(&text);
    let process = start_at(&crawl, &config, "2026-03-29T06:00:01Z");
    wait_for("the digest is held", SOON, || !server.taken().is_empty());
    process.kill();
    // Another change comes before it is sent again.
    let first = crawl.ask("changes", &["--limit", "1"]).exits_with(0).json();
    let nowhere = format!("{}no-such-page", first["url"].as_str().unwrap());
    crawl.ask("seed", &[&nowhere]).exits_with(0);
    crawl.ask("run", &["--until-idle"]).exits_with(0);
    deliver_at(&crawl, &config, "2026-03-29T07:00:00Z");
    let [held, again] = &server.taken()[..] else { panic!("{:?}", server.taken()) };
    assert!(!held.was_confirmed && again.was_confirmed);
    assert_eq!(held.headers["message-id"], again.headers["message-id"]);
    assert_eq!([&held.headers["subject"], &again.headers["subject"]], ["36 changes on 4 hosts"; 2]);
    deliver_at(&crawl, &config, "2026-03-30T06:00:01Z");
    let last = server.taken().pop().unwrap();
    assert_eq!((server.taken().len(), last.headers["subject"].as_str()), (3, "1 change on 1 host"));
    assert_ne!(last.headers["message-id"], again.headers["message-id"]);
}
