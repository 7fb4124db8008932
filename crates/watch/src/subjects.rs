//! The subjects of a rule on a page: its watched parts and the numbers of its triggers. Which of them are there, with which
//! values, and which the rule has lost or found again.

use crate::memory::WatchMemory;
use crate::rule::WatchRule;
use crate::seen_blocks::SeenBlocks;
use crate::sight::{Reading, Sight};
use crate::trigger::Condition;
use crate::value::{LastValue, SubjectMemory, UnitValue, Value, WatchedValue};
use document::blocks::Blocks;
use document::select::{FactPart, PartUse};
use document::text_hash;

/// Looks in a row at something in the page's place that a rule has to see nothing at, before that is news.
const HELD_LOOKS: u8 = 2;

/// The kinds of subjects, in the order in which their values are given: where two have one name, the first counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum SubjectKind {
    Fact,
    Number,
    Part,
}

/// A watched part, or a trigger that is about a number, on one version of a page.
#[derive(Clone, Debug)]
struct SeenSubject {
    kind: SubjectKind,
    key: u64,
    /// As the rule writes it.
    text: String,
    /// The name of its value.
    name: String,
    is_there: bool,
    value: Option<UnitValue>,
}

/// The news of the subjects of a rule.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SubjectNews {
    /// The values that differ from those last seen. Each name once.
    pub values: Vec<WatchedValue>,
    /// Watched parts and triggers, as written, that were seen before and are not on the page since this look.
    pub lost: Vec<String>,
    /// Those that are there again.
    pub found_again: Vec<String>,
}

impl SubjectNews {
    /// Whether the rule sees less or more than before.
    pub fn is_sight(&self) -> bool {
        !self.lost.is_empty() || !self.found_again.is_empty()
    }
}

/// The findings of a rule on a version of its page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RuleLook {
    /// The triggers that fire, as written.
    pub triggers: Vec<String>,
    /// The watched parts that select nothing.
    pub not_found: Vec<String>,
    /// Values that differ, and parts that the rule has lost or found again.
    pub news: SubjectNews,
    /// The parts and triggers that see nothing.
    pub blind: Vec<String>,
}

/// The version that a look shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// The page.
    Page,
    /// It may be an error in the page's place.
    Doubtful,
}

impl WatchRule {
    /// Takes in a version of the rule's page. Triggers look at it only if `may_fire`: not if it may be an error in the page's
    /// place.
    pub fn look_at(&self, blocks: &Blocks, memory: &mut WatchMemory, shown: Shown, may_fire: bool) -> RuleLook {
        let seen = SeenBlocks::new(blocks);
        let readings: Vec<Reading> = self.triggers().iter().map(|trigger| seen.reading(trigger)).collect();
        let not_found = self.not_found(blocks);
        let is_comparable = shown == Shown::Page || memory.is_of(Some(self));
        let news = match is_comparable {
            true => note(&mut memory.subjects, self.subjects(&seen, &readings), shown),
            false => SubjectNews::default(),
        };
        let sights = || self.triggers().iter().zip(readings.iter().map(|reading| reading.sight));
        let blank = sights().filter(|(_, sight)| is_blank(*sight)).map(|(trigger, _)| trigger.text().to_owned());
        let blind = not_found.iter().cloned().chain(blank).collect();
        let triggers = if may_fire { memory.note(sights()) } else { Vec::new() };
        RuleLook { triggers, not_found, news, blind }
    }

    /// The subjects of the rule on a version of a page: the watched parts, then the triggers.
    fn subjects(&self, seen: &SeenBlocks<'_>, readings: &[Reading]) -> Vec<SeenSubject> {
        let mut subjects = Vec::new();
        let parts = self.selection().parts().iter().enumerate().filter(|(_, part)| part.purpose == PartUse::Watch);
        for (number, part) in parts {
            let fact = part.text.strip_prefix("fact:").and_then(|name| FactPart::parse(name).ok());
            subjects.push(SeenSubject {
                kind: if fact.is_some() { SubjectKind::Fact } else { SubjectKind::Part },
                key: part_key(&part.text),
                name: part.text.strip_prefix("fact:").unwrap_or(&part.text).trim().to_owned(),
                is_there: seen.blocks.found.get(number).is_some_and(|found| *found > 0),
                value: match &fact {
                    Some(fact) => seen.fact(fact),
                    None => seen.part(number),
                },
                text: part.text.clone(),
            });
        }
        for (trigger, reading) in self.triggers().iter().zip(readings) {
            let Condition::Number(subject, _) = &trigger.condition else { continue };
            let number = trigger.number(reading.sight);
            let value = number.map(|number| UnitValue::number(number, reading.unit.clone()));
            subjects.push(SeenSubject {
                kind: SubjectKind::Number,
                key: trigger_key(trigger.text()),
                text: trigger.text().to_owned(),
                name: subject.name.clone(),
                is_there: value.is_some(),
                value,
            });
        }
        subjects
    }

