//! The tables `[[rules]]`: what to watch on some pages, and how they are crawled. Those of the last file that has some
//! count.

mod orders;

pub(crate) use self::orders::write as write_orders;

use crate::fault::{Origin, RuleFault, SettingFault, nearest};
use crate::form::{Flag, Form, Secrets, quote};
use crate::raw::Raw;
use crate::reader::SettingsReader;
use crate::sections::Settings;
use std::collections::BTreeMap;
use std::time::Duration;
use toml::de::{DeTable, DeValue};

/// A table `[[rules]]`. The crates `watch` and `scope` give its texts a meaning.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rule {
    /// Its number among the rules, from 1.
    pub number: usize,
    /// Its name in the change stream. Its number if it has none.
    pub name: Option<String>,
    /// Patterns of pages.
    pub pages: Vec<String>,
    /// CSS selectors, JSON pointers and facts that count.
    pub watch: Vec<String>,
    /// Parts that do not count.
    pub ignore: Vec<String>,
    /// Conditions on words and numbers.
    pub trigger: Vec<String>,
    /// Whether only changes that fire a trigger are reported.
    pub only_triggers: bool,
    /// How the pages are crawled.
    pub orders: CrawlOrders,
}

/// Whether pages are crawled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    Allow,
    /// Neither as seeds, nor where a link or a redirect leads to them.
    Deny,
}

/// Whether the pages of a rule are rendered by a browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rendering {
    /// Pages are read as the server sends them.
    Never,
    /// Pages are rendered that show signs of being made by their scripts, and gain text by it.
    Auto,
    /// Each look is rendered.
    Always,
}

/// How the pages of a rule are crawled and kept. Absent values follow the other settings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CrawlOrders {
    /// Whether the pages of the rule are crawled.
    pub crawl: Option<Permission>,
    /// Most links from a seed to a discovered page.
    pub max_depth: Option<u32>,
    /// Most pages of each of the hosts.
    pub max_pages: Option<u64>,
    /// Least time between two requests to each of the hosts.
    pub crawl_delay: Option<Duration>,
    /// Shortest time between two fetches of a page.
    pub min_interval: Option<Duration>,
    /// Longest time between two fetches of a page.
    pub max_interval: Option<Duration>,
    /// Importance; 1 is ordinary.
    pub weight: Option<f64>,
    /// Whether a browser renders the pages.
    pub render: Option<Rendering>,
    /// Further headers of requests.
    pub headers: Vec<(String, String)>,
    /// Most versions of a page that are kept beside the last one.
    pub history: Option<u32>,
    /// For how long a version is kept after the page has shown it.
    pub history_age: Option<Duration>,
    /// Most bytes of the versions of a page beside the last one, as they are kept.
    pub history_bytes: Option<u64>,
}

impl Settings {
    /// Compiles every rule by a crate that gives rules a meaning.
    ///
    /// # Errors
    /// Returns the faults of all rules.
    pub fn compile_rules<R>(
        &self,
        compile: impl Fn(&Rule) -> Result<R, Vec<RuleFault>>,
    ) -> Result<Vec<R>, Vec<SettingFault>> {
        compile_rules(&self.rules, compile)
    }
}

/// Compiles rules by a crate that gives them a meaning.
///
/// # Errors
/// Returns the faults of all rules.
pub fn compile_rules<R>(
    rules: &[Rule],
    compile: impl Fn(&Rule) -> Result<R, Vec<RuleFault>>,
) -> Result<Vec<R>, Vec<SettingFault>> {
    let (mut compiled, mut faults) = (Vec::new(), Vec::new());
    for rule in rules {
        match compile(rule) {
            Ok(rule) => compiled.push(rule),
            Err(wrong) => faults.extend(wrong.into_iter().map(|fault| rule.fault(fault, None))),
        }
    }
    if faults.is_empty() { Ok(compiled) } else { Err(faults) }
}

