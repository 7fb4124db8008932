//! Rules that operators save, remove and bring back.

use super::draft::{Draft, FIELDS};
use super::query::Query;
use super::{ScreenFailure, Source};
use crate::CommandFailure;
use daemon::http::{Call, OrderKind, Task, TextResponse};
use operate::{NewRules, OrderSender, RuleSets};
use page::CanonicalUrl;
use serde::Serialize;
use settings::Rule;
use watch::WatchRule;

/// Rules that are named of a set. It may have a thousand.
const NAMED: usize = 10;
/// Number of the set before the first.
const NONE: &str = "0";

/// The result of a form about rules.
#[derive(Serialize)]
pub(super) struct Saved {
    sentence: String,
    /// The page of the form, if the crawl does not know it.
    unknown: Option<String>,
    url: Option<String>,
}

/// A set of rules, as a line.
#[derive(Serialize)]
pub(super) struct SetLine {
    number: i64,
    saved_at: String,
    saved_by: String,
    /// Names of the first rules.
    rules: Vec<String>,
    more: usize,
}

/// The sets as lines, the newest first.
pub(super) fn lines(sets: &RuleSets) -> Vec<SetLine> {
    let line = |set: &messages::RuleSet| {
        let rules = settings::read_saved_rules(&set.text).unwrap_or_default();
        SetLine {
            number: set.number,
            saved_at: set.saved_at.to_string(),
            saved_by: set.saved_by.clone().unwrap_or_else(|| "somebody".to_owned()),
            rules: rules.iter().take(NAMED).map(Rule::shown_name).collect(),
            more: rules.len().saturating_sub(NAMED),
        }
    };
    sets.iter().rev().map(line).collect()
}

/// These rules with another, which changes the one of the name `was`, or stands where it is the rule of its page.
fn with(
    mut rules: Vec<Rule>,
    mut rule: Rule,
    was: Option<&str>,
    url: &CanonicalUrl,
) -> Result<Vec<Rule>, CommandFailure> {
    let name = rule.shown_name();
    let place = |name: &str| rules.iter().position(|other| other.shown_name() == name);
    let (changed, named) = (was.and_then(place), place(&name));
    if named.is_some() && named != changed {
        let problem = format!("another saved rule is called {name}; change that one, or write another name");
        return Err(CommandFailure::Input(problem));
    }
    if let Some(changed) = changed {
        // The form has no field for it.
        rule.orders.min_interval = rules[changed]
            .orders
            .min_interval
            .filter(|least| rule.orders.max_interval.is_none_or(|most| *least <= most));
        rules[changed] = rule;
        return Ok(rules);
    }
    // The first rule that names a page is its rule. Before others it might hide those of other pages.
    let is_of_page = |other: &Rule| WatchRule::new(other.clone()).is_ok_and(|other| other.pattern_for(url).is_some());
    let before = rules.iter().position(is_of_page).unwrap_or(rules.len());
    rules.insert(before, rule);
    Ok(rules)
}

/// Carries out a form. A refusal of the order is the answer.
pub(super) fn change(
    source: &Source<'_>,
    call: &Call<'_>,
    sender: &OrderSender,
) -> Result<Result<Saved, TextResponse>, ScreenFailure> {
    let known: Vec<&str> = FIELDS.into_iter().chain(["act", "set"]).collect();
    let form = Query::of_form(call.body, &known)?;
    let (sets, after) = (source.state.saved_rules()?, form.get("after").and_then(|number| number.parse().ok()));
    let name = || form.get("name").ok_or_else(|| CommandFailure::Input("name: which rule is meant?".to_owned()));
    let (rules, sentence, url) = match form.get("act") {
        Some("save") => {
            let url = form.url(source.settings)?;
            let rule = Draft::of_form(&form, &url).rule()?;
            let shown = rule.shown_name();
            (with(sets.rules()?, rule, form.get("was"), &url)?, format!("The rule {shown} is saved."), Some(url))
        }
        Some("remove") => {
            let (name, mut rules) = (name()?, sets.rules()?);
            rules.retain(|rule| rule.shown_name() != name);
            (rules, format!("The rule {name} is removed."), None)
        }
        Some("restore") => {
            let wanted = form.get("set").unwrap_or_default();
            let set = sets.iter().find(|set| set.number.to_string() == wanted);
            let text = match set {
                Some(set) => &set.text,
                None if wanted == NONE => "",
                None => return Err(CommandFailure::No(format!("the saved rules {wanted} are no longer kept")).into()),
            };
            let rules = settings::read_saved_rules(text).map_err(CommandFailure::from)?;
            let sentence = match wanted {
                NONE => "No rule is saved any more; those of the configuration count.".to_owned(),
                number => format!("The rules of save {number} count again."),
            };
            (rules, sentence, None)
        }
        _ => return Err(CommandFailure::Input("the form says nothing to do; load its screen again".to_owned()).into()),
    };
    let (order, body) = (OrderKind::SaveRules, NewRules { rules, after }.text());
    let answer = operate::http::take(sender, order, &Call { task: Task::Order(order), body: body.as_bytes(), ..*call });
    if answer.status != 200 {
        return Ok(Err(answer));
    }
    let unknown = match &url {
        // The rule is saved, whether or not all stages answer now.
        Some(url) if source.state.page(url).is_ok_and(|parts| parts.page.is_none()) => Some(url.to_string()),
        _ => None,
    };
    Ok(Ok(Saved { sentence, unknown, url: url.as_ref().map(CanonicalUrl::to_string) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_stands_before_those_of_its_page_and_changes_none_but_the_one_it_was() {
        let rule = |name: &str, page: &str| Rule {
            name: Some(name.to_owned()),
            pages: vec![page.to_owned()],
            watch: vec!["p".to_owned()],
            ..Rule::default()
        };
        let url = CanonicalUrl::parse("http://a.test/lamp").unwrap();
        let known = vec![rule("other", "b.test"), rule("all", "a.test"), rule("chair", "a.test/chair")];
        let names = |rules: &[Rule]| rules.iter().map(Rule::shown_name).collect::<Vec<_>>().join(" ");
        let added = with(known.clone(), rule("lamp", "a.test/lamp"), None, &url).unwrap();
        assert_eq!(names(&added), "other lamp all chair");
        let elsewhere = CanonicalUrl::parse("http://c.test/").unwrap();
        assert_eq!(names(&with(known.clone(), rule("c", "c.test"), None, &elsewhere).unwrap()), "other all chair c");
        let renamed = with(known.clone(), rule("every", "a.test"), Some("all"), &url).unwrap();
        assert_eq!(names(&renamed), "other every chair");
        for was in [None, Some("other"), Some("gone")] {
            assert!(with(known.clone(), rule("all", "a.test/lamp"), was, &url).is_err(), "{was:?}");
        }
        let mut slow = known;
        slow[1].orders.min_interval = Some(std::time::Duration::from_secs(60));
        let kept = with(slow, rule("all", "a.test"), Some("all"), &url).unwrap();
        assert_eq!(kept[1].orders.min_interval, Some(std::time::Duration::from_secs(60)));
    }
}
