//! Which robots.txt files are kept in the [table](ROBOTS), and for how long.
//!
//! A server can invent hosts without end and send requests there by redirects. So a site keeps few files of hosts that only
//! redirects lead to, some more of hosts with pages, and none of a site without pages. A file that is not kept is asked for
//! again after a restart. Files that have not been asked for in a month are deleted: each request looks at a few entries.

use crate::state::{OriginRobots, ROBOTS, RobotsKey};
use page::{CanonicalUrl, SiteKey, Timestamp};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;
use stream::{RequestTag, TableError, TableKey, TaskView};

/// Most files of a site: of hosts of its pages, …
const MOST_OF_PAGES: usize = 64;
/// … and after which no further host is added that only redirects lead to.
const MOST_OF_REDIRECTS: usize = 16;
/// How long a file is kept after it was due: as long as the last good rules may hold (RFC 9309 §2.4), roughly.
const GRACE: Duration = Duration::from_secs(30 * 86_400);
/// Sites and keys that are remembered, half of them of late. The others are read again.
const MOST_SITES: usize = 10_000;
const MOST_KEYS: usize = 50_000;
/// Entries that a request looks at. So the table cannot grow faster than it is swept.
const SWEPT_AT_ONCE: usize = 2;

/// The keys that are known here of the tables of the partitions. All of it is read again where it is missing.
#[derive(Default)]
pub(crate) struct KeptRobots {
    sites: KnownSites,
    /// By partition, the key that the sweep has come to.
    swept_to: HashMap<u32, Vec<u8>>,
    /// Keys that the answers to these requests delete.
    expired: BTreeMap<RequestTag, BTreeSet<RobotsKey>>,
}

impl KeptRobots {
    /// Partitions come: their tables may have been written elsewhere.
    pub(crate) fn begin(&mut self) {
        self.sites = KnownSites::default();
    }

    /// Partitions go, and with them the requests of these epochs.
    pub(crate) fn withdraw(&mut self, epochs: &[u64]) {
        self.expired.retain(|tag, _| !epochs.contains(&tag.epoch));
    }

    /// Reads the files of a site, unless they were read before. Those that were not asked for in a month are marked for deletion.
    pub(crate) fn read(
        &mut self,
        site: &SiteKey,
        tag: RequestTag,
        now: Timestamp,
        tables: &TaskView<'_>,
    ) -> Result<Vec<(RobotsKey, OriginRobots)>, TableError> {
        if self.sites.keys_of(site).is_some() {
            return Ok(Vec::new());
        }
        let (over, kept) = split(tables.entries(ROBOTS, &RobotsKey::prefix_of(site), MOST_OF_PAGES)?, now);
        self.expire(tag, over);
        self.sites.add(site.clone(), kept.iter().map(|(key, _)| key.clone()).collect());
        Ok(kept)
    }

    /// Looks at the next entries of the partition's table, of whatever sites.
    pub(crate) fn sweep(&mut self, tag: RequestTag, now: Timestamp, tables: &TaskView<'_>) -> Result<(), TableError> {
        let from = self.swept_to.remove(&tag.partition).unwrap_or_default();
        let entries: Vec<(RobotsKey, OriginRobots)> = tables.entries_from(ROBOTS, &from, SWEPT_AT_ONCE)?;
        if let Some((last, _)) = entries.last() {
            // The next key after this one.
            self.swept_to.insert(tag.partition, [&last.to_bytes()[..], &[0]].concat());
        }
        self.expire(tag, split(entries, now).0);
        Ok(())
    }

    /// The keys that the answer to a request deletes.
    pub(crate) fn take_expired(&mut self, tag: RequestTag) -> BTreeSet<RobotsKey> {
        self.expired.remove(&tag).unwrap_or_default()
    }

    /// Whether a file is to be kept that was asked for on the way to a page. It counts as kept from then on.
    pub(crate) fn keeps(&mut self, key: &RobotsKey, page: &CanonicalUrl) -> bool {
        let site = SiteKey::from_domain(key.site());
        let is_of_page = site == page.site_key();
        let is_own = key.host_name() == page.host_name();
        let most = if is_own { MOST_OF_PAGES } else { MOST_OF_REDIRECTS };
        // What was read of the site may be forgotten since the request came, as it is when another partition comes. The file of the
        // page's own host is kept all the same: no later answer brings it.
        let Some(kept) = self.sites.keys_of(&site) else { return is_own };
        let is_new = !kept.contains(key);
        if is_new && is_of_page && kept.len() < most {
            kept.insert(key.clone());
            self.sites.late_keys += 1;
            return true;
        }
        !is_new
    }

    fn expire(&mut self, tag: RequestTag, entries: Vec<(RobotsKey, OriginRobots)>) {
        for (key, _) in entries {
            self.sites.forget(&key);
            self.expired.entry(tag).or_default().insert(key);
        }
    }
}

