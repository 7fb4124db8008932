//! The tables `[[rules]]`: what to watch on some pages, and how they are crawled. Those of the last file that has some
//! count.

mod orders;

pub(crate) use self::orders::write as write_orders;

use crate::fault::{Origin, nearest};
use crate::form::{Flag, Form, Secrets, quote};
use crate::raw::Raw;
use crate::reader::SettingsReader;
use scope::{CrawlOrders, CrawlRule, Scope};
use std::collections::BTreeMap;
use toml::de::{DeTable, DeValue};
use watch::{RuleText, WatchRule, WatchRules};

/// The name of the tables.
pub(crate) const RULES: &str = "rules";
const KEYS: [&str; 14] = [
    "name",
    "pages",
    "watch",
    "ignore",
    "trigger",
    "only_triggers",
    "crawl",
    "max_depth",
    "max_pages",
    "crawl_delay",
    "min_interval",
    "max_interval",
    "weight",
    "headers",
];
/// The most rules.
const MAX_RULES: usize = 1_000;

impl SettingsReader {
    /// Reads the rules of a file in place of those of the files before.
    pub(crate) fn add_rules(&mut self, value: &DeValue<'_>, at: &Origin, origin: impl Fn(usize) -> Origin) {
        let DeValue::Array(tables) = value else {
            let remedy = "write [[rules]] on a line of its own before each rule, with its keys below";
            return self.fault(at.clone(), RULES, "is a list of tables", remedy.to_owned());
        };
        self.rules.clear();
        if tables.len() > MAX_RULES {
            let problem = format!("there are {} rules, more than {MAX_RULES}", tables.len());
            return self.fault(at.clone(), RULES, &problem, "let patterns of pages share a rule".to_owned());
        }
        for (index, table) in tables.iter().enumerate() {
            let (number, at) = (index + 1, origin(table.span().start));
            let DeValue::Table(table) = table.get_ref() else {
                self.fault(
                    at,
                    &format!("rule {number}"),
                    "is no table",
                    "write [[rules]], and its keys below".to_owned(),
                );
                continue;
            };
            self.add_rule(number, table, &at, &origin);
        }
    }

    fn add_rule(&mut self, number: usize, table: &DeTable<'_>, at: &Origin, origin: impl Fn(usize) -> Origin) {
        let mut places: BTreeMap<&str, Origin> = BTreeMap::new();
        let mut text = RuleText::default();
        let mut orders = CrawlOrders::default();
        let faults_before = self.faults.len();
        for (key, value) in table {
            let at = origin(key.span().start);
            let Some(known) = KEYS.into_iter().find(|known| *known == key.get_ref()) else {
                let remedy = match nearest(key.get_ref(), KEYS) {
                    Some(meant) => format!("did you mean {meant}?"),
                    None => format!("a rule has {}", KEYS.join(", ")),
                };
                let named = format!("rule {number}: {}", key.get_ref());
                self.fault(at, &named, "there is no such key", remedy);
                continue;
            };
            places.insert(known, at.clone());
            let raw = Raw::from_toml(value.get_ref());
            let read = match orders::read(known, &raw, &mut orders) {
                Some(read) => read,
                None => read(known, &raw, &mut text),
            };
            if let Err(remedy) = read {
                let problem = format!("cannot be {}", raw.describe());
                self.fault(at, &format!("rule {number}: {known}"), &problem, format!("write {remedy}"));
            }
        }
        if self.faults.len() > faults_before {
            return;
        }
        text.orders_crawl = !orders.are_empty();
        let crawl = CrawlRule::new(number, text.name.as_deref(), &text.pages, orders);
        let watch = WatchRule::new(number, text);
        let mut faults = Vec::new();
        faults.extend(watch.as_ref().err().into_iter().flatten().map(|it| (it.key, &it.problem, &it.remedy)));
        // Both read the patterns of pages.
        let of_crawl = crawl.as_ref().err().into_iter().flatten().filter(|it| it.key != "pages");
        faults.extend(of_crawl.map(|it| (it.key, &it.problem, &it.remedy)));
        for (key, problem, remedy) in faults {
            let at = places.get(key).unwrap_or(at).clone();
            self.fault(at, &format!("rule {number}: {key}"), problem, remedy.clone());
        }
        let (Ok(watch), Ok(crawl)) = (watch, crawl) else { return };
        if self.rules.iter().any(|(other, _)| other.name() == watch.name()) {
            let at = places.get("name").unwrap_or(at).clone();
            let problem = format!("another rule is called {:?}, too", watch.name());
            let remedy = "give each rule a name of its own".to_owned();
            return self.fault(at, &format!("rule {number}: name"), &problem, remedy);
        }
        self.rules.push((watch, crawl));
    }
}

/// Reads the value of a key, or says what to write.
fn read(key: &str, raw: &Raw, text: &mut RuleText) -> Result<(), String> {
    let words = |raw: &Raw| match raw {
        Raw::Text(text) => Some(text.clone()),
        _ => None,
    };
    let list = match raw {
        Raw::List(entries) => entries.iter().map(words).collect::<Option<Vec<String>>>(),
        one => words(one).map(|text| vec![text]),
    };
    let expected = |example: &str| format!("a text or a list of texts, such as {example}");
    match key {
        "name" => {
            let name = words(raw).filter(|name| !name.trim().is_empty() && name.len() <= 100);
            text.name = Some(name.ok_or("a text of at most 100 bytes, such as \"lamp\"")?);
        }
        "pages" => text.pages = list.ok_or_else(|| expected("[\"shop.example/*\"]"))?,
        "watch" => text.watch = list.ok_or_else(|| expected("[\".price\", \"/status\"]"))?,
        "ignore" => text.ignore = list.ok_or_else(|| expected("[\".teaser\"]"))?,
        "trigger" => text.trigger = list.ok_or_else(|| expected("[\"price below 20\", \"in stock\"]"))?,
        _ => text.only_triggers = raw.flag().ok_or_else(|| Flag.expected())?,
    }
    Ok(())
}

/// Prints the rules as TOML.
pub(crate) fn write(rules: &WatchRules, scope: &Scope, secrets: Secrets, lines: &mut Vec<String>) {
    for (rule, crawl) in rules.iter().zip(scope.rules()) {
        let text = rule.text();
        lines.push(format!("[[{RULES}]]"));
        lines.extend(text.name.iter().map(|name| format!("name = {}", quote(name))));
        let lists =
            [("pages", &text.pages), ("watch", &text.watch), ("ignore", &text.ignore), ("trigger", &text.trigger)];
        for (key, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
            let entries: Vec<String> = list.iter().map(|entry| quote(entry)).collect();
            lines.push(format!("{key} = [{}]", entries.join(", ")));
        }
        if text.only_triggers {
            lines.extend(Flag.write(&true, Secrets::Shown).map(|value| format!("only_triggers = {value}")));
        }
        orders::write(crawl.orders(), secrets, lines);
        lines.push(String::new());
    }
}
