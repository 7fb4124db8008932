//! Rules: which pages, which parts of them, which triggers.

use crate::memory::WatchMemory;
use crate::seen_blocks::SeenBlocks;
use crate::sight::{PRICE_WORDS, Sight};
use crate::trigger::Trigger;
use chance::splitmix64;
use document::blocks::Blocks;
use document::select::{FactPart, PartUse, Selection};
use document::text_hash;
use page::CanonicalUrl;
use scope::PagePattern;
use settings::{Rule, RuleFault};

/// The most entries of one list of a rule.
const MAX_ENTRIES: usize = 64;

/// A rule, ready to be applied.
#[derive(Clone, Debug, PartialEq)]
pub struct WatchRule {
    text: Rule,
    name: String,
    pages: Vec<PagePattern>,
    selection: Selection,
    selection_id: u64,
    triggers: Vec<Trigger>,
}

impl WatchRule {
    /// Compiles a rule.
    ///
    /// # Errors
    /// Returns everything that is wrong with it.
    pub fn new(text: Rule) -> Result<Self, Vec<RuleFault>> {
        let mut faults = Vec::new();
        let mut fault = |key, problem: String, remedy: String| faults.push(RuleFault { key, problem, remedy });
        let lists =
            [("pages", &text.pages), ("watch", &text.watch), ("ignore", &text.ignore), ("trigger", &text.trigger)];
        for (key, list) in lists {
            if list.len() > MAX_ENTRIES {
                let problem = format!("there are {} entries, more than {MAX_ENTRIES}", list.len());
                fault(key, problem, "split them over several rules".to_owned());
            }
        }
        let mut pages = Vec::new();
        for pattern in text.pages.iter().take(MAX_ENTRIES) {
            match PagePattern::parse(pattern) {
                Ok(pattern) => pages.push(pattern),
                Err((problem, remedy)) => fault("pages", problem, remedy),
            }
        }
        let mut selection = Selection::default();
        for (key, purpose, parts) in [("watch", PartUse::Watch, &text.watch), ("ignore", PartUse::Ignore, &text.ignore)]
        {
            for part in parts.iter().take(MAX_ENTRIES) {
                if let Some(name) = mistaken_element(part) {
                    let problem = format!("{part:?} selects elements named <{name}>, which HTML does not have");
                    let remedy = match FactPart::parse(name).is_ok() {
                        true => format!("did you mean \"fact:{name}\", \".{name}\" or \"#{name}\"?"),
                        false => format!("did you mean \".{name}\" or \"#{name}\"?"),
                    };
                    fault(key, problem, remedy);
                } else if let Err(wrong) = selection.add(purpose, part) {
                    fault(key, format!("{part:?}: {}", wrong.problem), wrong.remedy);
                }
            }
        }
        let mut triggers = Vec::new();
        for trigger in text.trigger.iter().take(MAX_ENTRIES) {
            match Trigger::parse(trigger) {
                Ok(trigger) if trigger.needs_watch() && text.watch.is_empty() => fault(
                    "trigger",
                    format!(
                        "{:?} does not say which number is meant, and the rule watches no part of the page",
                        trigger.text()
                    ),
                    format!("write \"price {}\", or name the part under watch", trigger.text()),
                ),
                Ok(trigger) => triggers.push(trigger),
                Err((problem, remedy)) => fault("trigger", problem, remedy),
            }
        }
        if text.pages.is_empty() {
            fault("pages", "the rule names no page".to_owned(), "write pages = [\"shop.example/*\"]".to_owned());
        }
        if text.orders.are_empty() && text.watch.is_empty() && text.ignore.is_empty() && text.trigger.is_empty() {
            let remedy = "write watch, ignore or trigger, or how the pages are crawled";
            fault("watch", "the rule has nothing to watch, to ignore or to wait for".to_owned(), remedy.to_owned());
        }
        if text.only_triggers && text.trigger.is_empty() {
            let remedy = "write trigger, or leave only_triggers out";
            fault("only_triggers", "without a trigger, no change would ever be told".to_owned(), remedy.to_owned());
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let name = text.shown_name();
        let selection_id = id_of(&selection);
        Ok(Self { text, name, pages, selection, selection_id, triggers })
    }

    /// Its name, or its number.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The rule as it is written.
    pub fn written(&self) -> &Rule {
        &self.text
    }

    /// The patterns of its pages, as written.
    pub fn patterns(&self) -> &[String] {
        &self.text.pages
    }

    /// The pattern of this rule that matches the page.
    pub fn pattern_for(&self, url: &CanonicalUrl) -> Option<&str> {
        let index = self.pages.iter().position(|pattern| pattern.includes(url))?;
        Some(&self.text.pages[index])
    }

    /// The parts of a page that count, or that do not.
    pub fn selection(&self) -> &Selection {
        &self.selection
    }

    /// Identifies the selection, whatever else of the rule changes. 0 if nothing is selected.
    pub fn selection_id(&self) -> u64 {
        self.selection_id
    }

    /// The triggers, in their order.
    pub fn triggers(&self) -> &[Trigger] {
        &self.triggers
    }

    /// Whether the rule says what to watch. Otherwise it only says how its pages are crawled.
    pub fn is_watching(&self) -> bool {
        !self.selection.is_empty() || !self.triggers.is_empty()
    }

    /// Whether changes that fire no trigger are not reported.
    pub fn reports_only_triggers(&self) -> bool {
        self.text.only_triggers
    }

    /// The triggers, each with its sight on a page.
    pub fn sights(&self, blocks: &Blocks) -> Vec<(&Trigger, Sight)> {
        let seen = SeenBlocks::new(blocks);
        self.triggers.iter().map(|trigger| (trigger, seen.reading(trigger).sight)).collect()
    }

    /// Notes the sights of the triggers on a page, and returns the triggers that fire.
    pub fn look(&self, blocks: &Blocks, memory: &mut WatchMemory) -> Vec<String> {
        memory.note(self.sights(blocks).into_iter())
    }

    /// Whether the rule watches parts, and these are all of them.
    pub fn lacks_all_parts(&self, not_found: &[String]) -> bool {
        let watched = self.selection.parts().iter().filter(|part| part.purpose == PartUse::Watch).count();
        watched > 0 && not_found.len() == watched
    }

    /// The watched parts that select nothing on a page.
    pub fn not_found(&self, blocks: &Blocks) -> Vec<String> {
        let parts = self.selection.parts().iter().zip(&blocks.found);
        let missing = parts.filter(|(part, found)| part.purpose == PartUse::Watch && **found == 0);
        missing.map(|(part, _)| part.text.clone()).collect()
    }
}

/// A name of a fact or a word for prices and stock that stands alone where a selector is expected: its sign was forgotten.
fn mistaken_element(part: &str) -> Option<&str> {
    let name = part.trim();
    let is_fact = name != "title" && FactPart::parse(name).is_ok_and(|fact| fact.item().is_none());
    (is_fact || name == "stock" || PRICE_WORDS.contains(&name)).then_some(name)
}

fn id_of(selection: &Selection) -> u64 {
    if selection.is_empty() {
        return 0;
    }
    let hashes = selection.parts().iter().map(|part| text_hash(part.text.as_bytes()) ^ (part.purpose as u64 + 1));
    hashes.fold(1, |id, hash| splitmix64(id ^ hash))
}

/// The rules of a crawl, in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WatchRules(Vec<WatchRule>);

impl WatchRules {
    /// Rules. The first that names a page is the page's rule.
    pub fn new(rules: Vec<WatchRule>) -> Self {
        Self(rules)
    }

