//! Accounts that are given up for new ones when the limit is reached: the poorest.
//!
//! First go those whose page was never sent to the scheduler, then those whose page was never looked at, then the others;
//! among them those with the least cash. A pass over all accounts chooses the next thirty-second part of them. So an account
//! costs thirty-two looks, and a page with many links has no way to push out accounts that are richer than its own links.

use super::{Accounts, Held};
use std::cmp::Reverse;

/// Accounts that a pass chooses, as a part of all.
const PART: usize = 32;

/// Accounts that are given up next, the poorest last.
#[derive(Debug, Default)]
pub(super) struct Poorest(pub(super) Vec<(Wealth, u32)>);

/// Worth of an account, in comparison with others. The balance stands for its cash: all accounts of a partition
/// have been given the same by the virtual page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Wealth {
    was_sent: bool,
    was_looked_at: bool,
    cash: f64,
}

impl Eq for Wealth {}

impl PartialOrd for Wealth {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Wealth {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let ranks = (self.was_sent, self.was_looked_at).cmp(&(other.was_sent, other.was_looked_at));
        ranks.then(self.cash.total_cmp(&other.cash))
    }
}

impl Held {
    fn wealth(&self) -> Wealth {
        let Self { reported, history, balance, .. } = *self;
        Wealth { was_sent: reported > 0.0, was_looked_at: history > 0.0, cash: balance + history }
    }
}

impl Accounts {
    /// The account to give up next; `None` if there is none.
    pub fn poorest(&mut self) -> Option<u32> {
        // One that has become richer since it was chosen stays.
        while let Some((wealth, number)) = self.poorest.0.pop() {
            if self.held(number).wealth() <= wealth {
                return Some(number);
            }
        }
        self.poorest.0 = self.choose_poorest();
        self.poorest.0.pop().map(|(_, number)| number)
    }

    /// A part of the accounts, the poorest last.
    fn choose_poorest(&self) -> Vec<(Wealth, u32)> {
        let all = (0..self.len() as u32).map(|number| (self.held(number).wealth(), number));
        let mut all: Vec<(Wealth, u32)> = all.collect();
        let part = all.len().div_ceil(PART);
        if part < all.len() {
            all.select_nth_unstable(part);
            all.truncate(part);
            // The memory of all is not kept for a part of them.
            all.shrink_to_fit();
        }
        all.sort_unstable_by_key(|account| Reverse(*account));
        all
    }
}
