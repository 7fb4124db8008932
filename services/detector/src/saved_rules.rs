//! Takes in the watch rules that operators save while the crawl runs.

use crate::Detector;
use messages::RuleSet;
use messages::topics::RULE_SETS;
use std::sync::Arc;
use stream::InputRecord;
use watch::WatchRules;

/// The rules of the settings, and those in force.
#[derive(Clone, Debug)]
pub(crate) struct RulesInForce {
    configured: Arc<WatchRules>,
    in_force: Arc<WatchRules>,
    /// Number of the newest set of saved rules; 0 without.
    number: i64,
    /// The newest set, if it does not count yet. At a start all kept sets arrive, and only one has to be read.
    arrived: Option<RuleSet>,
    saved: usize,
}

impl RulesInForce {
    pub(crate) fn new(configured: WatchRules) -> Self {
        let configured = Arc::new(configured);
        Self { in_force: Arc::clone(&configured), configured, number: 0, arrived: None, saved: 0 }
    }

    pub(crate) fn rules(&self) -> &Arc<WatchRules> {
        &self.in_force
    }

    /// Number of the rules that operators have saved.
    pub(crate) fn saved(&self) -> usize {
        self.saved
    }

    /// Takes a set in, unless a newer one is known. Of two sets with one number the later record counts.
    fn take(&mut self, set: RuleSet) {
        if set.number >= self.number {
            (self.number, self.arrived) = (set.number, Some(set));
        }
    }

    /// Lets a set that has arrived count from now on.
    ///
    /// # Errors
    /// Says what is wrong with the rules. Those in force stay as they were.
    fn heed(&mut self) -> Result<(), String> {
        let Some(set) = self.arrived.take() else { return Ok(()) };
        let saved = watch::saved(&set.text).map_err(|faults| faults.to_string())?;
        (self.in_force, self.saved) = (Arc::new(self.configured.below(&saved)), saved.len());
        Ok(())
    }
}

impl Detector {
    /// Takes in a set of saved rules.
    pub(crate) fn take_rule_set(&mut self, record: &InputRecord) {
        match record.read(RULE_SETS) {
            Ok(set) => self.rules.watch.take(set),
            Err(error) => self.note_bad_rules(&error.to_string()),
        }
    }

    /// Lets saved rules that have arrived count from now on.
    pub(crate) fn heed_saved_rules(&mut self) {
        if let Err(problem) = self.rules.watch.heed() {
            self.note_bad_rules(&problem);
        }
    }

    fn note_bad_rules(&mut self, problem: &str) {
        self.counts.bad_rule_sets += 1;
        tracing::warn!(problem, "cannot read rules that an operator has saved; the rules stay as they were");
    }
}
