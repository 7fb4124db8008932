//! Accounts of pages, and the state that the accounts of a shard share.

use crate::links::{Link, tidy, total_weight};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Account {
    /// Cash that arrived by links since the last visit, less the shard's running total of the virtual page's cash at that
    /// time. With the running total of now it is the page's cash.
    pub(super) balance: f64,
    /// Cash noted at visits: all of it, or the part that counts in the window.
    pub(super) history: f64,
    /// Cash noted in the whole system until the account was opened; under [`Window::Noted`] until the last visit.
    pub(super) noted_before: f64,
}

/// The stored state of an account under [`Window::Everything`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct KeptAccount {
    /// Cash that arrived by links since the last visit, less the shard's running total of the virtual page's cash at that
    /// time.
    pub balance: f64,
    /// Cash noted at visits.
    pub history: f64,
    /// Cash noted in the whole system until the account was opened.
    pub noted_before: f64,
}

/// Noted cash that a new account starts with: this amount in the whole system, and the mean share of it at the page.
/// Cash of 1 is noted in a round over all pages.
pub(super) const PRIOR_CASH: f64 = 0.2;

/// Cash on its way to a page.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cash<P> {
    pub to: P,
    pub amount: f64,
}

/// Cash of the virtual page on its way to a shard.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PurseShare {
    pub to: u32,
    /// The amount, for all pages of that shard together.
    pub amount: f64,
}

/// The figures of a shard that the other shards need.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ShardNews {
    pub shard: u32,
    /// Rises with every piece of news of a shard, so that older news that arrives later is ignored.
    pub number: u64,
    pub pages: u64,
    /// Cash noted at visits of the shard's pages.
    pub noted: f64,
}

/// How much of a page's history counts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Window {
    /// All of it, for a graph that does not change.
    #[default]
    Everything,
    /// About as much as was noted in the whole system while this much cash was: the adaptive form, for a graph that
    /// changes. Cash of 1 is noted about once per round over all pages, so 4 stands for four rounds.
    Noted(f64),
}

/// The state that the accounts of a shard have in common.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shard {
    purse: f64,
    /// Running total of the virtual page's cash that each page of the shard was given.
    pub(super) given_per_page: f64,
    pub(super) own: ShardNews,
    /// The latest news of the other shards.
    others: BTreeMap<u32, ShardNews>,
}

/// The stored state of a shard. The news of the others is not stored and is received again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KeptShard {
    pub shard: u32,
    /// Cash in the purse of the virtual page.
    pub purse: f64,
    /// Running total of the virtual page's cash that each page of the shard was given.
    pub given_per_page: f64,
    /// Number of the last piece of news.
    pub number: u64,
    pub pages: u64,
    /// Cash noted at visits of the shard's pages.
    pub noted: f64,
}

impl Shard {
    /// A shard from its stored state. It has to receive the news of the others again.
    pub fn restore(kept: KeptShard) -> Self {
        let KeptShard { shard, purse, given_per_page, number, pages, noted } = kept;
        Self { purse, given_per_page, own: ShardNews { shard, number, pages, noted }, others: BTreeMap::new() }
    }

    /// The state of the shard that has to be stored.
    pub fn kept(&self) -> KeptShard {
        let ShardNews { shard, number, pages, noted } = self.own;
        KeptShard { shard, purse: self.purse, given_per_page: self.given_per_page, number, pages, noted }
    }

    /// The shard's own figures, under the number of its last news.
    pub fn own(&self) -> ShardNews {
        self.own
    }

    /// A shard without pages. `cash` is brought into the system; over all shards it is best 1. It goes to the first pages.
    pub fn new(shard: u32, cash: f64) -> Self {
        let own = ShardNews { shard, ..ShardNews::default() };
        Self { purse: cash, given_per_page: 0.0, own, others: BTreeMap::new() }
    }

    /// The account of a page that is new in this shard. It has no cash.
    pub fn open(&mut self) -> Account {
        self.own.pages += 1;
        Account { balance: -self.given_per_page, history: 0.0, noted_before: self.noted() }
    }

