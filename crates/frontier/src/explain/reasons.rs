//! The sentences of an explanation.

use super::answer::NOT_LISTED;
use super::{ExplainedPage, Explanation};
use crate::hosts::HostSchedule;
use crate::page_index::place_of;
use crate::request::WantedReason;
use crate::rules::FrontierRules;
use mirrors::PROBE_EVERY;
use page::Timestamp;
use revisit::columns::Index;

impl ExplainedPage<'_> {
    pub(super) fn reasons(
        &self,
        explanation: &Explanation,
        rules: &FrontierRules,
        schedule: Option<&HostSchedule>,
        now: Timestamp,
    ) -> Vec<String> {
        let page = self.page;
        let mut reasons = Vec::new();
        match &*explanation.state {
            "in_flight" => reasons.push("A request for it is under way.".to_owned()),
            "never_fetched" if !rules.values_first_copies() => {
                reasons.push("It was never fetched. Such pages come first, in the order of their discovery.".to_owned())
            }
            "never_fetched" => reasons.push(
                "It was never fetched. A first copy is worth the days that it is expected to stay current, a month at \
                 most, and those that it was waited for."
                    .to_owned(),
            ),
            "held" if page.request.failures > 0 => {
                let failure = page
                    .failure
                    .as_ref()
                    .map_or(String::new(), |failure| format!(" ({})", failure.kind().report().in_words()));
                reasons
                    .push(format!("Its last {} fetches in a row failed{failure}, so it waits.", page.request.failures));
            }
            "held" if page.request.wanted == WantedReason::Probe => {}
            "held" if self.absence().is_some() => {}
            "held" if page.last_look_at.is_none() => {}
            "held" => reasons.push("It was looked at just now (policy.min_interval).".to_owned()),
            _ => {}
        }
        reasons.extend(self.absence().map(|absence| format!("{absence}. Each look at it waits for longer.")));
        if page.request.wanted == WantedReason::Probe {
            reasons.push(
                "Its last look was inconclusive (gone or not, error or not, noise or not), or a page with \
                 the same text has changed."
                    .to_owned(),
            );
        }
        if let Some(canonical) = &explanation.mirror_of {
            let passes = page.ties.as_ref().map_or(0, |ties| ties.passes);
            reasons.push(format!(
                "It has the same text as {canonical}, which is fetched for both. One of its {PROBE_EVERY} turns is \
                 kept, to check that the texts are still the same; {passes} were skipped since its last fetch."
            ));
        }
        if explanation.mirrors > 0 {
            let mirrors = explanation.mirrors;
            reasons.push(format!(
                "It is also fetched for {mirrors} pages with the same text, and has their weight in \
                 addition to its own."
            ));
        }
        if page.request.wanted == WantedReason::Command {
            reasons.push("It is fetched next, regardless of its value.".to_owned());
        }
        if explanation.state == "excluded" {
            reasons.push(match rules.scope.allows(&page.url) {
                true => format!("It is not crawled: {NOT_LISTED}."),
                false => format!("It is not crawled: {}.", rules.scope.decide(&page.url)),
            });
        }
        if explanation.host.blocked {
            reasons.push("An operator blocked its host. Nothing is fetched from it until it is unblocked.".to_owned());
        } else if explanation.host.paused {
            reasons.push("An operator paused its host. Nothing is fetched from it until it is resumed.".to_owned());
        } else if schedule.is_some_and(|schedule| schedule.next_permitted_at > now) {
            reasons.push("Its host may not be fetched from yet (crawl delay).".to_owned());
        }
        let share = self.pages.lasting_share(page, place_of(&page.url).site, rules);
        if share < 1.0 {
            reasons.push(format!(
                "Looks at pages of its site, or at all pages that links led to, hardly ever find a copy current, so it gets {:.1} % of the \
                 looks of a page whose copies last.",
                100.0 * share
            ));
        }
        let Some(worth) = self.worth(now) else {
            reasons.extend(rules.values_first_copies().then(|| standing(explanation)).flatten());
            return reasons;
        };
        if !rules.scores_pages() {
            let policy = &explanation.policy;
            reasons.push(explanation.plan.clone().unwrap_or_else(|| {
                format!(
                    "The policy {policy} keeps its plan in the memory of the running process, and has none for it here."
                )
            }));
            return reasons;
        }
        let silence = self.pages.received.silence(self.slot);
        if silence > 0.0 {
            reasons.push(format!(
                "A list of its site names no change of it since, so {silence:.2} of the days since then count as if it \
                 had been looked at."
            ));
        }
        if matches!(self.index, Index::Uniform) {
            reasons.push(format!(
                "It was looked at {:.2} days ago. The page with the oldest look comes next.",
                worth.days
            ));
        } else {
            reasons.push(format!(
                "It was looked at {:.2} days ago and changes {:.3} times a day, so its copy is current with a \
                 probability of {:.0} %.",
                worth.days + silence,
                explanation.change_rate_per_day.mean,
                100.0 * explanation.expected_freshness.unwrap_or(0.0),
            ));
        }
        if let Some(extent) = explanation.mean_extent {
            reasons.push(format!(
                "Its changes change {:.1} % of its text on average, so a look at it is worth {:.2} times one at a page of \
                 ordinary changes (policy.extent_share).",
                100.0 * extent,
                rules.worth_of_changes(page),
            ));
        }
        let strongest = explanation.sweep_hazards.iter().max_by(|a, b| a.hazard.total_cmp(&b.hazard));
        if let Some(sweep) = strongest.filter(|sweep| sweep.hazard >= 0.05) {
            reasons.push(format!(
                "Pages of its group ({}, {} pages) have changed since. From that alone, it has changed with a \
                 probability of {:.0} %.",
                sweep.group,
                sweep.pages,
                -100.0 * (-sweep.hazard).exp_m1(),
            ));
        }
        if explanation.hints.kinds > 0 {
            let percent = 100.0 * explanation.hints.probability;
            reasons
                .push(format!("Hints say that it has changed. They are right with a probability of {percent:.0} %."));
        }
        for quality in &explanation.hints.host {
            reasons.push(format!(
                "Hints for its host ({}) have a precision of {:.0} % beyond chance and announce {:.0} % of the \
                 changes.",
                messages::word(&quality.kind),
                100.0 * quality.precision,
                100.0 * quality.recall,
            ));
        }
        if explanation.hints.listed > 0 {
            let pages = explanation.hints.listed;
            reasons.push(format!("It lists {pages} known pages. Its value includes what a look may say about them."));
        }
        if worth.sentinel_value > 0.5 * explanation.crawl_value.unwrap_or(0.0).max(explanation.price.unwrap_or(0.0)) {
            reasons.push(
                "No page of its groups was looked at for a while. A look would be informative about all of them."
                    .to_owned(),
            );
        }
        reasons.extend(standing(explanation));
        let least = self.pages.least_worth(rules);
        if explanation.price.is_some_and(|price| price > 0.0 && price <= least) {
            reasons.push(
                "The budget is larger than the need, so the price is the least that a fetch must be worth \
                 (policy.least_worth)."
                    .to_owned(),
            );
        }
        reasons
    }
}

/// The value of a fetch beside the price.
fn standing(explanation: &Explanation) -> Option<String> {
    match (explanation.crawl_value, explanation.price) {
        (_, None) => Some("There is no price yet.".to_owned()),
        (Some(value), Some(price)) if value >= price => {
            let (value, price) = (shown(value), shown(price));
            let due = if explanation.may_be_fetched() { ": it is due" } else { "" };
            Some(format!("A fetch is worth {value}, which reaches the price of {price}{due}."))
        }
        (Some(value), Some(price)) if explanation.due_at.is_some() => {
            let (value, price) = (shown(value), shown(price));
            Some(format!("A fetch is worth {value}, below the price of {price}: it is not due yet."))
        }
        (Some(value), Some(price)) => Some(format!(
            "A fetch is worth {} and will not reach the price of {} within ten years: the page changes too fast \
             or matters too little. It is still fetched after policy.max_interval.",
            shown(value),
            shown(price),
        )),
        (None, Some(_)) => None,
    }
}

/// Formats a value for readers.
fn shown(value: f64) -> String {
    if value == 0.0 || value >= 1e-3 { format!("{value:.3}") } else { format!("{value:.1e}") }
}
