//! A change as it is printed for people and sent to programs.

use super::change_text::{LineStyle, passed_over_line, watched_lines};
use super::owners::{UseSelection, without_snippets};
use super::presence::presence_lines;
use super::sentence::sentence;
use crate::source::{Cursor, FollowedTopic};
use crate::stdout::{Format, word};
use clap::Args;
use messages::{ChangeLine, ChangedUnit, PageChange, Verdict, WatchedValue};
use page::{CanonicalUrl, HostName, Timestamp};
use preferences::Use;
use serde::Serialize;
use settings::{ChangeChoice, RuleFault, Settings};
use std::io::Write;
use std::ops::Deref;

/// How the topic of changes is read.
pub const CHANGES: FollowedTopic<PageChange> =
    FollowedTopic { noun: "changes", retention: "log.retention_changes", batch: 500, moment: |change| change.seen_at };

/// Selects changes. What is left out selects all.
#[derive(Args, Clone, Debug, Default)]
pub struct ChangeSelection {
    /// Only changes with these verdicts, with commas: first, minor, major, missing, obscured, redirected, gone, returned,
    /// unwatched, watched, forgotten, failed.
    #[arg(long = "verdict", value_name = "VERDICT", value_delimiter = ',', value_parser = verdict)]
    verdicts: Vec<Verdict>,
    /// Only changes of this page.
    #[arg(long = "url", value_name = "URL", value_parser = address)]
    url: Option<CanonicalUrl>,
    /// Only changes of pages of this host and of those below it. Give it several times for several hosts.
    #[arg(long = "host", value_name = "HOST", value_parser = host)]
    hosts: Vec<HostName>,
    /// Only changes of pages that this watch rule is for, by its name or number. Give it several times for several rules.
    #[arg(long = "rule", value_name = "RULE")]
    rules: Vec<String>,
    /// Only changes that fired a trigger.
    #[arg(long)]
    triggered: bool,
    #[command(flatten)]
    uses: UseSelection,
    /// Whether texts of pages whose owners disallow excerpts are kept from receivers.
    #[arg(skip)]
    heeds_nosnippet: bool,
}

impl ChangeSelection {
    /// The same, with the page's address as a crawl with these settings knows it, and what they say of preferences.
    #[must_use]
    pub fn by(&self, settings: &Settings) -> Self {
        let url = self.url.clone().map(|url| settings.urls.rules().apply(url));
        Self { url, heeds_nosnippet: settings.preferences.nosnippet, ..self.clone() }
    }

    /// The selection that a receiver of the settings has, with what these say of preferences.
    ///
    /// # Errors
    /// Returns a fault for each key with a text that is no verdict, host or use.
    pub fn of_receiver(choice: &ChangeChoice, heeds_nosnippet: bool) -> Result<Self, Vec<RuleFault>> {
        let mut faults = Vec::new();
        let verdicts = parsed(&choice.verdicts, "verdicts", verdict, &mut faults);
        let hosts = parsed(&choice.hosts, "hosts", host, &mut faults);
        let uses = parsed(&choice.uses, "uses", str::parse::<Use>, &mut faults);
        let selection = Self {
            verdicts,
            url: None,
            hosts,
            rules: choice.rules.clone(),
            triggered: choice.triggered,
            uses: UseSelection::of(uses),
            heeds_nosnippet,
        };
        if faults.is_empty() { Ok(selection) } else { Err(faults) }
    }

    /// The options that select the same, with a blank before each.
    pub(crate) fn flags(&self) -> String {
        let mut flags = String::new();
        let mut add = |name: &str, value: &str| flags += &format!(" --{name} {}", quoted(value));
        let verdicts: Vec<_> = self.verdicts.iter().map(word).collect();
        for (name, texts) in [("verdict", verdicts.join(",")), ("uses", self.uses.names().join(","))] {
            if !texts.is_empty() {
                add(name, &texts);
            }
        }
        self.hosts.iter().for_each(|host| add("host", host.as_str()));
        self.rules.iter().for_each(|rule| add("rule", rule));
        if self.triggered { flags + " --triggered" } else { flags }
    }

