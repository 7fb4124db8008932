//! Puts the layers of the settings together and reports everything that is wrong with them at once.

use crate::fault::{Faults, Origin, RuleFault, SettingFault, nearest};
use crate::form::Form;
use crate::raw::{NOT_SETTINGS, PREFIX, Raw};
use crate::receivers::{DELIVER, MAX_RECEIVERS, PlacedReceiver, keys};
use crate::rules::{PlacedRule, RULES};
use crate::sections::{KEYS, may_be_secret};
use std::collections::BTreeMap;
use toml::de::{DeTable, DeValue};

type SettingKey = (&'static str, &'static str);

/// Collects the layers, returns typed values, and records faults.
#[derive(Default)]
pub(crate) struct SettingsReader {
    files: usize,
    entries: BTreeMap<SettingKey, Vec<(Raw, Origin)>>,
    pub(crate) faults: Vec<SettingFault>,
    /// The rules of the last file that has some.
    pub(crate) rules: Vec<PlacedRule>,
    /// The receivers of the last file that has some.
    pub(crate) receivers: Vec<PlacedReceiver>,
    faulty: Vec<SettingKey>,
    /// Whether a layer could not be read in full, so that some of its values are missing.
    is_unreadable: bool,
}

impl SettingsReader {
    /// The places of all settings, and of the receivers.
    pub(crate) fn places(&self) -> impl Iterator<Item = &Origin> {
        let settings = self.entries.values().flatten().map(|(_, origin)| origin);
        settings.chain(self.receivers.iter().map(|placed| &placed.at))
    }

