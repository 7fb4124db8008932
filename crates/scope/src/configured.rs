//! The scope that the settings describe.

use crate::{CrawlRule, FilterFault, Scope, UrlFilter};
use settings::{Draft, Faults, Origin, Rule, RuleFault, SettingFault, Settings, TextFile, read_saved_rules};

/// Adds the faults of the rules' crawl orders. Patterns of pages are left to `watch::check_rules`, which reads them too.
pub fn check_rules(draft: &mut Draft) {
    draft.check_rules(|rule| {
        let faults = crawl_rule(rule).err().unwrap_or_default();
        faults.into_iter().filter(|fault| fault.key != "pages").collect()
    });
}

/// The scope of these settings.
///
/// # Errors
/// Returns all faults of the rules and of the lines of the filters.
pub fn configured(settings: &Settings) -> Result<Scope, Faults> {
    let (mut filters, mut faults) = (Vec::new(), Vec::new());
    for file in &settings.url_filters {
        match url_filter(file) {
            Ok(filter) => filters.push(filter),
            Err(wrong) => faults.extend(wrong),
        }
    }
    match settings.compile_rules(crawl_rule) {
        Ok(rules) if faults.is_empty() => Ok(Scope { rules, filters }),
        rules => Err(Faults::new([faults, rules.err().unwrap_or_default()].concat())),
    }
}

/// The scope of a document of rules that an operator saves while the crawl runs.
///
/// # Errors
/// Returns all faults of the text and of the rules.
pub fn saved(text: &str) -> Result<Scope, Faults> {
    let rules = settings::compile_rules(&read_saved_rules(text)?, crawl_rule);
    rules.map(Scope::new).map_err(Faults::new)
}

fn crawl_rule(rule: &Rule) -> Result<CrawlRule, Vec<RuleFault>> {
    CrawlRule::new(rule.number, rule.name.as_deref(), &rule.pages, rule.orders.clone())
}

fn url_filter(file: &TextFile) -> Result<UrlFilter, Vec<SettingFault>> {
    UrlFilter::parse(&file.name, &file.text).map_err(|faults| {
        let fault = |fault: FilterFault| SettingFault {
            origin: Some(Origin::File { layer: 0, line: fault.line, name: file.name.clone() }),
            key: None,
            problem: fault.problem,
            remedy: fault.remedy,
        };
        faults.into_iter().map(fault).collect()
    })
}
