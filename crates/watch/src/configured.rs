//! The watch rules that the settings describe.

use crate::{WatchRule, WatchRules};
use settings::{Draft, Faults, Settings};

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