impl Rule {
    /// A fault of this rule among all faults of the settings.
    pub(crate) fn fault(&self, fault: RuleFault, origin: Option<Origin>) -> SettingFault {
        let RuleFault { key, problem, remedy } = fault;
        SettingFault { origin, key: Some(format!("rule {}: {key}", self.number)), problem, remedy }
    }

    /// Its name, or its number.
    pub fn shown_name(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.number.to_string())
    }
}

impl CrawlOrders {
    /// Whether nothing is set.
    pub fn are_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether hosts as a whole are treated otherwise.
    pub fn are_of_hosts(&self) -> bool {
        self.crawl_delay.is_some() || self.max_pages.is_some()
    }
}

/// A rule, with the place of the table and of each of its keys.
pub(crate) struct PlacedRule {
    pub(crate) rule: Rule,
    at: Origin,
    keys: BTreeMap<&'static str, Origin>,
}

impl PlacedRule {
    /// Place of a key, or of the table if the key is absent.
    pub(crate) fn place(&self, key: &str) -> &Origin {
        self.keys.get(key).unwrap_or(&self.at)
    }
}

/// The name of the tables.
pub(crate) const RULES: &str = "rules";
const KEYS: [&str; 18] = [
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
    "render",
    "headers",
    "history",
    "history_age",
    "history_bytes",
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
        let mut keys = BTreeMap::new();
        let mut rule = Rule { number, ..Rule::default() };
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
            keys.insert(known, at.clone());
            let raw = Raw::from_toml(value.get_ref());
            let read = match orders::read(known, &raw, &mut rule.orders) {
                Some(read) => read,
                None => read(known, &raw, &mut rule),
            };
            if let Err(remedy) = read {
                let problem = format!("cannot be {}", raw.describe());
                self.fault(at, &format!("rule {number}: {known}"), &problem, format!("write {remedy}"));
            }
        }
        if self.faults.len() > faults_before {
            return;
        }
        let rule = PlacedRule { rule, at: at.clone(), keys };
        let name = rule.rule.shown_name();
        if self.rules.iter().any(|other| other.rule.shown_name() == name) {
            let problem = format!("another rule is called {name:?}, too");
            let remedy = "give each rule a name of its own".to_owned();
            return self.fault(rule.place("name").clone(), &format!("rule {number}: name"), &problem, remedy);
        }
        self.rules.push(rule);
    }
}

/// Reads the value of a key, or says what to write.
fn read(key: &str, raw: &Raw, rule: &mut Rule) -> Result<(), String> {
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
            rule.name = Some(name.ok_or("a text of at most 100 bytes, such as \"lamp\"")?);
        }
        "pages" => rule.pages = list.ok_or_else(|| expected("[\"shop.example/*\"]"))?,
        "watch" => rule.watch = list.ok_or_else(|| expected("[\".price\", \"/status\"]"))?,
        "ignore" => rule.ignore = list.ok_or_else(|| expected("[\".teaser\"]"))?,
        "trigger" => rule.trigger = list.ok_or_else(|| expected("[\"price below 20\", \"in stock\"]"))?,
        _ => rule.only_triggers = raw.flag().ok_or_else(|| Flag.expected())?,
    }
    Ok(())
}

/// Prints the rules as TOML.
pub(crate) fn write(rules: &[Rule], secrets: Secrets, lines: &mut Vec<String>) {
    for rule in rules {
        lines.push(format!("[[{RULES}]]"));
        lines.extend(rule.name.iter().map(|name| format!("name = {}", quote(name))));
        let lists =
            [("pages", &rule.pages), ("watch", &rule.watch), ("ignore", &rule.ignore), ("trigger", &rule.trigger)];
        for (key, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
            let entries: Vec<String> = list.iter().map(|entry| quote(entry)).collect();
            lines.push(format!("{key} = [{}]", entries.join(", ")));
        }
        if rule.only_triggers {
            lines.extend(Flag.write(&true, Secrets::Shown).map(|value| format!("only_triggers = {value}")));
        }
        orders::write(&rule.orders, secrets, lines);
        lines.push(String::new());
    }
}
