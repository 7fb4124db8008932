//! The watch rules that the settings describe.

use crate::{WatchRule, WatchRules};
use settings::{Draft, Faults, Settings, read_saved_rules};

/// Adds the faults of the rules' pages, selectors and triggers.
pub fn check_rules(draft: &mut Draft) {
    draft.check_rules(|rule| WatchRule::new(rule.clone()).err().unwrap_or_default());
}

/// The rules of these settings.
///
/// # Errors
/// Returns all faults of the rules.
pub fn configured(settings: &Settings) -> Result<WatchRules, Faults> {
    let rules = settings.compile_rules(|rule| WatchRule::new(rule.clone()));
    rules.map(WatchRules::new).map_err(Faults::new)
}

/// The rules of a document that an operator saves while the crawl runs.
///
/// # Errors
/// Returns all faults of the text and of the rules.
pub fn saved(text: &str) -> Result<Vec<WatchRule>, Faults> {
    settings::compile_rules(&read_saved_rules(text)?, |rule| WatchRule::new(rule.clone())).map_err(Faults::new)
}

impl WatchRules {
    /// These rules below others that were saved later. A rule that is saved stands in place of one of the same name. One that watches
    /// nothing hides none of those here.
    #[must_use]
    pub fn below(&self, saved: &[WatchRule]) -> Self {
        let is_replaced = |rule: &&WatchRule| saved.iter().any(|other| other.name() == rule.name());
        let watching = saved.iter().filter(|rule| rule.is_watching());
        Self::new(watching.chain(self.iter().filter(|rule| !is_replaced(rule))).cloned().collect())
    }
}
