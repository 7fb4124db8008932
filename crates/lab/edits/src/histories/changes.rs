//! Pages without noise that truly change, looked at more and less often: every change is reported.

use super::kinds::{DAY_S, HOUR_S};
use super::visit::{Looks, reports, visit};
use super::{ADDRESS, HTML, HistoryRow, PAGES, Surroundings};
use archives::LivePage;
use page::UrlRules;

/// Versions of a page.
const CHANGES: i64 = 14;
const MINUTE_S: i64 = 60;

/// When a page is looked at and when it changes.
pub(super) struct Schedule {
    name: &'static str,
    look_every_s: i64,
    change_every_s: i64,
    looks: Looks,
    /// Changes that come between a look and the second look, by their numbers.
    between: &'static [i64],
}

const fn regular(name: &'static str, look_every_s: i64, change_every_s: i64, looks: Looks) -> Schedule {
    Schedule { name, look_every_s, change_every_s, looks, between: &[] }
}

const fn between(name: &'static str, between: &'static [i64]) -> Schedule {
    Schedule { name, look_every_s: HOUR_S, change_every_s: HOUR_S, looks: Looks::Twice, between }
}

pub(super) const SCHEDULES: &[Schedule] = &[
    // Where a look comes every minute, it is the second look of the one before.
    regular("looked at every minute", MINUTE_S, 10 * MINUTE_S, Looks::Single),
    regular("looked at every two minutes", 2 * MINUTE_S, 20 * MINUTE_S, Looks::Wanted),
    regular("looked at every ten minutes", 10 * MINUTE_S, HOUR_S, Looks::Wanted),
    between("changed once between two looks", &[7]),
    between("changed thrice between two looks", &[4, 8, 9]),
    between("changed often between two looks", &[2, 3, 4, 5, 7, 8, 10, 12]),
    regular("looked at every day", DAY_S, DAY_S, Looks::Wanted),
];

/// Something that changes: what the page shows in a version, and the words of the change to it.
pub(super) struct Content {
    name: &'static str,
    content_type: &'static str,
    shows: fn(i64) -> String,
    says: fn(i64) -> String,
}

const fn block(name: &'static str, shows: fn(i64) -> String, says: fn(i64) -> String) -> Content {
    Content { name, content_type: HTML, shows, says }
}

const STATES: [&str; 9] = [
    "running as planned",
    "delayed by fog",
    "delayed by ice",
    "closed for the day",
    "closed for repairs",
    "open to walkers",
    "open to bicycles",
    "under inspection",
    "about to reopen",
];

fn state(version: i64) -> String {
    STATES[version as usize % STATES.len()].to_owned()
}

fn price(version: i64) -> String {
    format!("{} EUR", 90 - 3 * version)
}

fn entry(version: i64) -> String {
    format!("No. {}: report on building {}", version + 100, 7 * version + 3)
}

/// The newest four entries, each as `one` writes it.
fn entries(version: i64, one: fn(i64) -> String) -> String {
    (version - 3..=version).rev().map(one).collect()
}

pub(super) const CONTENTS: &[Content] = &[
    block("entry of a list", |n| format!("<ul>{}</ul>", entries(n, |n| format!("<li>{}</li>", entry(n)))), entry),
    block(
        "entry with a link",
        |n| format!("<ul>{}</ul>", entries(n, |n| format!("<li><a href=\"/r/{n}.pdf\">{}</a></li>", entry(n)))),
        entry,
    ),
    block("price in a text", |n| format!("<p>The bag costs {} with its strap.</p>", price(n)), price),
    block("price alone in a text", |n| format!("<p class=price>{}</p>", price(n)), price),
    block("state of a service", |n| format!("<p>Ferry: {}</p>", state(n)), state),
    block(
        "cell of a table",
        |n| format!("<table><tr><td>Ferry</td><td>{}</td></tr><tr><td>Bridge</td><td>open</td></tr></table>", state(n)),
        state,
    ),
    block(
        "target of a link",
        |n| format!("<p>The <a href=\"/plans/{}.pdf\">plan</a> of the week</p>", 300 + n),
        |n| format!("/plans/{}.pdf", 300 + n),
    ),
    block(
        "price in JSON-LD",
        |n| {
            let offer = format!("{{\"@type\":\"Offer\",\"price\":\"{}\",\"priceCurrency\":\"EUR\"}}", 90 - 3 * n);
            format!(
                "<script type=\"application/ld+json\">{{\"@type\":\"Product\",\"name\":\"Bag\",\"offers\":{offer}}}</script>"
            )
        },
        |n| (90 - 3 * n).to_string(),
    ),
    block("button", |n| format!("<p>Ferry of today: <button>{}</button></p>", state(n)), state),
    Content {
        name: "item of a feed",
        content_type: "application/rss+xml",
        shows: |n| {
            let item = |n| format!("<item><title>{}</title><link>https://a.test/{n}</link></item>", entry(n));
            let items = entries(n, item);
            format!(
                "<?xml version=\"1.0\"?><rss version=\"2.0\"><channel><title>Reports</title>{items}</channel></rss>"
            )
        },
        says: entry,
    },
    Content {
        name: "value of JSON",
        content_type: "application/json",
        shows: |n| {
            format!(
                "{{\"lines\":[{{\"id\":\"ferry\",\"state\":\"{}\"}},{{\"id\":\"bridge\",\"state\":\"open\"}}]}}",
                state(n)
            )
        },
        says: state,
    },
];

/// Plays one content by one schedule. A change counts as reported if the visit that finds it reports it: what changes between a
/// look and the second one may wait for a third.
pub(super) fn row(content: &Content, schedule: &Schedule, urls: &UrlRules) -> HistoryRow {
    let Schedule { name, look_every_s, change_every_s, looks, between } = *schedule;
    // A change comes right before a look, or half a minute behind one.
    let version_at = |now_s: i64| {
        let version = now_s / change_every_s;
        let is_late = between.contains(&version) && now_s % change_every_s < MINUTE_S / 2;
        if is_late { version - 1 } else { version }
    };
    let mut live = LivePage::new(urls, content.content_type, ADDRESS);
    let mut row = HistoryRow::new(format!("{}, {name}", content.name));
    let page = Surroundings::of_made(PAGES[0]);
    let mut known = 0;
    for now_s in (0..CHANGES * change_every_s).step_by(look_every_s as usize) {
        let mut request_s = now_s;
        let fetch = || {
            let shown = (content.shows)(version_at(request_s));
            request_s += MINUTE_S;
            if content.content_type == HTML { page.with(&shown) } else { shown }
        };
        let mut seen_s = now_s;
        let mut is_open = false;
        let see = |judgement: &change::Judgement, _: &str| {
            let version = version_at(seen_s);
            if std::mem::replace(&mut known, version) != version {
                row.edits.of += 1;
                is_open = true;
            }
            if is_open && reports(judgement, &(content.says)(version)) {
                row.edits.reported += 1;
                is_open = false;
            }
            seen_s += MINUTE_S;
        };
        visit(&mut live, now_s, looks, fetch, see);
    }
    row
}