    /// Ends an account. Its cash goes to the virtual page.
    pub fn close(&mut self, account: Account) {
        self.purse += account.cash(self);
        self.own.pages = self.own.pages.saturating_sub(1);
    }

    /// Cash of an account that ended goes to the virtual page.
    pub(super) fn take_back(&mut self, amount: f64) {
        self.purse += amount;
    }

    /// Visits a page: notes its cash and splits it over its links, each by its weight, and the virtual page, which
    /// counts as one link of weight 1. Links that must not count are dropped ([`tidy`]). A page without links gives all
    /// to the virtual page; so does a page that cannot be fetched. `send` gets the cash for other pages.
    pub fn visit<P: Copy + Ord>(
        &mut self,
        page: P,
        account: &mut Account,
        links: &mut Vec<Link<P>>,
        window: Window,
        mut send: impl FnMut(Cash<P>),
    ) {
        tidy(page, links);
        let share = self.note(account, total_weight(links), window);
        links.iter().for_each(|link| send(Cash { to: link.to, amount: share * link.weight }));
    }

    /// Notes a visit of a page whose links weigh `links_weight` together. Returns the cash for a link of weight 1,
    /// after the virtual page has had its part.
    pub fn note(&mut self, account: &mut Account, links_weight: f64, window: Window) -> f64 {
        self.note_beside(account, self.given_per_page, links_weight, window)
    }

    /// The same for an account that was `given` this by the virtual page.
    pub(super) fn note_beside(&mut self, account: &mut Account, given: f64, links_weight: f64, window: Window) -> f64 {
        let (cash, noted_before) = (account.balance + given, self.noted());
        account.history = match window {
            Window::Everything => account.history + cash,
            Window::Noted(length) => {
                let since = noted_before - std::mem::replace(&mut account.noted_before, noted_before);
                windowed(account.history, cash, since, length)
            }
        };
        account.balance = -given;
        self.own.noted += cash;
        let share = cash / (links_weight + 1.0);
        self.purse += share;
        share
    }

    /// Splits the purse over all shards with pages that this one knows of. Without any, the purse stays as it is.
    pub fn empty_purse(&mut self, mut send: impl FnMut(PurseShare)) {
        let pages = self.pages();
        if pages == 0 || self.purse == 0.0 {
            return;
        }
        let purse = std::mem::take(&mut self.purse);
        let all = self.others.values().chain([&self.own]);
        all.filter(|news| news.pages > 0).for_each(|news| {
            send(PurseShare { to: news.shard, amount: purse * (news.pages as f64 / pages as f64) });
        });
    }

    /// Receives the virtual page's cash for the pages of this shard. If there are none, it goes on with the purse.
    pub fn receive(&mut self, amount: f64) {
        match self.own.pages {
            0 => self.purse += amount,
            pages => self.given_per_page += amount / pages as f64,
        }
    }

    /// News for the other shards, under a new number. It changes with every new page and every visit; now and then is enough.
    pub fn news(&mut self) -> ShardNews {
        self.own.number += 1;
        self.own
    }

    /// Takes in the news of another shard. News of this shard and old news are ignored.
    pub fn learn(&mut self, news: ShardNews) {
        if news.shard == self.own.shard {
            return;
        }
        let known = self.others.entry(news.shard).or_default();
        if news.number > known.number {
            *known = news;
        }
    }

    /// Cash in the purse of the virtual page.
    pub fn purse(&self) -> f64 {
        self.purse
    }

    /// Pages of all shards, as far as known here.
    pub fn pages(&self) -> u64 {
        self.own.pages + self.others.values().map(|news| news.pages).sum::<u64>()
    }

    /// Cash noted at visits in all shards, as far as known here.
    pub fn noted(&self) -> f64 {
        self.own.noted + self.others.values().map(|news| news.noted).sum::<f64>()
    }
}

impl Account {
    /// An account as it was when this was kept of it.
    pub fn restore(kept: KeptAccount) -> Self {
        let KeptAccount { balance, history, noted_before } = kept;
        Self { balance, history, noted_before }
    }

