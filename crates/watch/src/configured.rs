//! The watch rules that the settings describe.

use crate::{RuleFault, RuleText, WatchRule, WatchRules};
use settings::{Draft, Faults, Rule, SettingFault, Settings};

/// Adds what is wrong with the rules' selectors and triggers. What is wrong with the pattern of a page is
/// left to `scope::check_rules`.
pub fn check_rules(draft: &mut Draft) {
    for rule in draft.settings().rules.clone() {
        for RuleFault { key, problem, remedy } in watch_rule(&rule).err().into_iter().flatten() {
            draft.rule_fault(rule.number, key, problem, remedy);
        }
    }
}

/// The rules of these settings.
///
/// # Errors
/// Returns all that is wrong with them.
pub fn configured(settings: &Settings) -> Result<WatchRules, Faults> {
    let (mut rules, mut faults) = (Vec::new(), Vec::new());
    for rule in &settings.rules {
        let fault = |RuleFault { key, problem, remedy }| SettingFault {
            origin: None,
            key: Some(format!("rule {}: {key}", rule.number)),
            problem,
            remedy,
        };
        match watch_rule(rule) {
            Ok(rule) => rules.push(rule),
            Err(wrong) => faults.extend(wrong.into_iter().map(fault)),
        }
    }
    if faults.is_empty() { Ok(WatchRules::new(rules)) } else { Err(Faults::new(faults)) }
}

fn watch_rule(rule: &Rule) -> Result<WatchRule, Vec<RuleFault>> {
    let Rule { number, name, pages, watch, ignore, trigger, only_triggers, orders } = rule.clone();
    let orders_crawl = !orders.are_empty();
    WatchRule::new(number, RuleText { name, pages, watch, ignore, trigger, only_triggers, orders_crawl })
}
