//! The scope that the settings describe.

use crate::{CrawlRule, CrawlRuleFault, Scope, UrlFilter};
use settings::{Draft, Faults, Origin, Rule, SettingFault, Settings};

/// Adds what is wrong with the rules' patterns of pages and crawl orders.
pub fn check_rules(draft: &mut Draft) {
    for rule in draft.settings().rules.clone() {
        for CrawlRuleFault { key, problem, remedy } in crawl_rule(&rule).err().into_iter().flatten() {
            draft.rule_fault(rule.number, key, problem, remedy);
        }
    }
}

/// The scope of these settings.
///
/// # Errors
/// Returns all that is wrong with the rules and with the lines of the filters.
pub fn configured(settings: &Settings) -> Result<Scope, Faults> {
    let (mut rules, mut filters, mut faults) = (Vec::new(), Vec::new(), Vec::new());
    for rule in &settings.rules {
        let fault = |CrawlRuleFault { key, problem, remedy }| SettingFault {
            origin: None,
            key: Some(format!("rule {}: {key}", rule.number)),
            problem,
            remedy,
        };
        match crawl_rule(rule) {
            Ok(rule) => rules.push(rule),
            Err(wrong) => faults.extend(wrong.into_iter().map(fault)),
        }
    }
    for file in &settings.url_filters {
        match UrlFilter::parse(&file.name, &file.text) {
            Ok(filter) => filters.push(filter),
            Err(wrong) => faults.extend(wrong.into_iter().map(|fault| SettingFault {
                origin: Some(Origin::File { layer: 0, line: fault.line, name: file.name.clone() }),
                key: None,
                problem: fault.problem,
                remedy: fault.remedy,
            })),
        }
    }
    if faults.is_empty() { Ok(Scope { rules, filters }) } else { Err(Faults::new(faults)) }
}

fn crawl_rule(rule: &Rule) -> Result<CrawlRule, Vec<CrawlRuleFault>> {
    CrawlRule::new(rule.number, rule.name.as_deref(), &rule.pages, rule.orders.clone())
}