    /// The state of the account that has to be stored under [`Window::Everything`].
    pub fn kept(&self) -> KeptAccount {
        KeptAccount { balance: self.balance, history: self.history, noted_before: self.noted_before }
    }

    pub fn receive(&mut self, amount: f64) {
        self.balance += amount;
    }

    /// The page's cash, with its part of the virtual page's. The page with the most is the one to visit next, if nothing
    /// else decides.
    pub fn cash(&self, shard: &Shard) -> f64 {
        self.balance + shard.given_per_page
    }

    /// Cash noted at visits. With [`Window::Everything`], what was added between two times says how important the page
    /// was between them.
    pub fn history(&self) -> f64 {
        self.history
    }

    /// The page's importance under [`Window::Everything`] in a web that grows: the cash that came since its account was
    /// opened, in proportion to all that was noted since. [`importance`](Self::importance) measures a page by all that
    /// was ever noted, so a page that is new would seem to be worth nothing. Little cash is little evidence, so the
    /// mean importance counts like a fifth of a round over all pages.
    pub fn importance_since_opened(&self, shard: &Shard) -> f64 {
        let mean = 1.0 / shard.pages().max(1) as f64;
        // The cash noted by other shards becomes known late.
        let since = (shard.noted() - self.noted_before).max(0.0);
        (self.history + self.cash(shard) + PRIOR_CASH * mean) / (since + PRIOR_CASH)
    }

    /// The page's importance: its share of all cash noted, about 1 over all pages together.
    pub fn importance(&self, shard: &Shard, window: Window) -> f64 {
        match window {
            // The cash it holds now is as good as noted. All cash together is 1.
            Window::Everything => (self.history + self.cash(shard)) / (shard.noted() + 1.0),
            Window::Noted(length) => self.history / length,
        }
    }
}

/// The history within a window of this `length` after `cash` is noted, `since` after the last visit.
fn windowed(history: f64, cash: f64, since: f64, length: f64) -> f64 {
    // The cash noted by other shards becomes known late, and a restored shard starts without it, so `since` may be negative.
    let since = since.max(0.0);
    if since < length { history * (length - since) / length + cash } else { cash * length / since }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_page_is_measured_by_what_was_noted_since() {
        // Page 0 links to page 1, and that back. Page 2 comes late, when page 1 links to it, too.
        let mut shard = Shard::new(0, 1.0);
        let mut accounts = vec![shard.open(), shard.open()];
        let round = |shard: &mut Shard, accounts: &mut Vec<Account>| {
            for page in 0..accounts.len() {
                let links: &[usize] = if page == 1 && accounts.len() == 3 { &[0, 2] } else { &[1 - page.min(1)] };
                let mut links = links.iter().copied().map(Link::plain).collect();
                let (mut account, mut given) = (accounts[page], Vec::new());
                shard.visit(page, &mut account, &mut links, Window::Everything, |cash| given.push(cash));
                accounts[page] = account;
                given.into_iter().for_each(|cash| accounts[cash.to].receive(cash.amount));
                let mut purse = 0.0;
                shard.empty_purse(|share| purse += share.amount);
                shard.receive(purse);
            }
        };
        (0..100).for_each(|_| round(&mut shard, &mut accounts));
        let new = shard.open();
        assert!((new.importance_since_opened(&shard) - 1.0 / 3.0).abs() < 1e-12, "nothing is known but the mean");
        accounts.push(new);
        (0..10).for_each(|_| round(&mut shard, &mut accounts));
        let (late, whole) =
            (accounts[2].importance_since_opened(&shard), accounts[2].importance(&shard, Window::Everything));
        (0..10_000).for_each(|_| round(&mut shard, &mut accounts));
        let settled = accounts[2].importance_since_opened(&shard);
        assert!((late - settled).abs() < 0.1 * settled, "{late} {settled}");
        assert!(whole < 0.2 * settled, "{whole} {settled}");
    }

    #[test]
    fn a_window_forgets_as_published() {
        assert!((windowed(2.0, 0.3, 1.0, 4.0) - 1.8).abs() < 1e-15);
        assert!((windowed(2.0, 0.3, 6.0, 4.0) - 0.2).abs() < 1e-15);
    }
}
