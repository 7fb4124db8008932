//! Settings whose names and rules are still to be checked by the crates that know them.

use crate::fault::Faults;
use crate::form::{List, OneOf, Text};
use crate::reader::SettingsReader;
use crate::{DEFAULT_TOML, Layers, Receiver, Rule, RuleFault, SettingFault, Settings, check};

/// Settings with the faults found so far. Each crate that gives a text its meaning adds those that it finds.
pub struct Draft {
    settings: Settings,
    reader: SettingsReader,
}

impl Draft {
    /// Merges the layers over [`DEFAULT_TOML`] and checks all that needs no other crate.
    pub fn from_layers<E>(layers: Layers<'_, E>) -> Self
    where
        E: IntoIterator<Item = (String, String)>,
    {
        let mut reader = SettingsReader::default();
        reader.add_file("default.toml", DEFAULT_TOML);
        for (name, text) in layers.files {
            reader.add_file(name, text);
        }
        let mut environment: Vec<_> = layers.environment.into_iter().collect();
        environment.sort();
        for (variable, value) in &environment {
            reader.add_variable(variable, value);
        }
        for (key, value) in layers.overrides {
            reader.add_override(key, value);
        }
        let settings = Settings::read(&mut reader);
        check::check(&settings, &mut reader);
        Self { settings, reader }
    }

    /// The settings, some of which may be invalid.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Refuses names that are not among these. `why_not` says more about some of the others.
    pub fn check_name(
        &mut self,
        (section, key): (&'static str, &'static str),
        names: &[&'static str],
        why_not: impl Fn(&str) -> Option<&'static str>,
    ) {
        self.reader.check(section, key, &OneOf(names, &why_not));
    }

    /// Refuses entries of a list that do not fit. `expected` says what to write.
    pub fn check_list(
        &mut self,
        (section, key): (&'static str, &'static str),
        expected: &'static str,
        fits: fn(&str) -> bool,
    ) {
        self.reader.check(section, key, &List(Text(expected, fits)));
    }

    /// Records a contradiction between settings, unless one of them is faulty itself. It is reported at the highest layer that
    /// sets one of them.
    pub fn contradiction(&mut self, keys: &[(&'static str, &'static str)], problem: String, remedy: &str) {
        self.reader.contradiction(keys, problem, remedy);
    }

    /// Adds the faults of every rule, at the places of their keys.
    pub fn check_rules(&mut self, faults_of: impl Fn(&Rule) -> Vec<RuleFault>) {
        for placed in &self.reader.rules {
            let found = faults_of(&placed.rule).into_iter();
            self.reader.faults.extend(found.map(|fault| {
                let place = placed.place(fault.key).clone();
                placed.rule.fault(fault, Some(place))
            }));
        }
    }

    /// Adds the faults of every receiver, at the places of their keys.
    pub fn check_receivers(&mut self, faults_of: impl Fn(&Receiver) -> Vec<RuleFault>) {
        for placed in &self.reader.receivers {
            let found = faults_of(&placed.receiver).into_iter();
            self.reader.faults.extend(found.map(|RuleFault { key, problem, remedy }| SettingFault {
                origin: Some(placed.place(key).clone()),
                key: Some(format!("deliver {:?}: {key}", placed.receiver.name)),
                problem,
                remedy,
            }));
        }
    }

    /// The settings, if nothing is wrong with them.
    ///
    /// # Errors
    /// Returns all faults, in the order of layers and lines.
    pub fn finish(self) -> Result<Settings, Faults> {
        self.reader.finish(self.settings)
    }
}