    /// A change as it is sent to others.
    pub(crate) fn shown(&self, change: PageChange) -> PageChange {
        if self.heeds_nosnippet { without_snippets(change) } else { change }
    }

    /// Prints on stderr how many changes were left out for preferences of owners.
    pub fn report_left_out(&self) {
        self.uses.report("changes");
    }

    /// Whether a change has all that is asked for.
    pub fn wants(&self, change: &PageChange) -> bool {
        (self.verdicts.is_empty() || self.verdicts.contains(&change.verdict))
            && self.url.as_ref().is_none_or(|url| *url == change.url)
            && (self.hosts.is_empty() || {
                let of_page = HostName::of(&change.url);
                self.hosts.iter().any(|host| of_page.is_at_or_below(host))
            })
            && (self.rules.is_empty() || change.rule.as_ref().is_some_and(|rule| self.rules.contains(rule)))
            && (!self.triggered || !change.triggers.is_empty())
            && self.uses.allows_change(change)
    }
}

/// A text as a word of a command line.
pub(crate) fn quoted(text: &str) -> String {
    shlex::try_quote(text).map_or_else(|_| text.to_owned(), std::borrow::Cow::into_owned)
}

/// The texts of a list as values. What is wrong with one is a fault of the key.
fn parsed<T>(
    texts: &[String],
    key: &'static str,
    parse: impl Fn(&str) -> Result<T, String>,
    faults: &mut Vec<RuleFault>,
) -> Vec<T> {
    let mut values = Vec::new();
    for text in texts {
        match parse(text) {
            Ok(value) => values.push(value),
            Err(remedy) => faults.push(RuleFault { key, problem: format!("cannot contain {text:?}"), remedy }),
        }
    }
    values
}

fn address(text: &str) -> Result<CanonicalUrl, String> {
    CanonicalUrl::parse(text).map_err(|error| error.to_string())
}

fn host(text: &str) -> Result<HostName, String> {
    match text.is_empty() || text.contains(['/', ':']) {
        true => Err("write the name of a host, such as shop.example".to_owned()),
        false => Ok(HostName::from_name(text.to_lowercase())),
    }
}

/// The verdicts that are published.
const PUBLISHED: [Verdict; 12] = [
    Verdict::First,
    Verdict::Minor,
    Verdict::Major,
    Verdict::Missing,
    Verdict::Obscured,
    Verdict::Redirected,
    Verdict::Gone,
    Verdict::Returned,
    Verdict::Unwatched,
    Verdict::Watched,
    Verdict::Forgotten,
    Verdict::Failed,
];

fn verdict(text: &str) -> Result<Verdict, String> {
    let found = PUBLISHED.into_iter().find(|verdict| word(verdict) == text);
    found.ok_or_else(|| format!("write some of {}", PUBLISHED.map(|verdict| word(&verdict)).join(", ")))
}

/// A change as it is published: a line of `recrawl changes --format jsonl`, and the body of a webhook.
#[derive(Debug, Serialize)]
pub struct PublishedChange {
    /// Cursor that resumes after this change.
    pub cursor: String,
    #[serde(flatten)]
    pub line: ChangeLine,
}

impl Deref for PublishedChange {
    type Target = ChangeLine;

    fn deref(&self) -> &ChangeLine {
        &self.line
    }
}

impl PublishedChange {
    pub fn new(change: PageChange, cursor: &Cursor) -> Self {
        Self { cursor: cursor.to_string(), line: change.into() }
    }

    /// Changes with everything and with as little as possible, to try templates on.
    pub fn examples() -> [Self; 2] {
        let cursor: Cursor = "1.2".parse().expect("it is a cursor");
        Self::example_records().map(|change| Self::new(change, &cursor))
    }

