//! The web of the model: users who visit pages in proportion to their popularity, and link those that they like.

use super::LinkHistory;
use crate::streams::{Draws, Purpose, RandomStream};

/// Pages that are born and become known (Cho, Roy & Adams 2005), with chance. Of the users that see a page for the first time, a
/// share links it: its quality.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UsersWeb {
    pub users: u32,
    /// Pages born per day.
    pub births_per_day: u32,
    pub days: u32,
    /// r: visits per user and day of a page that all users link.
    pub visits_per_user_day: f64,
    /// Visits of a page per day that no link brings.
    pub found_per_day: f64,
}

impl UsersWeb {
    /// The in-links of all pages.
    pub fn histories(&self, seed: u64) -> Vec<LinkHistory> {
        let all = self.births_per_day * self.days;
        (0..all).map(|page| self.history(page / self.births_per_day, seed, page)).collect()
    }

    fn history(&self, born_day: u32, seed: u64, page: u32) -> LinkHistory {
        let mut stream = RandomStream::new(seed, u64::from(page), Purpose::Importance);
        let quality = stream.uniform();
        let (mut unaware, mut links) = (self.users, 0u32);
        let mut events = Vec::new();
        for day in born_day + 1..=self.days {
            let visits = self.visits_per_user_day * f64::from(links) + self.found_per_day;
            let first_visits = visits * f64::from(unaware) / f64::from(self.users);
            let new = stream.poisson(first_visits).min(unaware);
            unaware -= new;
            let like = (0..new).filter(|_| stream.uniform() < quality).count();
            links += like as u32;
            events.extend(std::iter::repeat_n((f64::from(day), 1), like));
        }
        LinkHistory::of_events(f64::from(born_day), f64::INFINITY, events)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_pages_are_linked_by_the_share_of_users_that_is_their_quality() {
        let web = UsersWeb { users: 300, births_per_day: 50, days: 300, visits_per_user_day: 0.2, found_per_day: 1.0 };
        let histories = web.histories(1);
        assert_eq!((histories.len(), histories[0].links(0.0)), (15_000, 0));
        assert_eq!(histories[70].born_days, 1.0);
        let quality = |page: usize| RandomStream::new(1, page as u64, Purpose::Importance).uniform();
        // Half a year is enough for all users to see a good page.
        for page in (0..50).filter(|page| quality(*page) > 0.5) {
            let share = f64::from(histories[page].links(300.0)) / 300.0;
            assert!((share - quality(page)).abs() < 0.12, "{share} {}", quality(page));
        }
    }
}
