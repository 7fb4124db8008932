//! The value of each site by the links of other sites ([`importance::link_value`]), while the crawl goes on.

use crate::state::{SITES, SiteValue, SiteValueKey};
use importance::link_value::LinkValue;
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
}

impl SiteValues {
    /// Takes in a stored value.
    pub(crate) fn restore(&mut self, key: SiteValueKey, value: &SiteValue) {
        self.values.insert(key, LinkValue::from_ln(value.ln));
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
        value.receive(given, links);
        context.put(SITES, &key, &SiteValue { ln: value.ln() });
        while self.values.len() > most
            && let Some(given_up) = self.least_of_next(key)
        {
            self.values.remove(&given_up);
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
