use super::*;
use crate::record::ChangeDigest;
use crate::record::{DigestGroup, DigestHost, DigestLine, PublishedChange};
use messages::Verdict;
use std::time::Duration;

fn address(text: &str) -> MailAddress {
    text.parse().expect("it is an address")
}

fn written(parcel: &Parcel<'_>, unsubscribe: Option<&str>) -> String {
    let form = MailForm::new("shop", address("Crawl <crawl@example.org>"), unsubscribe);
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
    let mail = form.write(parcel, &address("ada@example.net"), now).expect("it can be written");
    assert_eq!(mail.from.to_string(), "crawl@example.org");
    String::from_utf8(mail.text).expect("it is ASCII")
}

/// The headers, each unfolded, and the rest.
fn headers(mail: &str) -> (Vec<(String, String)>, &str) {
    let (head, body) = mail.split_once("\r\n\r\n").expect("it has a head");
    let head = head.replace("\r\n ", " ");
    let header = |line: &str| line.split_once(": ").map(|(name, value)| (name.to_owned(), value.to_owned()));
    (head.split("\r\n").map(|line| header(line).expect(line)).collect(), body)
}

fn header(mail: &str, name: &str) -> Option<String> {
    headers(mail).0.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
}

#[test]
fn a_mail_has_the_sentence_the_page_and_the_change_in_text_and_in_html() {
    let [change, _] = PublishedChange::examples();
    let mail = written(&Parcel::Change(&change), None);
    let of = |name: &str| header(&mail, name).unwrap_or_else(|| panic!("{name} in {mail}"));
    assert_eq!(of("Subject"), "Desk lamp now costs 19.90 EUR, down from 24.90, rule lamp");
    assert_eq!((of("From").as_str(), of("To").as_str()), ("Crawl <crawl@example.org>", "ada@example.net"));
    assert_eq!(of("Auto-Submitted"), "auto-generated");
    assert_eq!(of("List-Id"), "<shop.recrawl.example.org>");
    assert_eq!(of("List-Unsubscribe"), "<mailto:crawl@example.org?subject=unsubscribe%20shop>");
    assert_eq!(of("Date"), "Fri, 15 Jan 2027 08:00:00 +0000");
    assert!(of("Content-Type").starts_with("multipart/alternative"));
    let (_, body) = headers(&mail);
    assert!(body.contains("Content-Type: text/plain") && body.contains("Content-Type: text/html"), "{body}");
    // Quoted-printable, for the sign of the euro.
    for part in ["Desk lamp now costs 19.90 EUR", "https://shop.test/lamp", "- 24,90 =E2=82=AC", "+ 19,90 =E2=82=AC"] {
        assert!(body.contains(part), "{part} in {body}");
    }
    assert!(mail.lines().all(|line| line.len() <= 998) && mail.is_ascii());
    let web = written(&Parcel::Change(&change), Some("https://example.org/stop?who=1"));
    assert_eq!(header(&web, "List-Unsubscribe").as_deref(), Some("<https://example.org/stop?who=1>"));
}

#[test]
fn attempts_have_one_id_and_the_changes_of_a_page_one_thread() {
    let [change, mut other] = PublishedChange::examples();
    let first = written(&Parcel::Change(&change), None);
    assert_eq!(header(&first, "Message-ID"), header(&written(&Parcel::Change(&change), None), "Message-ID"));
    other.line.change_id = "another".to_owned();
    let second = written(&Parcel::Change(&other), None);
    assert_ne!(header(&first, "Message-ID"), header(&second, "Message-ID"));
    for name in ["References", "In-Reply-To"] {
        let thread = header(&first, name).expect("it is in a thread");
        assert!(thread.starts_with("<page-") && thread.ends_with("@example.org>"), "{thread}");
        assert_eq!(header(&second, name), Some(thread));
    }
    other.line.page_id = "elsewhere".to_owned();
    assert_ne!(header(&written(&Parcel::Change(&other), None), "References"), header(&first, "References"));
}

#[test]
fn a_page_can_add_no_header_and_no_markup() {
    let [mut change, _] = PublishedChange::examples();
    change.line.verdict = Verdict::Gone;
    for title in
        ["a\r\nBcc: eve@evil.test\r\n\r\nbody", "a\nBcc: eve@evil.test", "ä\rBcc: eve@evil.test", "\u{0}\u{2028}Bcc: x"]
    {
        change.line.title = Some(format!("{title}<script>alert(1)</script>"));
        change.line.rule = Some("r\r\nReply-To: eve@evil.test".to_owned());
        let mail = written(&Parcel::Change(&change), None);
        let (names, body) = headers(&mail);
        let names: Vec<_> = names.iter().map(|(name, _)| name.to_ascii_lowercase()).collect();
        let expected = [
            "from",
            "to",
            "date",
            "subject",
            "message-id",
            "in-reply-to",
            "references",
            "auto-submitted",
            "list-id",
            "list-unsubscribe",
            "mime-version",
            "content-type",
        ];
        assert_eq!(names, expected, "{mail}");
        assert!(!body.contains("<script>") || body.contains("&lt;script"), "{body}");
        let html = body.split("text/html").nth(1).expect("it has HTML");
        assert!(!html.contains("<script"), "{html}");
    }
    let long = "lång ".repeat(2_000);
    change.line.title = Some(long);
    assert!(written(&Parcel::Change(&change), None).lines().all(|line| line.len() <= 998));
}

#[test]
fn a_digest_is_grouped_and_counts_what_it_leaves_out() {
    let line = |name: &str| DigestLine {
        change_id: name.to_owned(),
        url: format!("https://shop.test/{name}"),
        headline: format!("{name} is gone"),
        verdict: "gone".to_owned(),
        magnitude: 1.0,
        seen_at: "2026-11-30T08:00:00Z".to_owned(),
    };
    let host =
        DigestHost { host: "shop.test".to_owned(), changes: 9, shown: vec![line("lamp"), line("desk")], more: 7 };
    let group = |rule: Option<&str>| DigestGroup {
        rule: rule.map(str::to_owned),
        changes: 12,
        hosts: vec![host.clone()],
        more: 3,
    };
    let digest = ChangeDigest {
        digest_id: "shop-2026-11-30T07-00-00Z".to_owned(),
        receiver: "shop".to_owned(),
        sentence: "24 changes on 2 hosts".to_owned(),
        groups: vec![group(Some("price")), group(None)],
        changes: 24,
        more: 20,
        command: "recrawl changes --cursor 1.2".to_owned(),
        ..ChangeDigest::default()
    };
    let mail = written(&Parcel::Digest(&digest), None);
    assert_eq!(header(&mail, "Subject").as_deref(), Some("24 changes on 2 hosts"));
    assert_eq!(header(&mail, "References"), None);
    let text = mail.split("Content-Type: text/html").next().expect("the text comes first").replace("\r\n", "\n");
    let expected = "Rule price: 12\n\n  shop.test: 9\n  * lamp is gone\n    https://shop.test/lamp\n  * desk is gone\n    \
                    https://shop.test/desk\n  and 7 more\n\n  and 3 more on other hosts\n\nPages without a rule: 12\n";
    assert!(text.contains(expected), "{text}");
    assert!(text.contains("20 changes are not shown here.\nThis shows all: recrawl changes --cursor 1.2\n"), "{text}");
}