    /// The parts and triggers, as written, that see nothing on a version of a page.
    pub fn blind(&self, blocks: &Blocks) -> Vec<String> {
        let parts = self.not_found(blocks);
        let triggers = self.sights(blocks).into_iter().filter(|(_, sight)| is_blank(*sight));
        parts.into_iter().chain(triggers.map(|(trigger, _)| trigger.text().to_owned())).collect()
    }
}

fn is_blank(sight: Sight) -> bool {
    matches!(sight, Sight::Nothing | Sight::Several)
}

/// A value of a subject before and after a look.
struct Step {
    kind: SubjectKind,
    name: String,
    before: Option<UnitValue>,
    after: Option<UnitValue>,
}

impl WatchMemory {
    /// The values that a rule saw at its last look, by what they are of: its watched parts and its triggers about numbers.
    pub fn last_values(&self, rule: &WatchRule) -> Vec<LastValue> {
        let parts = rule.selection().parts().iter().filter(|part| part.purpose == PartUse::Watch);
        let parts = parts.map(|part| (part.text.as_str(), part_key(&part.text)));
        let triggers = rule.triggers().iter().map(|trigger| (trigger.text(), trigger_key(trigger.text())));
        let last = |(subject, key): (&str, u64)| {
            let UnitValue { value, unit } =
                self.subjects.iter().find(|known| known.key == key && known.misses == 0)?.value.clone()?;
            Some(LastValue { subject: subject.to_owned(), value, unit })
        };
        parts.chain(triggers).filter_map(last).collect()
    }
}

fn part_key(text: &str) -> u64 {
    text_hash(text.as_bytes())
}

fn trigger_key(text: &str) -> u64 {
    text_hash(format!("trigger {text}").as_bytes())
}

/// Notes the subjects of a look, and says what is new of them.
fn note(known: &mut Vec<SubjectMemory>, subjects: Vec<SeenSubject>, shown: Shown) -> SubjectNews {
    let mut news = SubjectNews::default();
    let (mut next, mut steps) = (Vec::with_capacity(subjects.len()), Vec::new());
    for subject in subjects {
        let before = known.iter().find(|before| before.key == subject.key).cloned();
        match (before, subject.is_there) {
            (None, false) => {}
            (None, true) if shown == Shown::Doubtful => {}
            (Some(before), true) if shown == Shown::Doubtful => next.push(before),
            (before, true) => next.push(seen(before, subject, &mut news, &mut steps)),
            (Some(before), false) => next.push(missed(before, subject, shown, &mut news, &mut steps)),
        }
    }
    *known = next;
    steps.sort_by_key(|step| step.kind);
    steps.into_iter().for_each(|step| news.add(step));
    news
}

fn seen(
    before: Option<SubjectMemory>,
    subject: SeenSubject,
    news: &mut SubjectNews,
    steps: &mut Vec<Step>,
) -> SubjectMemory {
    let SeenSubject { kind, key, text, name, value, .. } = subject;
    if before.as_ref().is_some_and(|before| before.is_reported) {
        news.found_again.push(text);
    }
    let before = before.and_then(|before| before.value);
    if value.is_some() {
        steps.push(Step { kind, name, before: before.clone(), after: value.clone() });
    }
    SubjectMemory { key, value: value.or(before), misses: 0, is_reported: false }
}

fn missed(
    before: SubjectMemory,
    subject: SeenSubject,
    shown: Shown,
    news: &mut SubjectNews,
    steps: &mut Vec<Step>,
) -> SubjectMemory {
    let misses = before.misses.saturating_add(1);
    let is_news = !before.is_reported && (shown == Shown::Page || misses >= HELD_LOOKS);
    if is_news {
        news.lost.push(subject.text);
        steps.push(Step { kind: subject.kind, name: subject.name, before: before.value.clone(), after: None });
    }
    SubjectMemory { misses, is_reported: before.is_reported || is_news, ..before }
}