    pub(crate) fn add_file(&mut self, name: &str, text: &str) {
        let layer = self.files;
        self.files += 1;
        let line_ends: Vec<usize> =
            text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at).collect();
        let origin = |offset: usize| {
            let line = 1 + line_ends.partition_point(|end| *end < offset);
            Origin::File { layer, line, name: name.to_owned() }
        };
        let (document, errors) = DeTable::parse_recoverable(text);
        let mut broken = Vec::new();
        for error in &errors {
            let at = error.span().map_or(0, |span| span.start);
            let line = line_around(text, at);
            self.faults.push(syntax_fault(line, error.message(), origin(at)));
            broken.push(origin(at));
            self.is_unreadable = true;
            if line.trim_start().starts_with('[') || !line.contains('=') {
                // Which section the lines below belong to is guesswork from here on; faults found in them would
                // mislead.
                return;
            }
        }
        for (section_key, section_value) in document.get_ref() {
            let (section, section_at) = (section_key.get_ref().as_ref(), origin(section_key.span().start));
            if section == RULES {
                self.add_rules(section_value.get_ref(), &section_at, origin);
                continue;
            }
            if section == DELIVER {
                self.add_receivers(section_value.get_ref(), &section_at, origin);
                continue;
            }
            let Some((section, keys)) = find_section(section) else {
                self.unknown_section(section, section_at);
                continue;
            };
            let DeValue::Table(table) = section_value.get_ref() else {
                self.fault(
                    section_at,
                    section,
                    "is a section, not a setting",
                    format!("write [{section}] on a line of its own, and its settings below"),
                );
                continue;
            };
            for (key, value) in table {
                let at = origin(key.span().start);
                if broken.contains(&at) {
                    continue;
                }
                match keys.iter().find(|known| *known == key.get_ref()) {
                    Some(known) => self.add((section, known), Raw::from_toml(value.get_ref()), at),
                    None => self.unknown_key(section, keys, key.get_ref(), at),
                }
            }
        }
    }

    /// Adds an environment variable. Variables of other programs are ignored.
    pub(crate) fn add_variable(&mut self, variable: &str, value: &str) {
        let Some(name) = variable.strip_prefix(PREFIX) else { return };
        let name = name.to_lowercase();
        if NOT_SETTINGS.contains(&name.as_str()) {
            return;
        }
        let (section, key) = name.split_once('_').unwrap_or((&name, ""));
        let origin = Origin::Environment { variable: variable.to_owned() };
        match find_section(section) {
            Some(_) if is_service_link(key) => {}
            Some((section, keys)) => match keys.iter().find(|known| **known == key) {
                Some(known) => self.add((section, known), Raw::Untyped(value.to_owned()), origin),
                None => self.unknown_key(section, keys, key, origin),
            },
            // Other programs may use names that begin like ours. Only a near miss is certainly meant for us.
            None => {
                if let Some(meant) = nearest(section, KEYS.iter().map(|(section, _)| *section))
                    && find_section(meant).is_some_and(|(_, keys)| nearest(key, keys.iter().copied()).is_some())
                {
                    self.unknown_section(section, origin);
                }
            }
        }
    }

    pub(crate) fn add_override(&mut self, name: &str, value: &str) {
        let (section, key) = name.split_once('.').unwrap_or(("", name));
        match find_section(section) {
            Some((section, keys)) => match keys.iter().find(|known| **known == key) {
                Some(known) => self.add((section, known), Raw::Untyped(value.to_owned()), Origin::Flag),
                None => self.unknown_key(section, keys, key, Origin::Flag),
            },
            None if [section, key].iter().any(|name| [RULES, DELIVER].contains(name)) => {
                let tables = if [section, key].contains(&RULES) { RULES } else { DELIVER };
                let remedy = format!("write [[{tables}]] in a configuration file");
                self.fault(Origin::Flag, tables, "is no setting", remedy);
            }
            None if section.is_empty() => self.unknown_section(key, Origin::Flag),
            None => self.unknown_section(section, Origin::Flag),
        }
    }

    fn add(&mut self, key: SettingKey, raw: Raw, origin: Origin) {
        self.entries.entry(key).or_default().push((raw, origin));
    }

    fn unknown_section(&mut self, typed: &str, origin: Origin) {
        let elsewhere = KEYS.iter().find(|(_, keys)| keys.contains(&typed));
        let remedy = match (elsewhere, nearest(typed, KEYS.iter().map(|(section, _)| *section))) {
            (Some((section, _)), _) => format!("it is a setting of section {section}: write {section}.{typed}"),
            (None, Some(section)) => format!("did you mean {section}?"),
            (None, None) => format!("the sections are {}", join(KEYS.iter().map(|(section, _)| *section))),
        };
        self.fault(origin, typed, "there is no such section", remedy);
    }

    fn unknown_key(&mut self, section: &str, keys: &[&str], typed: &str, origin: Origin) {
        let elsewhere = KEYS.iter().find(|(_, keys)| keys.contains(&typed));
        let remedy = match (elsewhere, nearest(typed, keys.iter().copied())) {
            (Some((other, _)), _) => format!("it belongs to another section: write {other}.{typed}"),
            (None, Some(meant)) => format!("did you mean {section}.{meant}?"),
            (None, None) => format!("section {section} has {}", join(keys.iter().copied())),
        };
        self.fault(origin, &format!("{section}.{typed}"), "there is no such setting", remedy);
    }

    pub(crate) fn fault(&mut self, origin: Origin, key: &str, problem: &str, remedy: String) {
        self.faults.push(SettingFault {
            origin: Some(origin),
            key: Some(key.to_owned()),
            problem: problem.to_owned(),
            remedy,
        });
    }

    /// The valid value of the highest layer. Invalid values are recorded as faults.
    pub(crate) fn read<F: Form>(&mut self, section: &'static str, key: &'static str, form: &F) -> F::Value {
        let mut value = form.absent();
        for (raw, origin) in self.entries.get(&(section, key)).into_iter().flatten() {
            match form.read(raw) {
                Ok(valid) => value = Some(valid),
                Err(problem) => {
                    let mut remedy = format!("write {}", form.expected());
                    if matches!(raw, Raw::Untyped(_)) {
                        remedy = remedy.replace('"', "");
                    }
                    let key_name = Some(format!("{section}.{key}"));
                    self.faults.push(SettingFault { origin: Some(origin.clone()), key: key_name, problem, remedy });
                    self.faulty.push((section, key));
                }
            }
        }
        value.expect("default.toml has a valid value for every setting that may not be absent; a test proves it")
    }

    /// Checks the values of all layers by another form, unless one of them is known to be wrong.
    pub(crate) fn check(&mut self, section: &'static str, key: &'static str, form: &impl Form) {
        if !self.faulty.contains(&(section, key)) {
            self.read(section, key, form);
        }
    }

    /// Records a contradiction between settings, unless one of them is faulty itself or may be missing. It is reported
    /// at the highest layer that sets one of them.
    pub(crate) fn contradiction(&mut self, keys: &[SettingKey], problem: String, remedy: &str) {
        if self.is_unreadable || keys.iter().any(|key| self.faulty.contains(key)) {
            return;
        }
        let last = |key: &SettingKey| Some((self.entries.get(key)?.last()?.1.clone(), *key));
        let Some((origin, (section, key))) = keys.iter().filter_map(last).max() else { return };
        self.fault(origin, &format!("{section}.{key}"), &problem, remedy.to_owned());
    }

    pub(crate) fn finish<T>(self, value: T) -> Result<T, Faults> {
        if self.faults.is_empty() { Ok(value) } else { Err(Faults::new(self.faults)) }
    }
}

