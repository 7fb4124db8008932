//! Changes are mailed: nothing is lost, and nothing is sent again that a server has taken.

use crate::receivers::{ask, config, crawl, run};
use outputs::encoder::mail::MailForm;
use outputs::record::PublishedChange;
use outputs::sink::mail::{MailWay, Mailer, Security};
use outputs::sink::{Parcel, Receiver, Undelivered};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use tests::{Crawl, MailFault, MailServer, MailStep, SOON, wait_for, workspace};

fn people(server: &str, to: &[&str], further: &str) -> String {
    let to = to.iter().map(|to| format!("\"{to}\"")).collect::<Vec<_>>().join(", ");
    format!(
        "[[deliver]]\nname = \"people\"\n{further}\n\
         mail = {{ to = [{to}], from = \"Crawl <crawl@example.org>\", server = \"{server}\" }}\n"
    )
}

fn pages(crawl: &Crawl) -> usize {
    crawl.ask("changes", &[]).exits_with(0).stdout.lines().count()
}

/// How often each mail was taken, by its id.
fn counts(server: &MailServer) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for mail in server.taken() {
        *counts.entry(mail.headers["message-id"].clone()).or_default() += 1;
    }
    counts
}

#[test]
fn a_server_that_greylists_fails_and_drops_in_every_step_gets_each_mail_once() {
    let crawl = crawl();
    let server = MailServer::start(|reached| {
        // Each step fails again and again, in every way.
        let fault = |replies: [Option<MailFault>; 3]| replies[reached.before / 7 % 3].clone();
        if reached.before % 7 != 2 {
            return None;
        }
        match reached.step {
            MailStep::Connected => fault([Some(MailFault::Close), Some(MailFault::Say("554 not now")), None]),
            MailStep::Hello => fault([Some(MailFault::Close), Some(MailFault::Say("421 too busy")), None]),
            MailStep::StartTls => None,
            MailStep::Sender => fault([
                Some(MailFault::Say("421 4.3.2 going down")),
                Some(MailFault::Close),
                Some(MailFault::Say("550 5.7.1 who are you")),
            ]),
            MailStep::Recipient => fault([
                Some(MailFault::Say("450 4.7.1 greylisted")),
                Some(MailFault::Close),
                Some(MailFault::Say("554 5.7.1 relay access denied")),
            ]),
            MailStep::Data => fault([
                Some(MailFault::Say("451 4.3.0 no")),
                Some(MailFault::Close),
                Some(MailFault::Say("554 5.5.1 no recipients")),
            ]),
            MailStep::Content => fault([
                Some(MailFault::Close),
                Some(MailFault::Say("550 5.4.5 enough for today")),
                Some(MailFault::Say("354 what")),
            ]),
        }
    });
    let config = config(&crawl, &people(&server.url(), &["ada@example.net"], ""));
    let process = run(&crawl, &config, &[]);
    wait_for("all is mailed", SOON, || counts(&server).len() == 36);
    process.signal(libc::SIGINT);
    let done = process.finish().exits_with(0).json();
    assert_eq!(pages(&crawl), 36);
    assert!(counts(&server).values().all(|count| *count == 1), "{:?}", counts(&server));
    let receiver = &done["receivers"][0];
    assert_eq!((&receiver["delivered_total"], &receiver["left_out_total"]), (&36.into(), &0.into()));
    assert!(receiver["failed_attempts_total"].as_u64().unwrap() >= 10, "{receiver}");
    let mail = &server.taken()[0];
    assert_eq!((mail.from.as_str(), mail.to.as_str()), ("crawl@example.org", "ada@example.net"));
    assert_eq!(mail.headers["auto-submitted"], "auto-generated");
    assert!(mail.headers["references"].starts_with("<page-"), "{:?}", mail.headers);
}