/// The keys in the tables, by site: of sites that were asked for of late, and of others that were before. When those of late
/// are half of all that may be remembered, the others are forgotten.
#[derive(Default)]
struct KnownSites {
    late: HashMap<SiteKey, BTreeSet<RobotsKey>>,
    /// At least as many as the late sites have.
    late_keys: usize,
    before: HashMap<SiteKey, BTreeSet<RobotsKey>>,
}

impl KnownSites {
    /// The keys of a site, if they are known. It then is one of late.
    fn keys_of(&mut self, site: &SiteKey) -> Option<&mut BTreeSet<RobotsKey>> {
        if let Some((site, keys)) = self.before.remove_entry(site) {
            self.add(site, keys);
        }
        self.late.get_mut(site)
    }

    fn add(&mut self, site: SiteKey, keys: BTreeSet<RobotsKey>) {
        if self.late.len() >= MOST_SITES / 2 || self.late_keys + keys.len() > MOST_KEYS / 2 {
            (self.before, self.late_keys) = (std::mem::take(&mut self.late), 0);
        }
        self.late_keys += keys.len();
        self.late.insert(site, keys);
    }

    /// A key is deleted from the table.
    fn forget(&mut self, key: &RobotsKey) {
        let site = SiteKey::from_domain(key.site());
        for sites in [&mut self.late, &mut self.before] {
            if let Some(keys) = sites.get_mut(&site) {
                keys.remove(key);
            }
        }
    }
}

/// Entries: those that were not asked for in a month, and the others.
fn split(entries: Vec<(RobotsKey, OriginRobots)>, now: Timestamp) -> (Vec<Entry>, Vec<Entry>) {
    entries.into_iter().partition(|(_, robots)| robots.expires_at + GRACE <= now)
}

type Entry = (RobotsKey, OriginRobots);

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> CanonicalUrl {
        CanonicalUrl::parse(text).unwrap()
    }

    #[test]
    fn invented_hosts_of_a_site_leave_room_for_those_of_its_pages_and_a_site_without_pages_keeps_none() {
        let (mut kept, page) = (KeptRobots::default(), url("http://good.test/"));
        kept.sites.add(page.site_key(), BTreeSet::new());
        let invented = (0..1_000).map(|number| url(&format!("http://invented-{number}.good.test/")));
        let count = invented.filter(|host| kept.keeps(&RobotsKey::of(host), &page)).count();
        assert_eq!(count, MOST_OF_REDIRECTS);
        let hosts = (0..1_000).map(|number| url(&format!("http://user-{number}.good.test/")));
        let count = hosts.filter(|page| kept.keeps(&RobotsKey::of(page), page)).count();
        assert_eq!(count, MOST_OF_PAGES - MOST_OF_REDIRECTS);
        assert!(kept.keeps(&RobotsKey::of(&url("http://user-0.good.test/")), &page), "it is kept already");
        kept.sites.add(url("http://other.test/").site_key(), BTreeSet::new());
        assert!(!kept.keeps(&RobotsKey::of(&url("http://other.test/")), &page));
    }

    #[test]
    fn the_file_of_a_page_is_kept_if_another_partition_comes_before_the_answer() {
        let (mut kept, page) = (KeptRobots::default(), url("http://good.test/"));
        kept.sites.add(page.site_key(), BTreeSet::new());
        kept.begin();
        assert!(kept.keeps(&RobotsKey::of(&page), &page));
        assert!(!kept.keeps(&RobotsKey::of(&url("http://invented.good.test/")), &page));
        assert!(!kept.keeps(&RobotsKey::of(&url("http://other.test/")), &page));
    }

    #[test]
    fn few_sites_and_keys_are_remembered_and_those_of_late_always() {
        for files in [0, MOST_OF_PAGES] {
            let (mut kept, sites) = (KeptRobots::default(), 3 * MOST_SITES / (1 + files / 4));
            for number in 0..sites {
                let site = format!("site-{number}.test");
                let pages = (0..files).map(|file| url(&format!("http://h{file}.{site}/")));
                kept.sites.add(SiteKey::from_domain(&site), pages.map(|page| RobotsKey::of(&page)).collect());
                assert!(kept.sites.keys_of(&SiteKey::from_domain("site-0.test")).is_some(), "it is always asked for");
            }
            let known = [&kept.sites.late, &kept.sites.before];
            let keys: usize = known.iter().flat_map(|sites| sites.values()).map(BTreeSet::len).sum();
            let sites: usize = known.iter().map(|sites| sites.len()).sum();
            assert!(sites <= MOST_SITES && keys <= MOST_KEYS, "{sites} sites, {keys} keys");
            assert!(sites >= MOST_SITES / 2 || keys >= MOST_KEYS / 3, "{sites} sites, {keys} keys");
        }
    }
}
