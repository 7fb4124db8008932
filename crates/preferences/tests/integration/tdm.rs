//! The reservation of text and data mining: headers, `<meta>`, and the file.

use crate::{NOW, check_all, header, said};
use preferences::{MAX_TDM_FILE_BYTES, Preferences, Source, TdmFile, Use};

/// TDMRep, section 4.1.
const RESERVATION: [(&str, &str); 9] = [
    ("1", "tdm=n"),
    ("0", "tdm=y"),
    (" 1 ", "tdm=n"),
    ("2", ""),
    ("", ""),
    ("true", ""),
    ("01", ""),
    ("1, 1", ""),
    ("1;x", ""),
];

#[test]
fn a_reservation_is_0_or_1() {
    check_all(&RESERVATION, |value| header("TDM-Reservation", value));
    check_all(&RESERVATION, |value| Preferences::of_meta([("TDM-Reservation", value)], "ExampleBot"));
}

/// The example of TDMRep, section 5.2.2, and what people write.
const FILE: &str = r#"[
    {"location": "/directory-a/", "tdm-reservation": 1},
    {"location": "/directory-b/html/", "tdm-reservation": 1, "tdm-policy": "https://provider.com/policies/policy.json"},
    {"location": "/directory-b/images/*.jpg", "tdm-reservation": 0},
    {"location": "/exact$", "tdm-reservation": "1"},
    {"location": "/first", "tdm-reservation": 0},
    {"location": "/first/second", "tdm-reservation": 1},
    {"location": "/odd", "tdm-reservation": 2},
    {"location": "/foo-%24", "tdm-reservation": 1},
    {"tdm-reservation": 1}, {"location": "/none"}, {"location": 5, "tdm-reservation": 1}, 7, null,
    {"location": "/true", "tdm-reservation": true}
]"#;

const PATHS: [(&str, &str); 16] = [
    ("/directory-a/x.pdf", "tdm=n"),
    ("/directory-a", ""),
    ("/Directory-a/x", ""),
    ("/directory-b/html/", "tdm=n"),
    ("/directory-b/images/x.jpg", "tdm=y"),
    ("/directory-b/images/x/y.jpg?z", "tdm=y"),
    ("/directory-b/images/x.png", ""),
    ("/exact", "tdm=n"),
    ("/exactly", ""),
    ("/first/second", "tdm=y"),
    ("/odd", ""),
    ("/foo-$", "tdm=n"),
    ("/none", ""),
    ("/true", ""),
    ("/", ""),
    ("/%64irectory-a/", "tdm=n"),
];

#[test]
fn the_first_rule_of_the_file_that_matches_counts() {
    let file = TdmFile::parse(FILE.as_bytes());
    check_all(&PATHS, |path| file.preferences(path));
    assert_eq!(file.preferences("/directory-b/html/x").tdm_policy(), Some("https://provider.com/policies/policy.json"));
}

#[test]
fn a_file_that_is_no_list_has_no_rules() {
    for file in ["", "{}", "[", "null", "<html>", "[[[]]]", r#"{"location": "/", "tdm-reservation": 1}"#] {
        assert!(TdmFile::parse(file.as_bytes()).preferences("/").is_empty(), "{file}");
    }
    assert!(TdmFile::parse("[".repeat(200_000).as_bytes()).preferences("/").is_empty());
    let rule = r#"{"location": "/", "tdm-reservation": 1}"#;
    assert_eq!(said(&TdmFile::parse(format!("\u{feff}[{rule}]").as_bytes()).preferences("/x")), "tdm=n");
    let long = format!("[{rule}{}]", " ".repeat(MAX_TDM_FILE_BYTES));
    assert!(TdmFile::parse(long.as_bytes()).preferences("/").is_empty());
}

/// The values of file, header and page, and the decision. `-`: not given.
const PRIORITY: [(&str, &str, &str, &str); 10] = [
    ("1", "-", "-", "n tdmrep.json"),
    ("0", "-", "-", "y tdmrep.json"),
    ("1", "0", "-", "y tdm-reservation"),
    ("0", "1", "-", "n tdm-reservation"),
    ("1", "0", "1", "n meta:tdm-reservation"),
    ("1", "1", "0", "y meta:tdm-reservation"),
    ("1", "2", "-", "n tdmrep.json"),
    ("-", "0", "1", "n meta:tdm-reservation"),
    ("0", "2", "2", "y tdmrep.json"),
    ("-", "-", "-", ""),
];

#[test]
fn the_page_supersedes_the_header_and_that_the_file() {
    for (file, head, meta, expected) in PRIORITY {
        let file = format!(r#"[{{"location": "/", "tdm-reservation": "{file}"}}]"#);
        let all = TdmFile::parse(file.as_bytes()).preferences("/");
        let all = all.and(&header("tdm-reservation", head));
        let all = all.and(&Preferences::of_meta([("tdm-reservation", meta)], "x"));
        let decision = all.decision(Use::Tdm, NOW);
        let decision = decision.map(|it| format!("{} {}", if it.is_allowed { "y" } else { "n" }, it.source));
        assert_eq!(decision.unwrap_or_default(), expected, "{head} {meta}");
    }
}

#[test]
fn a_policy_counts_with_the_reservation_beside_it() {
    let of = |reservation: &str, policy: &str| {
        Preferences::of_headers([("tdm-reservation", reservation), ("tdm-policy", policy)], "x")
    };
    assert_eq!(of("1", "https://a.test/p.json").tdm_policy(), Some("https://a.test/p.json"));
    assert_eq!(of("0", "https://a.test/p.json").tdm_policy(), None);
    assert_eq!(of("", "https://a.test/p.json").tdm_policy(), None);
    assert_eq!(of("1", "/p.json").tdm_policy(), None);
    let page = Preferences::of_meta([("tdm-reservation", "1")], "x");
    assert_eq!(of("1", "https://a.test/p.json").and(&page).tdm_policy(), None, "the page superseded both");
}

#[test]
fn a_reservation_forbids_training_and_says_nothing_of_search() {
    let reserved = header("tdm-reservation", "1");
    assert_eq!(reserved.refusal(Use::TrainAi, NOW).unwrap().source, Source::TdmHeader);
    assert!(reserved.refusal(Use::TrainAiImages, NOW).is_some());
    assert_eq!(reserved.refusal(Use::Search, NOW), None);
    assert_eq!(reserved.refusal(Use::AiInput, NOW), None);
    assert_eq!(reserved.decision(Use::TrainAi, NOW), None, "nothing was said of training itself");
    let noindex = header("x-robots-tag", "noindex").and(&header("content-usage", "search=y"));
    assert!(noindex.refusal(Use::Search, NOW).is_some(), "to find it, it would have to be in an index");
}
