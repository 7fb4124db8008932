//! The interface of revisit policies, for the simulator and the running scheduler alike.

use crate::columns::Slot;
use crate::hints::ListedDate;
use crate::plan_standing::PlanStanding;
use crate::plan_values::PlanValues;
use change_rate::{Gamma, LookOutcome};
use sweeps::PagePlace;

/// A page as it is given to a policy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PolicyPage {
    /// Importance; not negative, only ratios count.
    pub weight: f64,
    /// Budget that one fetch costs; positive.
    pub cost: f64,
    /// The caller's number for its host.
    pub host: u32,
    /// Its place on its site.
    pub place: PagePlace,
    /// Time of its last look; `None` when there was none, so that no copy exists yet.
    pub last_look_days: Option<f64>,
    /// Belief about its change rate.
    pub belief: Gamma,
}

/// The outcome of a look, and the belief after it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PolicyLook {
    pub at_days: f64,
    /// Days since the previous look. `None` for a page's first look, and when the previous one is not comparable.
    pub interval_days: Option<f64>,
    /// Result of the look; `None` when it failed.
    pub outcome: Option<LookOutcome>,
    /// The extent of the change that it found: the share of the content that differs, 0..=1. `None` if it is not known.
    pub extent: Option<f64>,
    /// Belief about the page's change rate after the look.
    pub belief: Gamma,
}

/// A period in which pages are chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PolicyTick {
    /// Start of the tick.
    pub now_days: f64,
    /// Length of the tick.
    pub days: f64,
    /// Average spending allowed.
    pub budget_per_day: f64,
}

/// A revisit policy: it keeps what it needs of every page and chooses the next one. Times are days since an origin of
/// the caller's choice. Deterministic, without clock or randomness; a policy that needs to spread pages (phases) hashes
/// the slot.
pub trait RevisitPolicy: Send {
    fn insert(&mut self, slot: Slot, page: &PolicyPage, now_days: f64);

    /// The weight of a page has changed. It keeps its place in queues and plans. Does nothing for policies without weights, and
    /// for those that only simulations use, where weights are constant.
    fn weigh(&mut self, slot: Slot, weight: f64) {
        let (_, _) = (slot, weight);
    }

    fn remove(&mut self, slot: Slot);

    /// Begins a tick. Plans longer than a tick are renewed here when they end.
    fn begin(&mut self, tick: &PolicyTick);

    /// The page to fetch now, if any is worth it. It is not offered again until [`RevisitPolicy::looked`] or
    /// [`RevisitPolicy::put_back`]. Pages never fetched come first, oldest first, unless the policy has a rule for
    /// them.
    fn next(&mut self, now_days: f64) -> Option<Slot>;

    /// The page was not fetched after all (its host may not be visited now). It keeps its rank.
    fn put_back(&mut self, slot: Slot);

    fn looked(&mut self, slot: Slot, look: &PolicyLook);

    /// Adds a list (a sitemap or feed) as a page of weight 0. Policies that ignore lists never choose it.
    fn insert_list(&mut self, slot: Slot, page: &PolicyPage, pages: usize, now_days: f64) {
        let _ = (slot, page, pages, now_days);
    }

    /// A list was looked at, and dates the last change of these pages.
    fn received(&mut self, list: Slot, dates: &[(Slot, ListedDate)], now_days: f64) {
        let _ = (list, dates, now_days);
    }

    /// The page's first look gave the date of its last change. The copy has been current since `at_days`, the time of the look.
    fn dated(&mut self, slot: Slot, changed_days: f64, at_days: f64) {
        let _ = (slot, changed_days, at_days);
    }

    /// The belief about a page has changed without a look, because its siblings taught. Policies that set intervals by
    /// looks alone ignore it.
    fn believe(&mut self, slot: Slot, belief: Gamma) {
        let _ = (slot, belief);
    }

    /// The page shows links to this many new pages per day. Policies that look for new pages come back in time for them.
    fn shows(&mut self, slot: Slot, new_pages_per_day: f64) {
        let (_, _) = (slot, new_pages_per_day);
    }

    /// Bytes that a copy of the page takes, its address included. For policies that weigh the room of a page.
    fn measure(&mut self, slot: Slot, bytes: f64) {
        let (_, _) = (slot, bytes);
    }

    /// When the page is due, if the policy plans ahead; `None` otherwise.
    fn due_days(&self, slot: Slot) -> Option<f64> {
        let _ = slot;
        None
    }

    /// Where the page stands in the policy's plan; `None` where there is no plan, or the page is not part of it yet.
    fn standing(&self, slot: Slot) -> Option<PlanStanding> {
        let _ = slot;
        None
    }

    /// The values that its plan ranks sites or pages by, for the policies of other partitions; `None` where each
    /// partition plans for itself.
    fn plan_values(&self) -> Option<PlanValues> {
        None
    }

    /// Takes in the values of other partitions, in place of those before, and the budget of these and this one together.
    fn learn_plan_values(&mut self, others: &[PlanValues], budget_per_day: f64) {
        let (_, _) = (others, budget_per_day);
    }

    /// The budget that its plan wants, by any measure that all partitions share, so that they split the common budget in
    /// proportion; `None` where they split it by their pages.
    fn plan_demand(&self) -> Option<f64> {
        None
    }
}
