//! Cash that the virtual page gives to trusted pages only: TrustRank as a stream (Gyongyi et al. 2004; D6 of the algorithm notes).
//!
//! It is a system of its own beside that of [`Account`], with shards and purses of its own. The pages of its shards
//! ([`Shard::pages`]) are the trusted ones. Any page receives by links and hands on what it has, so a page that no trusted page
//! leads to has nothing.

use super::shard::{Account, PRIOR_CASH, Shard, Window};

/// A page's account of the cash that comes from trusted pages.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TrustAccount {
    account: Account,
    is_trusted: bool,
}

/// The stored state of a trust account. Unknown pages have the default.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct KeptTrust {
    /// Cash that arrived by links since the last visit; of a trusted page, less the shard's running total of the virtual page's
    /// cash at that time.
    pub balance: f64,
    /// Cash noted at visits.
    pub history: f64,
    /// Cash noted in the whole system until the account was opened.
    pub noted_before: f64,
    /// Whether the virtual page links the page.
    pub is_trusted: bool,
}

impl TrustAccount {
    /// The account of a page that is new. It has no cash and is not trusted.
    pub fn open(shard: &Shard) -> Self {
        let account = Account { noted_before: shard.noted(), ..Account::default() };
        Self { account, is_trusted: false }
    }

    /// An account as it was when this was kept of it.
    pub fn restore(kept: KeptTrust) -> Self {
        let KeptTrust { balance, history, noted_before, is_trusted } = kept;
        Self { account: Account { balance, history, noted_before }, is_trusted }
    }

    /// The state of the account that has to be stored.
    pub fn kept(&self) -> KeptTrust {
        let Account { balance, history, noted_before } = self.account;
        KeptTrust { balance, history, noted_before, is_trusted: self.is_trusted }
    }

    /// From now on the page is trusted, or is not. Its cash stays the same.
    pub fn set_trusted(&mut self, is_trusted: bool, shard: &mut Shard) {
        if self.is_trusted == is_trusted {
            return;
        }
        let cash = self.cash(shard);
        self.is_trusted = is_trusted;
        self.account.balance = cash - self.given(shard);
        let pages = &mut shard.own.pages;
        *pages = if is_trusted { *pages + 1 } else { pages.saturating_sub(1) };
    }

    /// Ends an account. Its cash goes to the virtual page.
    pub fn close(mut self, shard: &mut Shard) {
        self.set_trusted(false, shard);
        shard.take_back(self.cash(shard));
    }

    pub fn is_trusted(&self) -> bool {
        self.is_trusted
    }

    pub fn receive(&mut self, amount: f64) {
        self.account.receive(amount);
    }

    pub fn cash(&self, shard: &Shard) -> f64 {
        self.account.balance + self.given(shard)
    }

    /// Cash noted at visits.
    pub fn history(&self) -> f64 {
        self.account.history
    }

    /// Notes a visit of a page whose links weigh `links_weight` together. Returns the cash for a link of weight 1.
    pub fn visit(&mut self, links_weight: f64, shard: &mut Shard) -> f64 {
        let given = self.given(shard);
        shard.note_beside(&mut self.account, given, links_weight, Window::Everything)
    }

    /// The page's trust: the cash that came since the account was opened, in proportion to all that was noted since.
    /// `believed` is its trust as long as nothing was noted. It counts as in [`Account::importance_since_opened`].
    pub fn trust_since_opened(&self, believed: f64, shard: &Shard) -> f64 {
        let since = (shard.noted() - self.account.noted_before).max(0.0);
        (self.account.history + self.cash(shard) + PRIOR_CASH * believed) / (since + PRIOR_CASH)
    }

    fn given(&self, shard: &Shard) -> f64 {
        if self.is_trusted { shard.given_per_page } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cash_stays_when_a_page_comes_to_be_trusted_and_when_it_ends() {
        let mut shard = Shard::new(0, 1.0);
        let (mut page, mut other) = (TrustAccount::open(&shard), TrustAccount::open(&shard));
        page.set_trusted(true, &mut shard);
        page.set_trusted(true, &mut shard);
        assert_eq!(shard.pages(), 1);
        let mut purse = 0.0;
        shard.empty_purse(|share| purse += share.amount);
        shard.receive(purse);
        assert_eq!((page.cash(&shard), other.cash(&shard)), (1.0, 0.0));
        other.receive(page.visit(3.0, &mut shard));
        assert_eq!((page.cash(&shard), other.cash(&shard), shard.purse()), (0.0, 0.25, 0.25));
        other.set_trusted(true, &mut shard);
        assert_eq!((other.cash(&shard), shard.pages()), (0.25, 2));
        shard.receive(0.5);
        other.set_trusted(false, &mut shard);
        assert_eq!((page.cash(&shard), other.cash(&shard), shard.pages()), (0.25, 0.5, 1));
        assert_eq!(TrustAccount::restore(other.kept()), other);
        page.close(&mut shard);
        other.close(&mut shard);
        assert_eq!((shard.purse(), shard.pages()), (1.0, 0));
    }
}