#[test]
fn mail_that_is_refused_for_good_is_set_aside_until_it_seems_to_be_all_and_one_person_holds_no_other() {
    let crawl = crawl();
    let server = MailServer::start(|reached| match reached.step {
        MailStep::Recipient if reached.line.contains("eve@") => Some(MailFault::Say("450 4.2.1 not today")),
        MailStep::Recipient if reached.line.contains("bob@") => Some(MailFault::Say("550 5.1.1 no such person")),
        MailStep::Content if reached.before == 3 => Some(MailFault::Say("554 5.6.0 cannot be read")),
        _ => None,
    });
    let to = ["bob@example.net", "eve@example.net", "ada@example.net"];
    let config = config(&crawl, &people(&server.url(), &to, ""));
    let done = run(&crawl, &config, &["--until-idle"]).finish().exits_with(0);
    let done = done.says(&["550 5.1.1 no such person; left out", "554 5.6.0 cannot be read; left out"]);
    let receivers = done.json()["receivers"].clone();
    let of = |person: &str| {
        let found = receivers.as_array().unwrap().iter().find(|receiver| receiver["target"] == person);
        let found = found.unwrap();
        (found["delivered_total"].as_u64().unwrap(), found["left_out_total"].as_u64().unwrap())
    };
    assert_eq!(of("bob@example.net"), (0, 3), "then it is held");
    assert_eq!(of("ada@example.net"), (35, 1));
    assert_eq!(of("eve@example.net"), (0, 0));
    assert!(server.taken().iter().all(|mail| mail.to == "ada@example.net"));
    let status = ask(&crawl, "status", &config, &[]).exits_with(0);
    assert_eq!(status.json()["pages"], 36);
}

#[test]
fn a_kill_at_any_moment_loses_no_mail_and_sends_none_again_that_was_noted() {
    let crawl = crawl();
    // A mail in five is held after it was taken: the kill comes before its answer.
    let server = MailServer::start(|reached| {
        (reached.step == MailStep::Content && reached.before % 5 == 4).then_some(MailFault::TakeAndHold)
    });
    let config = config(&crawl, &people(&server.url(), &["ada@example.net"], ""));
    let held = || server.taken().iter().filter(|mail| !mail.was_confirmed).count();
    let mut kills = 0;
    while counts(&server).len() < 36 {
        let process = run(&crawl, &config, &[]);
        let before = held();
        wait_for("a mail is held, or all were taken", SOON, || held() > before || counts(&server).len() == 36);
        process.kill();
        kills += 1;
    }
    assert!(kills >= 7, "{kills}");
    run(&crawl, &config, &["--until-idle"]).finish().exits_with(0);
    let confirmed = server.taken().iter().filter(|mail| mail.was_confirmed).count();
    assert_eq!(counts(&server).len(), 36);
    // One may have been confirmed in the moment of a kill, before that was noted.
    assert!(confirmed <= 36 + kills, "{confirmed}");
    let unconfirmed = server.taken().len() - confirmed;
    assert!(unconfirmed >= 7 && counts(&server).values().sum::<usize>() <= 36 + unconfirmed + kills);
}

#[test]
fn mail_goes_over_tls_to_a_server_that_proves_who_it_is_and_to_no_other() {
    let crawl = crawl();
    let server = MailServer::start_with_tls(|_| None);
    let text = people(&server.url(), &["ada@example.net"], "");
    let untrusted = config(&crawl, &text);
    let done = run(&crawl, &untrusted, &["--until-idle"]).finish().exits_with(0).json();
    let problem = done["receivers"][0]["problem"].as_str().unwrap();
    assert!(problem.contains("certificate") && server.taken().is_empty(), "{problem}");
    let authority = format!("ca_file = \"{}\", server = ", server.authority().unwrap().display());
    let trusted = config(&crawl, &text.replace("server = ", &authority));
    run(&crawl, &trusted, &["--until-idle"]).finish().exits_with(0);
    assert_eq!(server.taken().len(), 36);
}

