//! What every revisit policy looks like from outside, to the simulator and to the running scheduler alike.

use crate::columns::Slot;
use change_rate::{Gamma, Outcome};
use sweeps::Place;

/// A page, as a policy gets to know it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PolicyPage {
    /// Importance; not negative, only ratios count.
    pub weight: f64,
    /// Budget that one fetch costs; positive.
    pub cost: f64,
    /// The caller's number for its host.
    pub host: u32,
    /// Where it stands on its site.
    pub place: Place,
    /// When it was last looked at; `None`: never, there is no copy of it yet.
    pub last_look_days: Option<f64>,
    /// What is believed of its change rate.
    pub belief: Gamma,
}

/// What a look found, and what is believed since.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PolicyLook {
    /// When.
    pub at_days: f64,
    /// Days since the look before; `None` for a page's first look, and when the look before cannot be compared with.
    pub interval_days: Option<f64>,
    /// What it found; `None` when it found nothing out (an error).
    pub outcome: Option<Outcome>,
    /// What is believed of the page's change rate now.
    pub belief: Gamma,
}

/// A stretch of time in which pages are chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tick {
    /// Its beginning.
    pub now_days: f64,
    /// Its length.
    pub days: f64,
    /// What may be spent, on average.
    pub budget_per_day: f64,
}

/// A revisit policy at work: it keeps what it needs of every page and says which one comes next. Times are days since
/// a moment of the caller's choosing. Deterministic, without clock or chance; where a policy wants spread (phases), it
/// hashes the slot.
pub trait RevisitPolicy: Send {
    /// So many more pages will be inserted: a policy that keeps many makes room for them and no more.
    fn reserve(&mut self, pages: usize) {
        let _ = pages;
    }

    /// A page has become known.
    fn insert(&mut self, slot: Slot, page: &PolicyPage, now_days: f64);

    /// A page is no longer wanted.
    fn remove(&mut self, slot: Slot);

    /// A tick begins. Plans made for longer than a tick are renewed here when their time has come.
    fn begin(&mut self, tick: &Tick);

    /// The page to fetch now, if any is worth it. It is not offered again until [`RevisitPolicy::looked`] or
    /// [`RevisitPolicy::put_back`]. Pages never fetched come first, oldest first, unless the policy has a rule for them.
    fn next(&mut self, now_days: f64) -> Option<Slot>;

    /// The page was not fetched after all (its host may not be visited now): it keeps its place.
    fn put_back(&mut self, slot: Slot);

    /// A page was looked at.
    fn looked(&mut self, slot: Slot, look: &PolicyLook);

    /// What is believed of the page has changed without a look at it: its siblings taught. Policies that set intervals by
    /// looks alone do not care.
    fn believe(&mut self, slot: Slot, belief: Gamma) {
        let _ = (slot, belief);
    }

    /// When the page is due, as far as the policy plans ahead; `None` when it does not.
    fn due_days(&self, slot: Slot) -> Option<f64> {
        let _ = slot;
        None
    }
}
