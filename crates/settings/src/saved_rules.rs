//! Rules that operators save while a crawl runs: a document of tables `[[rules]]`.

use crate::fault::{Faults, SettingFault};
use crate::form::Secrets;
use crate::reader::SettingsReader;
use crate::rules::{self, CrawlOrders, PlacedRule, RULES, Rule};
use std::time::Duration;

/// The most bytes of a document, so that it fits into one record.
const MAX_BYTES: usize = 512 * 1_024;
/// The shortest interval.
const LEAST_INTERVAL: Duration = Duration::from_secs(1);
/// Name of the document in messages.
const NAME: &str = "saved rules";

/// Reads the rules that an operator saves.
///
/// # Errors
/// Returns all faults: of the text, rules without a name, and orders that stand in configuration files alone, because stages
/// read them at their start.
pub fn read_saved_rules(text: &str) -> Result<Vec<Rule>, Faults> {
    let mut reader = SettingsReader::default();
    if text.len() > MAX_BYTES {
        let problem = format!("{NAME}: there are {} bytes, more than {MAX_BYTES}", text.len());
        let remedy = "let patterns of pages share a rule, or move rules to the configuration".to_owned();
        return Err(SettingFault { origin: None, key: None, problem, remedy }.into());
    }
    reader.add_file(NAME, text);
    let first = reader.places().next().cloned();
    if let Some(origin) = first {
        let remedy = "leave tables [[rules]] alone; settings belong to the configuration".to_owned();
        reader.fault(origin, NAME, "have settings beside the rules", remedy);
    }
    let placed = std::mem::take(&mut reader.rules);
    for placed in &placed {
        reader.faults.extend(fault_of(placed));
    }
    match reader.faults.is_empty() {
        true => Ok(placed.into_iter().map(|placed| placed.rule).collect()),
        false => Err(Faults::new(reader.faults)),
    }
}

/// The text of rules that are saved, as [`read_saved_rules`] reads it.
pub fn write_saved_rules(rules: &[Rule]) -> String {
    let mut lines = Vec::new();
    rules::write(rules, Secrets::Shown, &mut lines);
    lines.join("\n")
}

fn fault_of(placed: &PlacedRule) -> Option<SettingFault> {
    let fault = |key: &str, problem: &str, remedy: &str| SettingFault {
        origin: Some(placed.place(key).clone()),
        key: Some(format!("{RULES}: rule {}", placed.rule.shown_name())),
        problem: problem.to_owned(),
        remedy: remedy.to_owned(),
    };
    let Rule { name, orders, .. } = &placed.rule;
    if name.is_none() {
        return Some(fault("name", "has no name", "write name = \"…\", by which it is changed and removed"));
    }
    let CrawlOrders { min_interval, max_interval, .. } = orders.clone();
    if let Some(key) = [("min_interval", min_interval), ("max_interval", max_interval)]
        .into_iter()
        .find_map(|(key, interval)| interval.is_some_and(|interval| interval < LEAST_INTERVAL).then_some(key))
    {
        return Some(fault(key, "is less than a second", "write 1s or more"));
    }
    let is_more = *orders != CrawlOrders { min_interval, max_interval, ..CrawlOrders::default() };
    is_more.then(|| {
        let problem = "has orders to the crawl other than min_interval and max_interval";
        fault(RULES, problem, "move them to a rule of the configuration, which stages read at their start")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_back_as_they_are_written() {
        let text = "[[rules]]\nname = \"lamp\"\npages = [\"a.test/*\"]\nwatch = [\".price\"]\ntrigger = [\"price below 20\"]\n\
                    only_triggers = true\nmax_interval = \"5m\"\n";
        let rules = read_saved_rules(text).unwrap();
        assert_eq!(rules[0].orders.max_interval, Some(std::time::Duration::from_secs(300)));
        assert_eq!(read_saved_rules(&write_saved_rules(&rules)).unwrap(), rules);
        assert_eq!(read_saved_rules("").unwrap(), []);
    }

    #[test]
    fn a_document_of_anything_else_is_refused() {
        let refusal = |text: &str| read_saved_rules(text).unwrap_err().to_string();
        let rule = "[[rules]]\nname = \"lamp\"\npages = [\"a.test\"]\nwatch = [\"p\"]\n";
        assert!(refusal(&format!("[budget]\nfetches_per_second = 9\n{rule}")).contains("beside the rules"));
        assert!(refusal(&rule.replace("name = \"lamp\"\n", "")).contains("has no name"));
        assert!(refusal(&format!("{rule}headers = {{ X = \"1\" }}\n")).contains("move them to a rule"));
        assert!(refusal(&format!("{rule}crawl = \"deny\"\n")).contains("move them to a rule"));
        assert!(refusal(&format!("{rule}{rule}")).contains("is called \"lamp\", too"));
        assert!(refusal(&rule.replace("watch", "wacth")).contains("did you mean watch"));
        assert!(refusal(&format!("{rule}max_interval = \"0s\"\n")).contains("less than a second"));
        assert!(refusal("x").contains("saved rules"));
        assert!(refusal(&" ".repeat(MAX_BYTES + 1)).contains("bytes"));
    }
}
