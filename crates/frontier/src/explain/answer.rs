//! The answer of an explanation in one sentence: whether the page is fetched, when, and what decides it.

use super::{ExplainedPage, Explanation};
use crate::hosts::HostSchedule;
use crate::request::WantedReason;
use crate::rules::FrontierRules;
use messages::{ContentEvidence, FetchOutcome};
use page::Timestamp;

/// The sentence on a page that is not fetched whatever its value.
const BLOCKED: &str = "Not fetched: an operator blocked its host";
const PAUSED: &str = "Not fetched: an operator paused its host";
/// Why a page that the list of seeds leaves out is not fetched.
pub(super) const NOT_LISTED: &str = "it is not in the list of seeds, and only that is fetched (--seeds-only)";

impl ExplainedPage<'_> {
    pub(super) fn answer(
        &self,
        explanation: &Explanation,
        rules: &FrontierRules,
        schedule: Option<&HostSchedule>,
        now: Timestamp,
    ) -> String {
        let host = &explanation.host.name;
        match self.obstacle(explanation, rules, now) {
            Some(obstacle) => obstacle,
            None if explanation.host.blocked => format!("{BLOCKED}; recrawl unblock {host} ends that."),
            None if explanation.host.paused => format!("{PAUSED}; recrawl resume {host} ends that."),
            None => {
                let absence = self.absence().map_or(String::new(), |absence| format!("{absence}. "));
                absence + &self.turn(explanation, rules, schedule, now)
            }
        }
    }

    /// The answer if the page itself is not to be fetched now.
    fn obstacle(&self, explanation: &Explanation, rules: &FrontierRules, now: Timestamp) -> Option<String> {
        let (page, host) = (self.page, &explanation.host);
        if !rules.scope.allows(&page.url) {
            return Some(format!("Not fetched: it is out of scope, for {}.", rules.scope.decide(&page.url)));
        }
        if rules.is_unlisted(page.url.page_id()) {
            return Some(format!("Not fetched: {NOT_LISTED}."));
        }
        if page.request.is_in_flight() {
            return Some("A request for it is under way.".to_owned());
        }
        if host.blocked || host.paused {
            return None;
        }
        let until = page.request.held_until().filter(|until| *until > now);
        if page.request.failures > 0
            && let Some(failure) = &page.failure
        {
            let failure = failure.kind().report().in_words();
            let again = match until {
                Some(until) => format!("It is asked for again at {until}"),
                None => "It may be asked for again at any time".to_owned(),
            };
            let since = match page.last_look_at {
                Some(last) => format!("Not fetched since {last}"),
                None => "Not fetched yet".to_owned(),
            };
            return Some(format!("{since}: {failure}. {again}."));
        }
        if let Some(canonical) = &explanation.mirror_of {
            return Some(format!("Fetched through {canonical}, which has the same text."));
        }
        let until = until?;
        if page.request.wanted != WantedReason::Probe
            && let Some(absence) = self.absence()
        {
            return Some(format!("{absence}. The next look is at {until} or later."));
        }
        Some(match page.request.wanted {
            WantedReason::Probe => format!("{}; it is looked at again at {until}.", self.open_question()),
            // A request that came back unsent.
            WantedReason::No | WantedReason::Command if page.last_look_at.is_none() => {
                format!("It was never fetched; it is asked for at {until} or later.")
            }
            WantedReason::No | WantedReason::Command => {
                format!("It was looked at just now; the next look is at {until} or later (policy.min_interval).")
            }
        })
    }

    /// The words for a page that its last looks did not show.
    pub(super) fn absence(&self) -> Option<String> {
        let unseen = self.page.request.unseen;
        let since = unseen.since.filter(|_| unseen.looks > 0)?;
        let found = match self.page.outcome?.meaning().content {
            ContentEvidence::Missing { .. } => "The server does not find it",
            ContentEvidence::Elsewhere => "The server redirects it elsewhere",
            ContentEvidence::Body | ContentEvidence::SameAsKnown => "Something else stands in its place",
            ContentEvidence::Nothing => return None,
        };
        Some(format!("{found}, at {} looks since {since}", unseen.looks))
    }

    /// The reason why the page is to be looked at again.
    fn open_question(&self) -> &'static str {
        match self.page.outcome.map(|outcome: FetchOutcome| outcome.meaning().content) {
            Some(ContentEvidence::Missing { .. }) => "The server did not find it, which may pass",
            Some(ContentEvidence::Body | ContentEvidence::SameAsKnown) => {
                "Its last look left a question open (an error in its place, or noise)"
            }
            Some(ContentEvidence::Elsewhere | ContentEvidence::Nothing) | None => "Its last look left a question open",
        }
    }

    /// The answer for a page that may be fetched: it takes its turn.
    fn turn(
        &self,
        explanation: &Explanation,
        rules: &FrontierRules,
        schedule: Option<&HostSchedule>,
        now: Timestamp,
    ) -> String {
        let permitted_at = schedule.map(|schedule| schedule.next_permitted_at).filter(|at| *at > now);
        let waits = permitted_at
            .map_or(String::new(), |at| format!(", but not before {at}: its host is not to be asked sooner"));
        match self.page.request.wanted {
            WantedReason::Command => return format!("It is fetched next, as an operator or a hint wants it{waits}."),
            WantedReason::Probe => return format!("{}; it is looked at again next{waits}.", self.open_question()),
            WantedReason::No => {}
        }
        let is_new = self.page.last_look_at.is_none();
        if !rules.scores_pages() {
            return match is_new {
                true => format!(
                    "It was never fetched; its turn is in the plan of the policy {}{waits}.",
                    explanation.policy
                ),
                false => match (&explanation.plan, &explanation.due_at) {
                    (Some(plan), Some(due_at)) => format!("{plan} Its turn comes at about {due_at}."),
                    (Some(plan), None) => plan.clone(),
                    (None, _) => format!(
                        "Its turn is in the plan of the policy {}, which only the running process knows.",
                        explanation.policy
                    ),
                },
            };
        }
        match (explanation.crawl_value, explanation.price, &explanation.due_at) {
            _ if is_new && !rules.values_first_copies() => {
                format!("It was never fetched, and comes before pages that were{waits}.")
            }
            (_, None, _) if is_new => {
                "It was never fetched, and waits for the first plan of the running process.".to_owned()
            }
            (_, None, _) => "It waits for the first plan of the running process.".to_owned(),
            (Some(value), Some(price), _) if value >= price => match is_new {
                true => format!("It was never fetched, and is due now{waits}."),
                false => format!("It is due now{waits}."),
            },
            (_, Some(_), Some(due_at)) if is_new => format!("It was never fetched; its turn comes at about {due_at}."),
            (_, Some(_), Some(due_at)) => {
                let fresh = explanation.expected_freshness.map_or(String::new(), |fresh| {
                    format!("; until now its copy is current with a probability of {:.0} %", 100.0 * fresh)
                });
                format!("It is not due before about {due_at}{fresh}.")
            }
            (_, Some(_), None) => {
                "It changes too fast or matters too little to be due; it is fetched after policy.max_interval."
                    .to_owned()
            }
        }
    }
}

impl Explanation {
    /// Whether nothing but its turn keeps the page from being fetched.
    pub(super) fn may_be_fetched(&self) -> bool {
        let is_free = matches!(&*self.state, "ready" | "never_fetched");
        is_free && !self.host.blocked && !self.host.paused && self.mirror_of.is_none()
    }
}
