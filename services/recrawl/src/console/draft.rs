//! A rule as a form has it, before it is saved.

use super::query::Query;
use crate::CommandFailure;
use page::CanonicalUrl;
use serde::Serialize;
use settings::{Rule, read_saved_rules, write_saved_rules};
use watch::WatchRule;

/// The fields of a form with a rule.
pub(super) const FIELDS: [&str; 11] =
    ["url", "was", "name", "pages", "watch", "ignore", "trigger", "only_triggers", "every", "after", "now"];
/// The most bytes of a name that follows from an address.
const NAME_BYTES: usize = 100;

/// A rule as the form has it, an entry on each line.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Draft {
    /// A page to try the rule on.
    pub(super) url: String,
    /// Name of the rule that the form began with.
    was: String,
    name: String,
    pages: String,
    watch: String,
    ignore: String,
    trigger: String,
    only_triggers: bool,
    /// The longest time between two fetches, as it is written.
    every: String,
}

impl Draft {
    /// The rule of a page, or one that watches nothing yet.
    pub(super) fn of(url: &CanonicalUrl, rule: Option<&WatchRule>) -> Self {
        let url_text = url.to_string();
        let Some(rule) = rule.map(WatchRule::written) else { return Self { url: url_text, ..Self::default() } };
        let lines = |entries: &[String]| entries.join("\n");
        let every = rule.orders.max_interval.map(humantime::format_duration);
        Self {
            url: url_text,
            was: rule.name.clone().unwrap_or_default(),
            // A number names another rule once the file has changed.
            name: rule.name.clone().unwrap_or_default(),
            pages: lines(&rule.pages),
            watch: lines(&rule.watch),
            ignore: lines(&rule.ignore),
            trigger: lines(&rule.trigger),
            only_triggers: rule.only_triggers,
            every: every.map(|every| every.to_string().replace(' ', "")).unwrap_or_default(),
        }
    }

    /// The same without its patterns, which name other pages.
    pub(super) fn without_pages(self) -> Self {
        Self { pages: String::new(), ..self }
    }

    /// The rule of a form about a page. Without a name or patterns it is a rule of this page alone.
    pub(super) fn of_form(form: &Query, url: &CanonicalUrl) -> Self {
        let text = |name: &str| form.get(name).unwrap_or_default().to_owned();
        let own = pattern_of(url);
        let name = form.get("name").map(str::trim).map_or_else(|| name_of(&own, url), str::to_owned);
        Self {
            url: url.to_string(),
            was: text("was"),
            name,
            pages: form.get("pages").map_or(own, str::to_owned),
            watch: text("watch"),
            ignore: text("ignore"),
            trigger: text("trigger"),
            only_triggers: form.get("only_triggers").is_some(),
            every: text("every"),
        }
    }

    /// The rule.
    ///
    /// # Errors
    /// Says what is wrong with it.
    pub(super) fn rule(&self) -> Result<Rule, CommandFailure> {
        let rule = Rule {
            number: 1,
            name: Some(self.name.clone()),
            pages: entries(&self.pages),
            watch: entries(&self.watch),
            ignore: entries(&self.ignore),
            trigger: entries(&self.trigger),
            only_triggers: self.only_triggers,
            ..Rule::default()
        };
        let mut text = write_saved_rules(&[rule]);
        if let Some(every) = entries(&self.every).first() {
            text.push_str(&format!("max_interval = {}\n", toml::Value::from(every.as_str())));
        }
        let mut read = read_saved_rules(&text).map_err(|faults| {
            // The places in the text mean nothing: it was made here.
            let faults: Vec<_> = faults.iter().map(|fault| format!("{}; {}", fault.problem, fault.remedy)).collect();
            CommandFailure::Input(faults.join(". "))
        })?;
        read.pop().ok_or_else(|| CommandFailure::Input("the rule is empty".to_owned()))
    }

    /// The rule, ready to be tried.
    ///
    /// # Errors
    /// Says what is wrong with it.
    pub(super) fn compiled(&self) -> Result<WatchRule, CommandFailure> {
        WatchRule::new(self.rule()?).map_err(|faults| {
            let faults: Vec<_> = faults.iter().map(|fault| format!("{}: {fault}", fault.key)).collect();
            CommandFailure::Input(faults.join(". "))
        })
    }
}

fn entries(lines: &str) -> Vec<String> {
    lines.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// The name of a rule of one page. Two addresses that differ late have different names.
fn name_of(pattern: &str, url: &CanonicalUrl) -> String {
    match pattern.len() > NAME_BYTES {
        true => format!("{}… {}", document::prefix(pattern, NAME_BYTES - 40), url.page_id()),
        false => pattern.to_owned(),
    }
}

/// A pattern of this page alone.
fn pattern_of(url: &CanonicalUrl) -> String {
    url.as_str().split_once("://").map_or(url.as_str(), |(_, rest)| rest).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(form: &str) -> Draft {
        let form = Query::of_form(form.as_bytes(), &FIELDS).unwrap();
        Draft::of_form(&form, &CanonicalUrl::parse("https://shop.test/lamp?id=1").unwrap())
    }

    #[test]
    fn a_rule_without_name_and_pages_is_of_its_page_alone() {
        let draft = draft("watch=.price%0D%0A.stock&trigger=price+below+20&every=5m");
        let rule = draft.rule().unwrap();
        assert_eq!(
            (rule.name.as_deref(), &*rule.pages),
            (Some("shop.test/lamp?id=1"), &["shop.test/lamp?id=1".to_owned()][..])
        );
        assert_eq!(rule.watch, [".price", ".stock"]);
        assert_eq!(rule.orders.max_interval, Some(std::time::Duration::from_secs(300)));
        let again = Draft::of(&CanonicalUrl::parse(&draft.url).unwrap(), Some(&draft.compiled().unwrap()));
        assert_eq!(again.rule().unwrap(), rule);
    }

    #[test]
    fn a_wrong_rule_says_why() {
        let why = |form: &str| draft(form).compiled().unwrap_err().to_string();
        assert!(why("watch=.price&every=often").contains("write"));
        assert!(why("watch=.price%5B").contains(".price["));
        assert!(why("").contains("nothing to watch"));
    }
}
