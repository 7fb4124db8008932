//! Preferences as a list of short texts, as records keep them: `train-ai=n@content-usage`.

use crate::address::address;
use crate::merged::{Decision, Preferences};
use crate::source::Source;
use crate::usage::Use;
use page::Timestamp;

const END: &str = "unavailable-after";
const LICENSE: &str = "license";
const POLICY: &str = "tdm-policy";

impl Preferences {
    /// All statements, in an order of their own: `use=y@source` or `use=n@source`, `unavailable-after=time@source`,
    /// `license=address@source`, `tdm-policy=address@source`.
    pub fn to_list(&self) -> Vec<String> {
        let stated = self
            .stated
            .iter()
            .map(|stated| entry(stated.usage.name(), if stated.is_allowed { "y" } else { "n" }, stated.source));
        stated.chain(self.facts()).collect()
    }

    /// The same with the deciding statements only, and so at most one for each use.
    pub fn to_decisions(&self, at: Timestamp) -> Vec<String> {
        let decided = self.decisions(at).into_iter().map(|Decision { usage, is_allowed, source }| {
            entry(usage.name(), if is_allowed { "y" } else { "n" }, source)
        });
        decided.chain(self.facts()).collect()
    }

    fn facts(&self) -> impl Iterator<Item = String> {
        let ends = self.unavailable_after.iter().map(|(source, at)| entry(END, &at.to_string(), *source));
        let licenses = self.licenses.iter().map(|license| entry(LICENSE, license, Source::RobotsLicense));
        let policies = self.policies.iter().map(|(source, policy)| entry(POLICY, policy, *source));
        ends.chain(licenses).chain(policies)
    }

    /// Reads such a list. Entries of another form are passed over: a newer version may have written them.
    pub fn of_list<'a>(list: impl IntoIterator<Item = &'a str>) -> Self {
        let mut preferences = Self::default();
        for text in list {
            preferences.take_entry(text);
        }
        preferences
    }

    fn take_entry(&mut self, text: &str) -> Option<()> {
        // An address may have both signs, names have none.
        let (statement, source) = text.rsplit_once('@')?;
        let (name, value) = statement.split_once('=')?;
        let source = Source::named(source)?;
        match name {
            END => self.state_end(Timestamp::from_secs(sitemaps::date(value)?.0), source),
            LICENSE => self.state_license(address(value)?),
            POLICY => self.state_policy(address(value)?, source),
            _ => self.state(name.parse::<Use>().ok()?, answer(value)?, source),
        }
        Some(())
    }
}

fn entry(name: &str, value: &str, source: Source) -> String {
    format!("{name}={value}@{source}")
}

/// The meaning of `y` and `n`. `None` for anything else.
pub(crate) fn answer(value: &str) -> Option<bool> {
    match value {
        "y" => Some(true),
        "n" => Some(false),
        _ => None,
    }
}
