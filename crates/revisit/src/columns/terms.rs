//! Terms that pages share at one time, computed once instead of for each page.

use super::PageColumns;
use super::bounds::AGES;
use super::entry::PageRecord;
use super::index::{first_copy_days, live_value};
use super::memberships::Membership;
use sweeps::{CellPriors, GroupNumbers, Hazard, Outlook, OwnEvidence};

/// The terms of a membership at the time of a scan.
#[derive(Clone, Copy)]
pub(super) struct Terms {
    pub(super) priors: CellPriors,
    pub(super) trust: f64,
    pub(super) sweeps_per_day: f64,
    /// Value of a first look into its groups.
    pub(super) sentinel: f64,
    /// Days that a first copy of one of its pages is expected to stay current.
    pub(super) first_copy_days: f64,
    pub(super) groups: GroupNumbers,
}

impl Terms {
    /// The value of a page per weight.
    #[inline]
    pub(super) fn live_exactly(
        &self,
        page: &PageRecord,
        groups: &[GroupTerms<'_>],
        days: f64,
        now_days: f64,
        theta: f64,
    ) -> f64 {
        let last_days = page.last_look_days();
        let groups = self.groups.as_slice().iter().map(|group| &groups[*group as usize]);
        let sweep_hazard = groups.map(|group| group.since(last_days, now_days)).sum();
        let (own, plain) = (self.priors.own(&page.belief), self.priors.plain(&page.belief));
        live_value(own, plain, days, sweep_hazard, self.sweeps_per_day, self.trust, theta)
    }
}

/// A group at the time of a scan.
pub(super) struct GroupTerms<'a> {
    hazard: Option<&'a Hazard>,
    /// [`Hazard::until`] now.
    until_now: f64,
    sentinel: f64,
    /// Summed hazard of the last 1, 2, 4 … days.
    pub(super) recent: [f32; AGES],
}

impl GroupTerms<'_> {
    /// [`Hazard::between`] then and now.
    #[inline]
    fn since(&self, last_days: f64, now_days: f64) -> f64 {
        match self.hazard {
            Some(hazard) if last_days < now_days => (self.until_now - hazard.until(last_days)).max(0.0),
            _ => 0.0,
        }
    }
}

impl PageColumns {
    pub(super) fn group_terms<'a>(
        &self,
        outlook: &'a Outlook,
        now_days: f64,
        sentinel_weight: f64,
    ) -> Vec<GroupTerms<'a>> {
        let terms = |group: u32| {
            let hazard = outlook.group_at(self.memberships.groups()[group as usize].number).map(|known| &known.hazard);
            let (mut recent, mut until_now) = ([0.0; AGES], 0.0);
            if let Some(hazard) = hazard {
                until_now = hazard.until(now_days);
                for (k, sum) in recent.iter_mut().enumerate() {
                    *sum = (until_now - hazard.until(now_days - f64::from(1_u32 << k))).max(0.0) as f32;
                }
            }
            let mut sentinel = 0.0;
            if sentinel_weight > 0.0 {
                sentinel = sentinel_weight * self.group_sentinel(group, outlook, now_days);
            }
            GroupTerms { hazard, until_now, sentinel, recent }
        };
        (0..self.memberships.groups().len() as u32).map(terms).collect()
    }

    pub(super) fn terms(&self, outlook: &Outlook, groups: &[GroupTerms<'_>]) -> Vec<Terms> {
        let terms = |membership: &Membership| {
            let mut terms = Terms {
                priors: CellPriors::default(),
                trust: 0.0,
                sweeps_per_day: 0.0,
                sentinel: 0.0,
                first_copy_days: 0.0,
                groups: GroupNumbers::default(),
            };
            if membership.is_vacant() {
                return terms;
            }
            terms.priors = self.priors(membership, outlook);
            terms.trust = self.trust(membership, outlook);
            terms.groups = membership.groups;
            for &group in membership.groups() {
                let group = &groups[group as usize];
                terms.sweeps_per_day += group.hazard.map_or(0.0, Hazard::per_day);
                terms.sentinel += group.sentinel;
            }
            let nothing = OwnEvidence::default();
            let (own, plain) = (terms.priors.own(&nothing).mean(), terms.priors.plain(&nothing).mean());
            terms.first_copy_days = first_copy_days(own + terms.sweeps_per_day, plain, terms.trust);
            terms
        };
        self.memberships.rows().iter().map(terms).collect()
    }
}