#[test]
fn nothing_is_sent_before_starttls_and_nothing_without_it() {
    let send = |server: &MailServer, security| {
        let address: outputs::sink::mail::MailServer = server.url().parse().unwrap();
        let tls = address.tls(server.authority().as_deref()).unwrap();
        let way = MailWay { server: address, security, tls, login: None, timeout: SOON };
        let form = MailForm::new("people", "crawl@example.org".parse().unwrap(), None);
        let mut mailer = Mailer::new(form, "ada@example.net".parse().unwrap(), way);
        let [change, _] = PublishedChange::examples();
        mailer.deliver(&Parcel::Change(&change), 1)
    };
    let server = MailServer::start_with_starttls(|_| None);
    send(&server, Security::StartTls).unwrap();
    assert_eq!((server.taken().len(), server.reached(MailStep::Hello)), (1, 2), "greeted again over TLS");
    let plain = MailServer::start(|_| None);
    match send(&plain, Security::StartTls) {
        Err(Undelivered::Later { problem, .. }) => assert!(problem.contains("does not offer STARTTLS"), "{problem}"),
        other => panic!("{other:?}"),
    }
    assert_eq!((plain.reached(MailStep::Hello), plain.reached(MailStep::Sender)), (1, 0));
    // Replies to a whole mail, put before TLS by somebody in between.
    let changed = MailServer::start_with_starttls(|reached| {
        let replies = "220 go on\r\n250 test\r\n250 ok\r\n250 ok\r\n354 go on\r\n250 taken";
        (reached.step == MailStep::StartTls).then_some(MailFault::Say(replies))
    });
    match send(&changed, Security::StartTls) {
        Err(Undelivered::Later { problem, .. }) => assert!(problem.contains("before they were sent"), "{problem}"),
        other => panic!("{other:?}"),
    }
    assert!(changed.taken().is_empty());
}

#[test]
fn a_mail_server_by_others_reads_every_mail() {
    let left_out = |why: &str| {
        assert!(std::env::var_os("CI").is_none(), "there is no mail server: {why}");
        println!("LEFT OUT: there is no mail server: {why}");
    };
    let Some(python) = std::env::var_os("RECRAWL_PYTHON") else {
        return left_out("RECRAWL_PYTHON is not set (`make env` sets it)");
    };
    let crawl = crawl();
    let kept = crawl.directory.path().join("mails");
    let mut server = Command::new(python)
        .arg(workspace().join("tests/embedded/mail_server.py"))
        .arg(&kept)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut port = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut port).unwrap();
    if port.is_empty() {
        assert_eq!(server.wait().unwrap().code(), Some(3), "the server starts; see above");
        return left_out("aiosmtpd is not installed");
    }
    let url = format!("smtp://127.0.0.1:{}", port.trim());
    let config = config(&crawl, &people(&url, &["ada@example.net"], ""));
    let process = run(&crawl, &config, &[]);
    let mails = || {
        let text = std::fs::read_to_string(&kept).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).collect::<Vec<_>>()
    };
    wait_for("all is mailed", SOON, || mails().len() >= 36);
    process.signal(libc::SIGINT);
    process.finish().exits_with(0);
    drop(server.stdin.take());
    server.wait().unwrap();
    let mails = mails();
    let mut ids: Vec<_> = mails.iter().map(|mail| mail["id"].as_str().unwrap()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!((ids.len(), mails.len()), (36, 36), "greylisted once, taken once");
    for mail in &mails {
        assert_eq!(mail["defects"], serde_json::json!([]), "{mail}");
        let subject = mail["subject"].as_str().unwrap();
        assert!(subject.ends_with(" is new here"), "{subject}");
        let text = mail["parts"]["text/plain"].as_str().unwrap();
        assert!(text.starts_with(subject) && text.contains("http://host-"), "{text}");
        let html = mail["parts"]["text/html"].as_str().unwrap().replace("&#x2f;", "/");
        assert!(html.contains("<a href=\"http://host-"), "{html}");
    }
}
