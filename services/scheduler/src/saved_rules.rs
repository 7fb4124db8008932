//! Follows the intervals of the watch rules that operators save while the crawl runs.

use crate::Scheduler;
use crate::state::PAGES;
use messages::RuleSet;
use messages::topics::RULE_SETS;
use scope::Scope;
use std::sync::Arc;
use stream::{Context, InputRecord, ProcessError};

/// Pages that are read in one step to follow new rules, so that the stage does not stop for them.
const PAGES_AT_ONCE: usize = 10_000;
/// Sets that may follow each other while pages are read. With more, all pages are renewed.
const MOST_SCOPES: usize = 16;

/// Rules that operators have saved.
#[derive(Default)]
pub(crate) struct SavedRules {
    /// Number of the newest set; 0 without.
    number: i64,
    /// The newest set, if it does not count yet.
    arrived: Option<RuleSet>,
    renewal: Option<Renewal>,
}

/// Pages that do not follow the rules yet.
struct Renewal {
    /// The rules of pages that are concerned. `None`: all pages are.
    scopes: Option<Vec<Arc<Scope>>>,
    /// The key of the next page.
    from: Vec<u8>,
}

impl SavedRules {
    /// Takes a set in, unless a newer one is known. Of two sets with one number the later record counts.
    pub(crate) fn take(&mut self, record: &InputRecord) {
        match record.read(RULE_SETS) {
            Ok(set) if set.number >= self.number => (self.number, self.arrived) = (set.number, Some(set)),
            Ok(_) => {}
            Err(error) => {
                tracing::warn!(%error, "cannot read a set of rules that an operator has saved; it is left out")
            }
        }
    }

    /// Notes that the pages of these rules are to be renewed, from the first on.
    fn begin(&mut self, changed: [Arc<Scope>; 2]) {
        let before = self.renewal.take().map_or(Some(Vec::new()), |renewal| renewal.scopes);
        let mut scopes = before.filter(|scopes| scopes.len() < MOST_SCOPES);
        scopes.iter_mut().for_each(|scopes| scopes.extend(changed.clone()));
        self.renewal = Some(Renewal { scopes, from: Vec::new() });
    }
}

impl Scheduler {
    /// Lets a set that has arrived count from now on.
    pub(crate) fn heed_saved_rules(&mut self) {
        let Some(set) = self.saved_rules.arrived.take() else { return };
        match scope::saved(&set.text) {
            Ok(saved) => {
                let [before, after] = self.frontier.take_saved_rules(saved);
                let has_intervals = |scope: &Scope| scope.rules().iter().any(|rule| !rule.orders().are_empty());
                if before != after && (has_intervals(&before) || has_intervals(&after)) {
                    self.saved_rules.begin([before, after]);
                }
            }
            Err(faults) => {
                tracing::warn!(%faults, number = set.number, "saved rules are wrong; those of before go on");
            }
        }
    }

    /// Lets some of the pages whose rules have changed follow them.
    pub(crate) fn renew_pages(&mut self, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let Some(renewal) = &mut self.saved_rules.renewal else { return Ok(()) };
        let pages = context.entries_from(PAGES, &renewal.from, PAGES_AT_ONCE)?;
        let Some((last, _)) = pages.last() else {
            self.saved_rules.renewal = None;
            return Ok(());
        };
        renewal.from = [&last.0[..], &[0]].concat();
        for (id, mut page) in pages {
            let is_concerned = |scopes: &Vec<Arc<Scope>>| scopes.iter().any(|scope| scope.rule(&page.url).is_some());
            if renewal.scopes.as_ref().is_none_or(is_concerned) && self.frontier.renew(id, &mut page, context.now()) {
                context.put(PAGES, &id, &page);
            }
        }
        Ok(())
    }
}