    /// The rule of a page, if it says what to watch there.
    pub fn find(&self, url: &CanonicalUrl) -> Option<&WatchRule> {
        self.0.iter().find(|rule| rule.pattern_for(url).is_some()).filter(|rule| rule.is_watching())
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = &WatchRule> {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use settings::CrawlOrders;

    fn list(entries: &[&str]) -> Vec<String> {
        entries.iter().map(|entry| (*entry).to_owned()).collect()
    }

    fn rule(pages: &[&str], watch: &[&str], trigger: &[&str]) -> Rule {
        Rule { number: 1, pages: list(pages), watch: list(watch), trigger: list(trigger), ..Rule::default() }
    }

    #[test]
    fn the_first_rule_that_names_a_page_is_its_rule() {
        let compiled = |number, pages: &[&str]| WatchRule::new(Rule { number, ..rule(pages, &["#a"], &[]) }).unwrap();
        let rules = WatchRules::new(vec![compiled(1, &["a.test/x/*"]), compiled(2, &["b.test", "a.test"])]);
        let name = |url: &str| rules.find(&CanonicalUrl::parse(url).unwrap()).map(WatchRule::name);
        assert_eq!(
            [name("http://a.test/x/y"), name("http://a.test/"), name("http://c.test/")],
            [Some("1"), Some("2"), None]
        );
    }

    #[test]
    fn a_rule_about_the_crawl_hides_those_below_it() {
        let orders = CrawlOrders { weight: Some(2.0), ..CrawlOrders::default() };
        let silent = Rule { orders, ..rule(&["a.test/x"], &[], &[]) };
        let watching = Rule { number: 2, ..rule(&["a.test"], &["#a"], &[]) };
        let rules = WatchRules::new([silent, watching].map(|text| WatchRule::new(text).unwrap()).to_vec());
        let name = |url: &str| rules.find(&CanonicalUrl::parse(url).unwrap()).map(WatchRule::name);
        assert_eq!([name("http://a.test/x"), name("http://a.test/y")], [None, Some("2")]);
    }

    #[test]
    fn everything_that_is_wrong_with_a_rule_is_said() {
        let text = Rule { only_triggers: true, ..rule(&["a b"], &["p:last-child", "fact:colour"], &["falls to"]) };
        let text = Rule { ignore: list(&["/a/~2"]), trigger: list(&["below x"]), ..text };
        let faults: Vec<_> = WatchRule::new(text).unwrap_err().into_iter().map(|fault| fault.key).collect();
        assert_eq!(faults, ["pages", "watch", "watch", "ignore", "trigger"]);
        let faults = WatchRule::new(Rule { only_triggers: true, ..Rule::default() }).unwrap_err();
        let keys: Vec<_> = faults.iter().map(|fault| fault.key).collect();
        assert_eq!(keys, ["pages", "watch", "only_triggers"]);
        let faults = WatchRule::new(rule(&["a.test"], &["price", "preis", "title", "b"], &[])).unwrap_err();
        let remedies: Vec<_> = faults.iter().map(|fault| fault.remedy.as_str()).collect();
        assert_eq!(
            remedies,
            ["did you mean \"fact:price\", \".price\" or \"#price\"?", "did you mean \".preis\" or \"#preis\"?"]
        );
        let faults = WatchRule::new(rule(&["a.test"], &[], &["below 20"])).unwrap_err();
        assert!(faults[0].to_string().contains("does not say which number is meant"), "{}", faults[0]);
    }

    #[test]
    fn the_id_of_a_selection_is_that_of_its_parts_alone() {
        let id = |text| WatchRule::new(text).unwrap().selection_id();
        let one = id(rule(&["a.test"], &["#a"], &[]));
        assert_eq!(one, id(rule(&["b.test"], &["#a"], &["in stock"])));
        assert_ne!(one, id(rule(&["a.test"], &["#b"], &[])));
        assert_ne!(one, id(Rule { ignore: list(&["#a"]), ..rule(&["a.test"], &[], &[]) }));
        assert_eq!(id(rule(&["a.test"], &[], &["in stock"])), 0);
    }
}