fn find_section(name: &str) -> Option<(&'static str, &'static [&'static str])> {
    KEYS.iter().find(|(section, _)| *section == name).copied()
}

/// Kubernetes sets `RECRAWL_KAFKA_SERVICE_HOST`, `RECRAWL_KAFKA_PORT_9092_TCP` and similar in every pod beside a
/// service named `recrawl-kafka`. None of our keys begins like that.
fn is_service_link(key: &str) -> bool {
    key == "port" || key.starts_with("port_") || key.starts_with("service_")
}

/// The line that contains the byte at `offset`.
fn line_around(text: &str, offset: usize) -> &str {
    let start = text.get(..offset).and_then(|before| before.rfind('\n')).map_or(0, |newline| newline + 1);
    text.get(start..).and_then(|rest| rest.lines().next()).unwrap_or_default()
}

/// A fault for a line that is not TOML. The most common cause is a unit without quotes. The message quotes the value
/// only of known settings that hold no secrets, because others may be passwords.
fn syntax_fault(line: &str, message: &str, origin: Origin) -> SettingFault {
    let line = line.split('#').next().unwrap_or_default();
    let (key, value) = line.split_once('=').map_or(("", ""), |(key, value)| (key.trim(), value.trim()));
    let is_known = KEYS.iter().any(|(_, keys)| keys.contains(&key)) && !may_be_secret(key);
    let remedy = if is_known && value.starts_with(|first: char| first.is_alphanumeric()) {
        format!("texts and values with a unit need quotes: write {key} = {value:?}")
    } else {
        "write lines such as [section] and key = value, with texts and values with a unit in quotes".to_owned()
    };
    SettingFault { origin: Some(origin), key: None, problem: format!("not valid TOML: {message}"), remedy }
}

fn join<'a>(words: impl Iterator<Item = &'a str>) -> String {
    words.collect::<Vec<_>>().join(", ")
}

impl SettingsReader {
    /// Reads the receivers of a file in place of those of the files before.
    pub(crate) fn add_receivers(&mut self, value: &DeValue<'_>, at: &Origin, origin: impl Fn(usize) -> Origin) {
        let DeValue::Array(tables) = value else {
            let remedy = "write [[deliver]] on a line of its own before each receiver, with its keys below";
            return self.fault(at.clone(), DELIVER, "is a list of tables", remedy.to_owned());
        };
        self.receivers.clear();
        if tables.len() > MAX_RECEIVERS {
            let problem = format!("there are {} receivers, more than {MAX_RECEIVERS}", tables.len());
            let remedy = "let receivers share a table, or read the topic of changes (docs/deliver-changes.md)";
            return self.fault(at.clone(), DELIVER, &problem, remedy.to_owned());
        }
        for (index, table) in tables.iter().enumerate() {
            let at = origin(table.span().start);
            let DeValue::Table(table) = table.get_ref() else {
                let remedy = "write [[deliver]], and its keys below".to_owned();
                self.fault(at, &format!("{DELIVER} {}", index + 1), "is no table", remedy);
                continue;
            };
            self.add_receiver(index + 1, table, &at, &origin);
        }
    }

    fn add_receiver(&mut self, number: usize, table: &DeTable<'_>, at: &Origin, origin: impl Fn(usize) -> Origin) {
        let (mut places, mut raws) = (BTreeMap::new(), BTreeMap::new());
        let name = table.iter().find(|(key, _)| key.get_ref() == "name");
        let name = name.and_then(|(_, value)| value.get_ref().as_str()).map(|name| format!("{name:?}"));
        let shown = format!("{DELIVER} {}", name.unwrap_or_else(|| number.to_string()));
        let faults_before = self.faults.len();
        for (key, value) in table {
            let at = origin(key.span().start);
            let Some(known) = keys::KEYS.into_iter().find(|known| *known == key.get_ref()) else {
                let remedy = match nearest(key.get_ref(), keys::KEYS) {
                    Some(meant) => format!("did you mean {meant}?"),
                    None => format!("a receiver has {}", keys::KEYS.join(", ")),
                };
                self.fault(at, &format!("{shown}: {}", key.get_ref()), "there is no such key", remedy);
                continue;
            };
            places.insert(known, at);
            raws.insert(known, Raw::from_toml(value.get_ref()));
        }
        let (receiver, faults) = keys::read(raws);
        for RuleFault { key, problem, remedy } in faults {
            let first = key.split('.').next().unwrap_or(key);
            let place = places.get(first).unwrap_or(at).clone();
            self.fault(place, &format!("{shown}: {key}"), &problem, remedy);
        }
        let Some(receiver) = receiver.filter(|_| self.faults.len() == faults_before) else { return };
        let placed = PlacedReceiver { receiver, at: at.clone(), keys: places };
        if self.receivers.iter().any(|other| other.receiver.name == placed.receiver.name) {
            let remedy = "give each receiver a name of its own".to_owned();
            let place = placed.place("name").clone();
            return self.fault(place, &format!("{shown}: name"), "another receiver is called so, too", remedy);
        }
        self.receivers.push(placed);
    }
}
