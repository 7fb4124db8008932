//! Demotes sites that live on links which they exchange ([`spam::SiteLinks`]), where `ranker.spam_shape` is set.
//!
//! A partition reads of all links to and from its sites, so it can compare both. A site is judged by what was seen of
//! it since the setting is on.

use crate::rules::RankerRules;
use crate::state::{NEIGHBOURS, NeighbourKey, NeighbourSites};
use messages::Link;
use page::SiteKey;
use spam::{SiteLinks, SpamShape, site_hash};
use stream::{Context, ProcessError, TableKey};

/// The neighbours of the partition's sites.
#[derive(Debug)]
pub(crate) struct Neighbours {
    is_on: bool,
    /// Most sites of the table.
    most: usize,
    /// Sites in the table.
    sites: usize,
    /// The next site that gives up its place. They do in turn.
    next_given_up: u64,
}

impl Neighbours {
    pub(crate) fn new(rules: &RankerRules) -> Self {
        Self { is_on: rules.spam_shape, most: rules.max_accounts, sites: 0, next_given_up: 0 }
    }

    pub(crate) fn restore(&mut self, context: &Context<'_>) -> Result<(), ProcessError> {
        self.sites = 0;
        context.scan(NEIGHBOURS, b"", &mut |_, _| {
            self.sites += 1;
            Ok(())
        })?;
        Ok(())
    }

    /// The record of a site, where the setting is on.
    pub(crate) fn record(&self, site: &SiteKey, context: &Context<'_>) -> Result<Option<NeighbourSites>, ProcessError> {
        if self.is_on { Ok(context.get(NEIGHBOURS, &NeighbourKey::of(site))?) } else { Ok(None) }
    }

    /// Notes the other sites that pages of a site link to. Returns the judgement of the site.
    pub(crate) fn take_linked(
        &mut self,
        site: &SiteKey,
        found: &[Link],
        context: &mut Context<'_>,
    ) -> Result<SpamShape, ProcessError> {
        self.note(site, context, |links| {
            let others = found.iter().map(|link| link.url.site_key()).filter(|other| other != site);
            let mut is_news = false;
            for other in others {
                is_news |= links.linked.add(site_hash(other.as_str()));
            }
            is_news
        })
    }

    /// Notes a site that links to another. Returns the judgement of the linked one.
    pub(crate) fn take_linking(
        &mut self,
        site: &SiteKey,
        linking: &SiteKey,
        context: &mut Context<'_>,
    ) -> Result<SpamShape, ProcessError> {
        self.note(site, context, |links| site != linking && links.linking.add(site_hash(linking.as_str())))
    }

    /// Changes what is known of a site. `change` returns whether it did.
    fn note(
        &mut self,
        site: &SiteKey,
        context: &mut Context<'_>,
        change: impl FnOnce(&mut SiteLinks) -> bool,
    ) -> Result<SpamShape, ProcessError> {
        let key = NeighbourKey::of(site);
        if !self.is_on {
            // Left from a time with the setting. Each site goes when it is seen again.
            if self.sites > 0 && context.get(NEIGHBOURS, &key)?.is_some() {
                self.sites -= 1;
                context.delete(NEIGHBOURS, &key);
            }
            return Ok(SpamShape::default());
        }
        let known = context.get(NEIGHBOURS, &key)?;
        let is_new = known.is_none();
        let mut links = known.as_ref().map(NeighbourSites::links).unwrap_or_default();
        if change(&mut links) {
            if is_new && self.sites >= self.most {
                self.give_up_next(context)?;
            }
            self.sites += usize::from(is_new);
            context.put(NEIGHBOURS, &key, &NeighbourSites::of(&links));
        }
        Ok(links.shape())
    }

    /// Forgets the site whose turn it is. It is judged anew by what is seen of it later.
    fn give_up_next(&mut self, context: &mut Context<'_>) -> Result<(), ProcessError> {
        for _ in 0..2 {
            let next = context.entries_from(NEIGHBOURS, &NeighbourKey(self.next_given_up).to_bytes(), 1)?;
            if let Some((key, _)) = next.into_iter().next() {
                self.next_given_up = key.0.wrapping_add(1);
                self.sites -= 1;
                context.delete(NEIGHBOURS, &key);
                break;
            }
            self.next_given_up = 0;
        }
        Ok(())
    }
}
