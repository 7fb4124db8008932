//! How many lists a site may name in indexes of sitemaps before they have proved useful.
//!
//! One index names thousands of lists, and each may be an index. So a site has credit for some hundred. Each list that names pages
//! of the crawl is worth some more.

use page::{CanonicalUrl, SiteKey};
use std::collections::HashMap;

/// Lists that a site may name, …
const FIRST_LISTS: u32 = 1_000;
/// … and how many more after each reading of a list that names known pages.
const LISTS_EARNED: u32 = 10;
/// Most sites that are remembered, which only naming lists adds. When there is one more, all others have their credit anew.
const MOST_SITES: usize = 100_000;

/// The lists that sites have named beyond what they have earned. It lies in memory only, so a process that starts gives every
/// site its first credit again.
#[derive(Debug, Default)]
pub(crate) struct ListCredit(HashMap<SiteKey, u32>);

impl ListCredit {
    /// Whether the site of a page may name another list.
    pub(crate) fn has(&self, source: &CanonicalUrl) -> bool {
        self.0.get(&source.site_key()).is_none_or(|named| *named < FIRST_LISTS)
    }

    /// An index has named a list that is new.
    pub(crate) fn spend(&mut self, source: &CanonicalUrl) {
        let site = source.site_key();
        if self.0.len() >= MOST_SITES && !self.0.contains_key(&site) {
            self.0.clear();
        }
        *self.0.entry(site).or_default() += 1;
    }

    /// A list of the site has named pages of the crawl.
    pub(crate) fn earn(&mut self, list: &CanonicalUrl) {
        let site = list.site_key();
        if let Some(named) = self.0.get_mut(&site) {
            *named = named.saturating_sub(LISTS_EARNED);
            if *named == 0 {
                self.0.remove(&site);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_names_a_thousand_lists_and_more_when_they_prove_useful() {
        let (mut lists, site) = (ListCredit::default(), CanonicalUrl::parse("http://a.test/index.xml").unwrap());
        let invented = |number: u32| CanonicalUrl::parse(&format!("http://h{number}.a.test/index.xml")).unwrap();
        let named = (0..5_000).filter(|number| {
            let index = invented(*number);
            lists.has(&index) && {
                lists.spend(&index);
                true
            }
        });
        assert_eq!(named.count(), FIRST_LISTS as usize);
        lists.earn(&site);
        assert!(lists.has(&site));
        assert!(lists.has(&CanonicalUrl::parse("http://b.test/index.xml").unwrap()));
    }

    #[test]
    fn sites_are_remembered_only_while_they_have_named_more_than_they_earned_and_no_more_than_the_limit() {
        let index = |number: usize| CanonicalUrl::parse(&format!("http://site-{number}.test/index.xml")).unwrap();
        let mut lists = ListCredit::default();
        (0..100).for_each(|number| lists.earn(&index(number)));
        lists.spend(&index(0));
        lists.earn(&index(0));
        assert_eq!(lists.0.len(), 0, "useful lists cost no memory");
        (0..MOST_SITES).for_each(|number| lists.spend(&index(number)));
        lists.spend(&index(0));
        assert_eq!((lists.0.len(), lists.0[&index(0).site_key()]), (MOST_SITES, 2), "it was remembered already");
        lists.spend(&index(MOST_SITES));
        assert_eq!(lists.0.len(), 1);
    }
}
