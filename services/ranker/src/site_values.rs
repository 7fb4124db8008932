//! The value of each site by the links of other sites ([`importance::link_value`]), while the crawl goes on.

use crate::state::{SITES, SiteValue, SiteValueKey};
use importance::link_value::LinkValue;
use page::SiteKey;
use std::collections::HashMap;
use stream::Context;

/// The values of the partition's sites. A site that no other links to has none, and no site has one where values are not
/// computed.
#[derive(Debug, Default)]
pub(crate) struct SiteValues(HashMap<SiteValueKey, LinkValue>);

impl SiteValues {
    /// Takes in a stored value.
    pub(crate) fn restore(&mut self, key: SiteValueKey, value: &SiteValue) {
        self.0.insert(key, LinkValue::from_ln(value.ln));
    }

    pub(crate) fn of(&self, site: &SiteKey) -> LinkValue {
        if self.0.is_empty() {
            return LinkValue::ZERO;
        }
        self.0.get(&SiteValueKey::of(site)).copied().unwrap_or(LinkValue::ZERO)
    }

    /// Adds links from another site, each with the value that it gives.
    pub(crate) fn receive(&mut self, site: &SiteKey, given: LinkValue, links: usize, context: &mut Context<'_>) {
        let key = SiteValueKey::of(site);
        let value = self.0.entry(key).or_insert(LinkValue::ZERO);
        value.receive(given, links);
        context.put(SITES, &key, &SiteValue { ln: value.ln() });
    }

    /// Gives up the half of the sites that are worth least, if there are more than `most`.
    pub(crate) fn keep_within(&mut self, most: usize, context: &mut Context<'_>) {
        if self.0.len() <= most {
            return;
        }
        let mut worth: Vec<f64> = self.0.values().map(|value| value.ln()).collect();
        let half = worth.len() / 2;
        let (_, &mut middle, _) = worth.select_nth_unstable_by(half, f64::total_cmp);
        let mut excess = half;
        self.0.retain(|key, value| {
            let goes = excess > 0 && value.ln() <= middle;
            if goes {
                excess -= 1;
                context.delete(SITES, key);
            }
            !goes
        });
    }
}
