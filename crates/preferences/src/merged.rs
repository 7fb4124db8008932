//! All statements on a page, and the decision that follows from them.

use crate::source::{Place, Source};
use crate::usage::Use;
use page::Timestamp;
use std::collections::{BTreeMap, BTreeSet};

/// The most licences kept of a page. Of more, the first in the order of their addresses.
const MAX_LICENSES: usize = 4;

/// The owner's preferences on the use of a page, with their sources.
///
/// Merging does not depend on the order. At most one statement for each use, source and answer is kept, and few addresses, so the
/// size is bounded whatever a site sends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preferences {
    pub(crate) stated: BTreeSet<Stated>,
    /// The time from which the page is not to be found any more, to the second: the earliest one of each source.
    pub(crate) unavailable_after: BTreeMap<Source, Timestamp>,
    /// Addresses of RSL licences. The terms in them are not read.
    pub(crate) licenses: BTreeSet<String>,
    /// Address of the policy for text and data mining.
    pub(crate) policies: BTreeMap<Source, String>,
}

/// A use is allowed or disallowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Stated {
    pub(crate) usage: Use,
    /// Those that disallow come first.
    pub(crate) is_allowed: bool,
    pub(crate) source: Source,
}

/// The statement that decides on a use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    pub usage: Use,
    pub is_allowed: bool,
    pub source: Source,
}

impl Preferences {
    pub(crate) fn state(&mut self, usage: Use, is_allowed: bool, source: Source) {
        self.stated.insert(Stated { usage, is_allowed, source });
    }

    pub(crate) fn state_end(&mut self, at: Timestamp, source: Source) {
        let end = self.unavailable_after.entry(source).or_insert(at);
        *end = at.min(*end);
    }

    pub(crate) fn state_license(&mut self, address: &str) {
        self.licenses.insert(address.to_owned());
        if self.licenses.len() > MAX_LICENSES {
            self.licenses.pop_last();
        }
    }

    pub(crate) fn state_policy(&mut self, address: &str, source: Source) {
        match self.policies.get(&source) {
            Some(known) if known.as_str() <= address => {}
            _ => drop(self.policies.insert(source, address.to_owned())),
        }
    }

    /// Whether nothing is stated, so that every use is unknown.
    pub fn is_empty(&self) -> bool {
        self.stated.is_empty()
            && self.unavailable_after.is_empty()
            && self.licenses.is_empty()
            && self.policies.is_empty()
    }

    /// Adds the statements of others.
    pub fn merge(&mut self, others: &Self) {
        self.stated.extend(&others.stated);
        others.unavailable_after.iter().for_each(|(source, at)| self.state_end(*at, *source));
        others.licenses.iter().for_each(|license| self.state_license(license));
        others.policies.iter().for_each(|(source, policy)| self.state_policy(policy, *source));
    }

    /// The statements with those of others added.
    #[must_use]
    pub fn and(mut self, others: &Self) -> Self {
        self.merge(others);
        self
    }

    /// The statements found at these places only.
    #[must_use]
    pub fn found_at(&self, places: &[Place]) -> Self {
        let is_there = |source: &Source| places.contains(&source.place());
        Self {
            stated: self.stated.iter().filter(|stated| is_there(&stated.source)).copied().collect(),
            unavailable_after: self
                .unavailable_after
                .iter()
                .filter(|(source, _)| is_there(source))
                .map(|(source, at)| (*source, *at))
                .collect(),
            licenses: if is_there(&Source::RobotsLicense) { self.licenses.clone() } else { BTreeSet::new() },
            policies: self
                .policies
                .iter()
                .filter(|(source, _)| is_there(source))
                .map(|(source, policy)| (*source, policy.clone()))
                .collect(),
        }
    }

    /// The decision on a use at a time. `None`: it is unknown.
    ///
    /// If a statement disallows it, it is disallowed; otherwise, if one allows it, it is allowed (draft-ietf-aipref-vocab,
    /// section 5.1). Of several that agree the first [`Source`] is named. Statements on wider uses do not count; see
    /// [`refusal`](Self::refusal).
    pub fn decision(&self, usage: Use, at: Timestamp) -> Option<Decision> {
        let first = Stated { usage, is_allowed: false, source: Source::RobotsContentUsage };
        let of_use = || self.stated.range(first..).take_while(move |stated| stated.usage == usage);
        let decides = match usage {
            // The values found in the page supersede those of the header, and these those of the file (TDMRep, section 5.4).
            Use::Tdm => {
                let place = of_use().map(|stated| stated.source.place()).max();
                of_use().find(|stated| Some(stated.source.place()) == place)
            }
            _ => of_use().next(),
        };
        let stated = decides.map(|stated| Decision { usage, is_allowed: stated.is_allowed, source: stated.source });
        let ended = || {
            let mut ends = self.unavailable_after.iter();
            let (source, _) = ends.find(|(_, end)| **end <= at)?;
            Some(Decision { usage, is_allowed: false, source: *source })
        };
        match stated {
            Some(Decision { is_allowed: false, .. }) => stated,
            _ if usage == Use::Index => ended().or(stated),
            _ => stated,
        }
    }

    /// The decision that disallows a use or a wider one at a time. `None`: nothing disallows it.
    pub fn refusal(&self, usage: Use, at: Timestamp) -> Option<Decision> {
        let mut decisions = usage.within().iter().filter_map(|usage| self.decision(*usage, at));
        decisions.find(|decision| !decision.is_allowed)
    }

    /// The decisions on all uses that are not unknown.
    pub fn decisions(&self, at: Timestamp) -> Vec<Decision> {
        Use::NAMES.iter().filter_map(|(usage, _)| self.decision(*usage, at)).collect()
    }

    /// Addresses of the licences that robots.txt names.
    pub fn licenses(&self) -> impl Iterator<Item = &str> {
        self.licenses.iter().map(String::as_str)
    }

    /// Address of the policy by which text and data mining may be licensed, from the source that reserves it.
    pub fn tdm_policy(&self) -> Option<&str> {
        // The reservation has no end, so any time is right.
        let decision = self.decision(Use::Tdm, Timestamp::MIN).filter(|decision| !decision.is_allowed)?;
        let policy = self.policies.iter().find(|(source, _)| source.place() == decision.source.place());
        policy.map(|(_, policy)| policy.as_str())
    }
}
