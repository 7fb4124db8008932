//! The value of each site by the links of other sites ([`importance::link_value`]), while the crawl goes on.

use crate::state::{SITES, SiteValue, SiteValueKey};
use importance::link_value::LinkValue;
use messages::RankTotals;
use page::SiteKey;
use std::collections::BTreeMap;
use std::ops::Bound;
use stream::Context;

/// Sites of which the one that is worth least is given up for a new one.
const COMPARED: usize = 8;

/// The values of the partition's sites. A site that no other links to has none, and no site has one where values are not
/// computed.
#[derive(Debug, Default)]
pub(crate) struct SiteValues {
    values: BTreeMap<SiteValueKey, LinkValue>,
    /// The last site that was compared with others. They are compared in turn.
    compared_to: Option<SiteValueKey>,
    /// Sum of the logarithms of the values.
    sum_ln: f64,
    /// Number of sites and sum of the logarithms of their values, by partition, as last broadcast.
    others: BTreeMap<i32, (i64, f64)>,
}

impl SiteValues {
    /// Takes in a stored value.
    pub(crate) fn restore(&mut self, key: SiteValueKey, value: &SiteValue) {
        let value = LinkValue::from_ln(value.ln);
        self.sum_ln += finite(value) - self.values.insert(key, value).map_or(0.0, finite);
    }

    /// Number of this partition's sites with a value, and the sum of the logarithms of their values.
    pub(crate) fn totals(&self) -> (i64, f64) {
        (i64::try_from(self.values.len()).unwrap_or(i64::MAX), self.sum_ln)
    }

    /// Takes in the totals of a partition. Its own it knows better.
    pub(crate) fn learn(&mut self, totals: &RankTotals, own_partition: u32) {
        let is_own = u32::try_from(totals.stage_partition) == Ok(own_partition);
        if !is_own && totals.valued_sites > 0 && totals.site_values_ln.is_finite() {
            self.others.insert(totals.stage_partition, (totals.valued_sites, totals.site_values_ln));
        }
    }

    /// The mean logarithm of the values of all partitions, which grows as they do. 0 without values.
    pub(crate) fn reference_ln(&self) -> f64 {
        let others = self.others.values().copied();
        let (sites, sum_ln) = others
            .chain([self.totals()])
            .fold((0, 0.0), |all: (i64, f64), part| (all.0.saturating_add(part.0), all.1 + part.1));
        if sites > 0 { sum_ln / sites as f64 } else { 0.0 }
    }

    pub(crate) fn of(&self, site: &SiteKey) -> LinkValue {
        if self.values.is_empty() {
            return LinkValue::ZERO;
        }
        self.values.get(&SiteValueKey::of(site)).copied().unwrap_or(LinkValue::ZERO)
    }

    /// Adds links from another site, each with the value that it gives. `most` sites have a value: one that is new takes the
    /// place of the one of the next few that is worth least.
    pub(crate) fn receive(
        &mut self,
        site: &SiteKey,
        given: LinkValue,
        links: usize,
        most: usize,
        context: &mut Context<'_>,
    ) {
        let key = SiteValueKey::of(site);
        let value = self.values.entry(key).or_insert(LinkValue::ZERO);
        self.sum_ln -= finite(*value);
        value.receive(given, links);
        self.sum_ln += finite(*value);
        context.put(SITES, &key, &SiteValue { ln: value.ln() });
        while self.values.len() > most
            && let Some(given_up) = self.least_of_next(key)
        {
            self.sum_ln -= self.values.remove(&given_up).map_or(0.0, finite);
            context.delete(SITES, &given_up);
        }
    }

    /// The site that is worth least of the next few. Not this one.
    fn least_of_next(&mut self, but: SiteValueKey) -> Option<SiteValueKey> {
        let after = self.compared_to.map_or(Bound::Unbounded, Bound::Excluded);
        let after_it = self.values.range((after, Bound::Unbounded));
        let from_start = self.values.range(..);
        let next = after_it.chain(from_start).filter(|(key, _)| **key != but).take(COMPARED);
        let next: Vec<_> = next.map(|(key, value)| (*key, value.ln())).collect();
        self.compared_to = next.last().map(|(key, _)| *key);
        next.into_iter().min_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0))).map(|(key, _)| key)
    }
}

/// The logarithm of a value. Of none, 0.
fn finite(value: LinkValue) -> f64 {
    if value.ln().is_finite() { value.ln() } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_few_are_compared_in_turn_and_the_least_of_them_goes() {
        let mut sites = SiteValues::default();
        let key = |number: usize| SiteValueKey::of(&SiteKey::from_domain(format!("site-{number}.test")));
        for number in 0..100 {
            sites.values.insert(key(number), LinkValue::from_ln(number as f64));
        }
        let in_order: Vec<_> = sites.values.keys().copied().collect();
        let least = |keys: &[SiteValueKey], sites: &SiteValues| {
            keys.iter().copied().min_by(|a, b| sites.values[a].ln().total_cmp(&sites.values[b].ln()))
        };
        let (first, second) = (least(&in_order[..COMPARED], &sites), least(&in_order[COMPARED..2 * COMPARED], &sites));
        assert_eq!((sites.least_of_next(key(1_000)), sites.least_of_next(key(1_000))), (first, second));
        sites.values.retain(|key, _| *key == in_order[5]);
        assert_eq!((sites.least_of_next(in_order[5]), sites.least_of_next(in_order[0])), (None, Some(in_order[5])));
    }
}
