//! State that the accounts of a partition share: its part of the virtual page, and the worth of a page by its account.
//!
//! There are two systems of cash. The cash of importance begins at all pages alike, the cash of trust at trusted pages
//! ([`importance::opic`]). They travel together.

use crate::accounts::LinkedPage;
use crate::rules::RankerRules;
use crate::state::ShardTotals;
use importance::Link;
use importance::opic::{Cash, Shard, ShardNews, TrustAccount, Window};
use importance::trust::{spam_mass, trusted_weight};
use messages::{RankTotals, VirtualCash};
use page::{CanonicalUrl, PageId, Timestamp};
use settings::RankMethod;
use std::collections::BTreeMap;
use stream::partitioner::key_for;

/// All cash of a system.
const ALL_CASH: f64 = 1.0;

/// Rounds of trust over all pages until spam mass counts in full. Cash of 1 is noted in a round.
const TRUSTED_ROUNDS: f64 = 3.0;

/// The cash that a link or a partition is given.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Given {
    pub(crate) cash: f64,
    /// Cash from trusted pages.
    pub(crate) trust: f64,
}

#[derive(Debug)]
pub(crate) struct Ledger {
    rules: RankerRules,
    shard: Shard,
    /// The same for cash from trusted pages. Its pages are the trusted ones.
    trust: Shard,
    /// Whether the totals differ from those that are stored.
    is_changed: bool,
}

impl Ledger {
    pub(crate) fn new(rules: RankerRules, partition: u32) -> Self {
        let shard = Shard::new(partition, ALL_CASH / f64::from(rules.partitions));
        Self { rules, trust: shard.clone(), shard, is_changed: false }
    }

    pub(crate) fn restore(&mut self, totals: &ShardTotals, partition: u32) {
        self.shard = Shard::restore(totals.kept(partition));
        self.trust = Shard::restore(totals.kept_trust(partition));
    }

    /// The totals, if they differ from those that are stored.
    pub(crate) fn changed_totals(&mut self) -> Option<ShardTotals> {
        std::mem::take(&mut self.is_changed).then(|| ShardTotals::of(&self.shard.kept(), &self.trust.kept()))
    }

    pub(crate) fn partition(&self) -> u32 {
        self.shard.own().shard
    }

    /// Pages of the partition, and those of them that are trusted.
    pub(crate) fn pages(&self) -> (u64, u64) {
        (self.shard.own().pages, self.trust.own().pages)
    }

    /// A page that is new.
    pub(crate) fn open(&mut self, depth: i32) -> LinkedPage {
        self.is_changed = true;
        let (account, trust) = (self.shard.open(), TrustAccount::open(&self.trust));
        LinkedPage { account, depth, sent_importance: 0.0, trust }
    }

    /// Ends the account of a page. Its cash goes to the virtual page.
    pub(crate) fn close(&mut self, page: LinkedPage) {
        self.is_changed = true;
        self.shard.close(page.account);
        page.trust.close(&mut self.trust);
    }

    /// Marks whether a page is trusted by the settings of today.
    pub(crate) fn mark(&mut self, page: &mut LinkedPage, url: &CanonicalUrl) {
        let is_trusted = self.rules.trusted.iter().any(|trusted| trusted.includes(url));
        if is_trusted != page.trust.is_trusted() {
            page.trust.set_trusted(is_trusted, &mut self.trust);
            self.is_changed = true;
        }
    }

    /// Visits a page. Returns its links in order, each once and none to itself, and the cash for them.
    pub(crate) fn visit(
        &mut self,
        id: PageId,
        page: &mut LinkedPage,
        targets: &[PageId],
    ) -> Vec<(PageId, Option<Given>)> {
        let mut links: Vec<_> = targets.iter().map(|target| Link::plain(*target)).collect();
        importance::tidy(id, &mut links);
        match self.rules.method {
            RankMethod::Opic => importance::weigh_alike(&mut links),
            RankMethod::PageRank | RankMethod::TrustRank => importance::weigh_as_pagerank(&mut links),
            RankMethod::LinkValue | RankMethod::None => {
                return links.into_iter().map(|link| (link.to, Some(Given::default()))).collect();
            }
        }
        self.is_changed = true;
        let trust = page.trust.visit(importance::total_weight(&links), &mut self.trust);
        // All links weigh the same.
        let trust = trust * links.first().map_or(0.0, |link| link.weight);
        let mut given = Vec::with_capacity(links.len());
        let give = |cash: Cash<PageId>| given.push((cash.to, Some(Given { cash: cash.amount, trust })));
        self.shard.visit(id, &mut page.account, &mut links, Window::Everything, give);
        given
    }

    /// The weight of a page by its links. 1 where they do not count.
    pub(crate) fn weight(&self, page: &LinkedPage) -> f64 {
        let mean = ALL_CASH / self.shard.pages().max(1) as f64;
        match self.rules.method {
            RankMethod::None | RankMethod::LinkValue => 1.0,
            RankMethod::TrustRank => self.rules.map.weight(page.trust.trust_since_opened(mean, &self.trust), mean),
            RankMethod::Opic | RankMethod::PageRank => {
                let score = page.account.importance_since_opened(&self.shard);
                let weight = self.rules.map.weight(score, mean);
                if self.rules.trusted.is_empty() {
                    return weight;
                }
                // A page that is new is trusted like any other, however many link to it.
                let trust = page.trust.trust_since_opened(score.min(mean), &self.trust);
                let come_round = (self.trust.noted() / TRUSTED_ROUNDS).min(1.0);
                trusted_weight(weight, come_round * spam_mass(score, trust, 1.0))
            }
        }
    }

    /// The virtual page's cash arrives.
    pub(crate) fn receive(&mut self, given: &VirtualCash) {
        self.shard.receive(given.cash);
        self.trust.receive(given.trust);
        self.is_changed = true;
    }

    /// The shares of this partition's part of the virtual page, one for each partition that gets some.
    pub(crate) fn empty_purses(&mut self) -> Vec<VirtualCash> {
        let mut shares = BTreeMap::<u32, Given>::new();
        self.shard.empty_purse(|share| shares.entry(share.to).or_default().cash += share.amount);
        self.trust.empty_purse(|share| shares.entry(share.to).or_default().trust += share.amount);
        self.is_changed = true;
        let partitions = self.rules.partitions;
        let to_partition = |(to, Given { cash, trust }): (u32, Given)| VirtualCash {
            routing_key: key_for(to, partitions),
            cash,
            trust,
        };
        shares.into_iter().map(to_partition).collect()
    }

    /// The totals that the other partitions must receive.
    pub(crate) fn news(&mut self, now: Timestamp) -> RankTotals {
        let (ShardNews { shard, number, pages, noted }, of_trust) = (self.shard.news(), self.trust.news());
        self.is_changed = true;
        let whole = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        RankTotals {
            stage_partition: shard as i32,
            published_at: now,
            number: whole(number),
            pages: whole(pages),
            noted,
            trusted_pages: whole(of_trust.pages),
            trust_noted: of_trust.noted,
            valued_sites: 0,
            site_values_ln: 0.0,
        }
    }

    /// Takes in the totals of another partition, or of this one.
    pub(crate) fn learn(&mut self, totals: &RankTotals) {
        let news = |pages: i64, noted| ShardNews {
            shard: totals.stage_partition.max(0).unsigned_abs(),
            number: totals.number.max(0).unsigned_abs(),
            pages: pages.max(0).unsigned_abs(),
            noted,
        };
        self.shard.learn(news(totals.pages, totals.noted));
        self.trust.learn(news(totals.trusted_pages, totals.trust_noted));
    }
}
