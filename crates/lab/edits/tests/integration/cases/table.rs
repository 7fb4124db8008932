//! The right value of each case, by its name.

use super::expected::Expected::{
    self, EachFile, Phrases, Prices, Quiet, Reported, ReportedWithoutEqualLines, Triggers, Wall,
};
use super::expected::{History, News};

/// A history with noise that differs at each request: it may be reported until the place has shown it some times.
const fn noisy(news: &'static [News]) -> Expected {
    Expected::History(History { quiet_from: 9, most_noise: 6, news })
}

/// A history with noise that differs by the hour or the day.
const fn slow(news: &'static [News]) -> Expected {
    Expected::History(History { quiet_from: 6, most_noise: 4, news })
}

/// A history in which nothing but news is reported.
const fn exact(news: &'static [News]) -> Expected {
    Expected::History(History { quiet_from: 1, most_noise: 0, news })
}

const fn reported(says: &'static [&'static str]) -> Expected {
    Reported(News::at(2, 2, says))
}

/// The names of the items of a list of news that were there before.
const OLD_NEWS: &[&str] = &["Fire at the depot", "Ferry is late", "Market on Sunday", "New bench in the park"];

/// The cases, and what they should give.
pub(super) const CASES: &[(&str, Expected)] = &[
    ("mask-flapping-new-state", noisy(&[News::at(19, 20, &["repaired"])])),
    ("mask-price-beside-views", noisy(&[News::at(19, 20, &["19 EUR"])])),
    ("mask-hours-beside-counter", noisy(&[News::at(19, 20, &["to 18"])])),
    ("mask-link-with-stamp", noisy(&[News::at(19, 20, &["fees-2027"])])),
    ("mask-cookieless-session", exact(&[News { never: &["fees.aspx"], ..News::at(19, 20, &["Minutes of November"]) }])),
    ("mask-price-two-caches", exact(&[News::at(19, 20, &["2799"])])),
    ("mask-price-two-locales", noisy(&[News::at(19, 20, &["1.099,00"])])),
    ("mask-soft-hyphen", exact(&[News::at(19, 20, &["10 Uhr"])])),
    ("mask-pdf", noisy(&[News::at(19, 20, &[])])),
    (
        "feed-token-in-links",
        noisy(&[News { never: &["Bridge closed", "Ferry timetable"], ..News::at(19, 20, &["Market moved"]) }]),
    ),
    ("slow-age-german", slow(&[News { never: &["Std"], ..News::at(10, 10, &["until July"]) }])),
    ("slow-age-short", slow(&[News { most_lines: 2, ..News::at(10, 10, &["until July"]) }])),
    ("slow-age-chinese", slow(&[News { never: &["小时"], ..News::at(10, 10, &["until July"]) }])),
    ("slow-days-left", slow(&[News { never: &["Tage"], ..News::at(10, 10, &["until July"]) }])),
    (
        "slow-news-list",
        slow(&[
            News { never: OLD_NEWS, ..News::at(6, 6, &["Council elects mayor"]) },
            News { never: OLD_NEWS, ..News::at(10, 10, &["Bridge opens again"]) },
        ]),
    ),
    ("slow-date-of-day", slow(&[News { most_lines: 2, ..News::at(10, 10, &["19 coins"]) }])),
    ("slow-likes", slow(&[News::at(10, 10, &["19 coins"])])),
    ("number-json-rate", Triggers(&[(10, 10, "rate below 1.05")])),
    ("number-json-ld-fuel", Reported(News { trigger: Some("price below 1.8"), ..News::at(2, 2, &[]) })),
    ("fact-carousel-first", Triggers(&[(19, 20, "price below 20")])),
    ("fact-recipe-restock", Triggers(&[(7, 7, "in stock")])),
    ("same-number-json", Quiet),
    ("same-number-json-ld", Quiet),
    ("same-xml-attribute-order", Quiet),
    ("unicode-nfd", Quiet),
    ("unicode-soft-hyphens", Quiet),
    ("unicode-zero-width", Quiet),
    ("unicode-emoji-selector", Quiet),
    ("unicode-ellipsis", Quiet),
    ("wall-german", Wall { most_reports: 2, most_lines: 1 }),
    ("wall-consent", Wall { most_reports: 0, most_lines: 0 }),
    ("wall-empty-with-title", Wall { most_reports: 0, most_lines: 0 }),
    ("wall-login-redirect", Wall { most_reports: 2, most_lines: 1 }),
    // Here the page it leads to is compared. That it is called a redirect is for the tests of the detector.
    ("redirect-home-for-good", exact(&[News::at(6, 7, &[])])),
    ("cards-sold-out-moves", reported(&["Tin lamp", "Paper lamp"])),
    ("cards-roles", reported(&["Tin lamp", "Paper lamp"])),
    ("cards-one-price", reported(&["Paper lamp"])),
    ("calendar-event-moves", Reported(News { most_lines: 4, ..News::at(2, 2, &["Choir", "12", "17"]) })),
    ("json-ld-newline", reported(&["19"])),
    ("json-ld-semicolon", reported(&["19"])),
    ("json-ld-trailing", reported(&["19"])),
    ("json-ld-html", reported(&["19"])),
    ("json-ld-cdata", reported(&["19"])),
    ("rdfa-price", reported(&["19"])),
    ("phrase-notify-me", Triggers(&[(7, 7, "in stock")])),
    ("phrases", Phrases),
    ("prices", Prices),
    (
        "price-superscript-cents",
        exact(&[News { never: &["$1,29999", "$1,09900"], trigger: Some("price below 1200"), ..News::at(7, 7, &[]) }]),
    ),
    ("text-rewrapped", Quiet),
    ("text-minified", Quiet),
    ("text-paragraph-split", Reported(News { most_lines: 2, ..News::at(2, 2, &["thirty", "sixty"]) })),
    ("text-section-moved", ReportedWithoutEqualLines),
    ("ics-event-moved", reported(&["Chess"])),
    ("ranking-order", reported(&[])),
    ("mail-cloudflare-swapped", reported(&[])),
    ("shadow-dom", reported(&["20 EUR"])),
    ("svg-badge", reported(&["failing", "passing"])),
    ("pdf-same-text", Quiet),
    ("pdf-one-fee", reported(&["24 EUR"])),
    ("js-only", reported(&[])),
    ("often-list", EachFile(|number| format!("2026-{:03}", number + 2))),
    ("often-price", EachFile(|number| format!("{} EUR", 203 - 3 * number))),
    ("once-between-two-looks", EachFile(|number| format!("2026-{:03}", number + 2))),
];