    /// The records of the [examples](Self::examples).
    pub fn example_records() -> [PageChange; 2] {
        let url = CanonicalUrl::parse("https://shop.test/lamp").expect("it is a URL");
        let unit = ChangedUnit {
            before: Some("24,90 €".to_owned()),
            after: Some("19,90 €".to_owned()),
            place: "Lamp".to_owned(),
        };
        let price = WatchedValue {
            watch: "price".to_owned(),
            number_before: Some(24.9),
            number_after: Some(19.9),
            text_before: None,
            text_after: None,
            unit: Some("EUR".to_owned()),
        };
        let seen_at = Timestamp::from_secs(1_800_000_000);
        let gone = PageChange::bare("example-0-1-0".to_owned(), url, Verdict::Gone, seen_at);
        let little = PageChange { magnitude: 1.0, ..gone };
        let much = PageChange {
            verdict: Verdict::Minor,
            magnitude: 0.5,
            previous_seen_at: Some(Timestamp::from_secs(1_799_990_000)),
            status: Some(200),
            added: vec!["19,90 €".to_owned()],
            removed: vec!["24,90 €".to_owned()],
            changes: vec![unit],
            content_changed: true,
            rule: Some("lamp".to_owned()),
            triggers: vec!["price below 20".to_owned()],
            not_found: vec![".stock".to_owned()],
            title: Some("Desk lamp".to_owned()),
            values: vec![price],
            passed_over: 2,
            preferences: vec!["train-ai=n@content-usage".to_owned()],
            ..little.clone()
        };
        [much, little]
    }

    pub fn write(&self, format: Format, style: LineStyle, out: &mut impl Write) -> std::io::Result<()> {
        if format != Format::Text {
            serde_json::to_writer(&mut *out, self)?;
            return writeln!(out);
        }
        writeln!(out, "{}  {}", self.seen_at, style.verdict(&sentence(self)))?;
        writeln!(out, "    {} {:.3}  {}", word(&self.verdict), self.magnitude, self.url)?;
        change_lines(self, style).try_for_each(|line| writeln!(out, "    {line}"))?;
        match &self.preferences[..] {
            [] => Ok(()),
            preferences => writeln!(out, "    its owner says: {}", preferences.join(", ")),
        }
    }
}

/// The texts of a change, line by line, as commands print them and feeds and chats show them.
pub fn change_lines(change: &ChangeLine, style: LineStyle) -> impl Iterator<Item = String> {
    let count = |number: i32| usize::try_from(number).unwrap_or(0);
    let units = style.lines(change.changes.iter().map(Into::into), count(change.left_out));
    let lost = change.lost.iter().filter(|part| !change.not_found.contains(part));
    let lost = lost.map(|part| format!("? {part}: nothing to see"));
    let watched = watched_lines(&change.triggers, &change.not_found).chain(lost);
    presence_lines(change, style).chain(watched).chain(units).chain(passed_over_line(count(change.passed_over)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_printed_with_its_sentence_what_fired_and_what_is_not_there() {
        let [line, _] = PublishedChange::examples();
        let printed = |format| {
            let mut out = Vec::new();
            line.write(format, LineStyle::Piped, &mut out).expect("memory takes it");
            String::from_utf8(out).expect("it is text")
        };
        let text = printed(Format::Text);
        assert!(text.contains("Z  Desk lamp now costs 19.90 EUR, down from 24.90, rule lamp\n"), "{text}");
        assert_eq!(
            text.split_once('\n').expect("several lines").1,
            "    minor 0.500  https://shop.test/lamp\n    ! price below 20\n    ? .stock is not on the page\n    @ Lamp\n    - 24,90 €\n    \
             + 19,90 €\n    passed over: 2 differences that do not count\n    its owner says: train-ai=n@content-usage\n"
        );
        let json: serde_json::Value = serde_json::from_str(&printed(Format::Jsonl)).expect("a line is JSON");
        assert_eq!((&json["rule"], &json["triggers"][0]), (&"lamp".into(), &"price below 20".into()));
        assert_eq!(json["not_found"][0], ".stock");
        let price = serde_json::json!({"watch": "price", "before": 24.9, "after": 19.9, "unit": "EUR"});
        assert_eq!((&json["title"], &json["values"][0]), (&"Desk lamp".into(), &price));
    }
}