impl SubjectNews {
    /// Adds a value that differs. A number that was already given under another name is left out, and so is the second
    /// value of one name.
    fn add(&mut self, step: Step) {
        let unit = step.after.as_ref().or(step.before.as_ref()).and_then(|side| side.unit.clone());
        let [before, after] = [step.before, step.after].map(|side| side.map(|side| side.value));
        let is_number = [&before, &after].iter().any(|side| matches!(side, Some(Value::Number(_))));
        let is_given = |known: &WatchedValue| {
            known.name == step.name || (is_number && known.before == before && known.after == after)
        };
        if before != after && !step.name.is_empty() && !self.values.iter().any(is_given) {
            self.values.push(WatchedValue { name: step.name, before, after, unit });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use document::Body;
    use settings::Rule;

    fn rule(watch: &[&str], triggers: &[&str]) -> WatchRule {
        let list = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let text = Rule { pages: list(&["*"]), watch: list(watch), trigger: list(triggers), ..Rule::default() };
        WatchRule::new(text).unwrap()
    }

    fn look(rule: &WatchRule, memory: &mut WatchMemory, html: &str, shown: Shown) -> SubjectNews {
        memory.begin(Some(rule));
        let body = Body::new(html.as_bytes(), Some("text/html"), Some("https://shop.test/lamp"));
        rule.look_at(&body.with_selection(rule.selection()).blocks(), memory, shown, true).news
    }

    /// Name, value before and after, and unit.
    type SeenValue<'n> = (&'n str, Option<Value>, Option<Value>, Option<&'n str>);

    fn values(news: &SubjectNews) -> Vec<SeenValue<'_>> {
        let value = |it: &WatchedValue| (it.before.clone(), it.after.clone());
        news.values.iter().map(|it| (it.name.as_str(), value(it).0, value(it).1, it.unit.as_deref())).collect()
    }

    fn number(number: f64) -> Option<Value> {
        Some(Value::Number(number))
    }

    fn text(text: &str) -> Option<Value> {
        Some(Value::Text(text.to_owned()))
    }

    #[test]
    fn values_are_given_before_and_after_with_their_unit() {
        let rule = rule(&["fact:price", "fact:availability", ".left"], &["price below 20", "price falls"]);
        let page = |price: &str, stock: &str, left: &str| {
            format!(
                "<script type=application/ld+json>{{\"@type\":\"Product\",\"offers\":{{\"price\":{price},\"priceCurrency\":\"EUR\",\
                 \"availability\":\"https://schema.org/{stock}\"}}}}</script><p class=left>{left}</p>"
            )
        };
        let mut memory = WatchMemory::default();
        let news = look(&rule, &mut memory, &page("121.55", "InStock", "Only 3 left"), Shown::Page);
        assert_eq!(values(&news).len(), 3, "{news:?}");
        let news = look(&rule, &mut memory, &page("99", "OutOfStock", "Only 3 left"), Shown::Page);
        let expected = [
            ("price", number(121.55), number(99.0), Some("EUR")),
            ("availability", text("InStock"), text("OutOfStock"), None),
        ];
        assert_eq!(values(&news), expected);
        let news = look(&rule, &mut memory, &page("99.00", "OutOfStock", "Only 2 left"), Shown::Page);
        assert_eq!(values(&news), [(".left", text("Only 3 left"), text("Only 2 left"), None)]);
    }

    #[test]
    fn what_a_rule_loses_is_reported_once_and_when_it_is_back() {
        let rule = rule(&["#price", "#stock"], &["price below 20"]);
        let mut memory = WatchMemory::default();
        let mut at = |html: &str| {
            let news = look(&rule, &mut memory, html, Shown::Page);
            memory = WatchMemory::decode(&memory.encode()).unwrap();
            news
        };
        assert!(!at("<p>Lamp <b id=price>24 €</b> <i id=stock>Yes</i>").is_sight());
        let lost = at("<p>Lamp <b id=cost>24 €</b> <i id=stock>Yes</i>");
        assert_eq!(lost.lost, ["#price", "price below 20"]);
        assert_eq!(values(&lost), [("price", number(24.0), None, Some("EUR"))]);
        assert_eq!(at("<p>Lamp <b id=cost>23 €</b> <i id=stock>Yes</i>"), SubjectNews::default());
        let found = at("<p>Lamp <b id=price>19 €</b> <i id=stock>Yes</i>");
        assert_eq!(found.found_again, ["#price", "price below 20"]);
        assert_eq!(values(&found), [("price", number(24.0), number(19.0), Some("EUR"))]);
    }

    #[test]
    fn what_may_be_an_error_has_to_come_twice() {
        let rule = rule(&["#price"], &[]);
        let mut memory = WatchMemory::default();
        look(&rule, &mut memory, "<p id=price>24 €", Shown::Page);
        assert!(!look(&rule, &mut memory, "<p>Back soon", Shown::Doubtful).is_sight());
        assert!(!look(&rule, &mut memory, "<p id=price>24 €", Shown::Page).is_sight());
        assert!(!look(&rule, &mut memory, "<p>Back soon", Shown::Doubtful).is_sight());
        assert_eq!(look(&rule, &mut memory, "<p>Back soon", Shown::Doubtful).lost, ["#price"]);
        assert!(!look(&rule, &mut memory, "<p>Back soon", Shown::Page).is_sight());
        assert_eq!(look(&rule, &mut memory, "<p id=price>24 €", Shown::Page).found_again, ["#price"]);
    }

    #[test]
    fn what_was_never_there_is_not_lost() {
        let rule = rule(&["#price", "#cost"], &[]);
        let mut memory = WatchMemory::default();
        look(&rule, &mut memory, "<p id=price>24 €", Shown::Page);
        assert!(!look(&rule, &mut memory, "<p id=price>23 €", Shown::Page).is_sight());
        assert_eq!(look(&rule, &mut memory, "<p>23 €", Shown::Page).lost, ["#price"]);
    }
}
