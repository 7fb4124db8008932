//! The ranker's part of the loop: the importance of pages by the links that looks have shown.

use importance::opic::{Account, Shard, Window};
use importance::weight::WeightMap;
use importance::{Link, tidy, weigh_alike, weigh_as_pagerank};
use settings::{RankMethod, Ranker};

#[derive(Clone, Copy, Debug)]
struct LinkedPage {
    account: Account,
    /// The weight last returned by [`GrowthRanker::look`]; 0 if none.
    reported: f64,
}

/// Keeps an account for every page that links lead to, and weighs pages by OPIC or all alike, as the settings say. Values of
/// sites are not simulated.
pub(super) struct GrowthRanker {
    method: RankMethod,
    /// Least change of a weight that is returned, as a ratio.
    least_ratio: f64,
    shard: Shard,
    accounts: Vec<Option<LinkedPage>>,
    map: WeightMap,
}

impl GrowthRanker {
    /// Accounts for pages with numbers below `pages`.
    pub(super) fn new(settings: &Ranker, pages: usize) -> Self {
        Self {
            method: settings.importance,
            least_ratio: 1.0 + settings.min_change,
            shard: Shard::new(0, 1.0),
            accounts: vec![None; pages],
            map: WeightMap::default(),
        }
    }

    /// Takes in the links of a page. Returns the weights of the pages that they lead to, and of the page itself, as far as they
    /// are new or differ from those returned before.
    pub(super) fn look(&mut self, page: usize, links: Vec<usize>) -> Vec<(usize, f64)> {
        let mut links: Vec<_> = links.into_iter().map(Link::plain).collect();
        tidy(page, &mut links);
        match self.method {
            RankMethod::PageRank => weigh_as_pagerank(&mut links),
            RankMethod::Opic | RankMethod::TrustRank | RankMethod::LinkValue | RankMethod::None => {
                weigh_alike(&mut links)
            }
        }
        let mut source = self.account(page);
        let mut given = Vec::with_capacity(links.len());
        self.shard.visit(page, &mut source.account, &mut links, Window::Everything, |cash| given.push(cash));
        let own = self.report(page, source);
        let reported = given.into_iter().filter_map(|cash| {
            let mut target = self.account(cash.to);
            target.account.receive(cash.amount);
            self.report(cash.to, target)
        });
        own.into_iter().chain(reported.collect::<Vec<_>>()).collect()
    }

    /// Splits the cash of the virtual page.
    pub(super) fn tick(&mut self) {
        let mut amount = 0.0;
        self.shard.empty_purse(|share| amount += share.amount);
        self.shard.receive(amount);
    }

    fn account(&mut self, page: usize) -> LinkedPage {
        self.accounts[page].unwrap_or_else(|| LinkedPage { account: self.shard.open(), reported: 0.0 })
    }

    fn report(&mut self, number: usize, mut page: LinkedPage) -> Option<(usize, f64)> {
        let weight = match self.method {
            // No site is trusted here, so TrustRank weighs as OPIC does.
            RankMethod::Opic | RankMethod::PageRank | RankMethod::TrustRank => {
                let mean = 1.0 / self.shard.pages() as f64;
                self.map.weight(page.account.importance_since_opened(&self.shard), mean)
            }
            RankMethod::None | RankMethod::LinkValue => 1.0,
        };
        let is_news = !(page.reported / self.least_ratio..page.reported * self.least_ratio).contains(&weight);
        if is_news {
            page.reported = weight;
        }
        self.accounts[number] = Some(page);
        is_news.then_some((number, weight))
    }
}
