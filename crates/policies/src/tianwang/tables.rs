//! PageInfo, NewURLQueue, RemainedURLs, CheckPoints and ParsedURLs, and the plan of a cycle.

use crate::pages::{DueQueue, KeyedSlot, SlotTable, believed_rate};
use change_rate::Gamma;
use revisit::columns::Slot;

/// A look that found nothing is repeated after these times. When the third in a row finds nothing, the page is dropped.
const BACK_OFF_DAYS: [f64; 2] = [1.0, 3.0];

/// Temporal locality: this many changes in the last three looks halve the next three intervals.
const BURST_CHANGES: u32 = 2;
const BURST_LOOKS: u8 = 3;

/// A page that has been fetched or tried (a row of PageInfo).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PageInfo {
    /// Importance.
    pub weight: f64,
    /// The check point: the time of the copy that the next one will be compared with. The comparison itself belongs to
    /// the change detector.
    pub checkpoint_days: Option<f64>,
    /// When the page was last found changed.
    pub last_modified_days: Option<f64>,
    /// Belief about its change rate.
    pub belief: Gamma,
    /// Days from one change to the next: 1 / mean change rate.
    pub change_period_days: f64,
    /// Days in which an index page is expected to show one new address; infinite for a page that shows none.
    pub new_page_period_days: f64,
    /// Time of the next fetch.
    pub next_crawl_days: f64,
    /// Consecutive looks that found nothing.
    pub disappear_times: u8,
    /// The last three outcomes as bits, the latest in the lowest; 1 means changed.
    recent_changes: u8,
    /// Number of looks that still come at half the interval.
    hurried_looks: u8,
}

impl PageInfo {
    /// A page; its copy, if there is one, was made at `checkpoint_days`.
    pub fn new(weight: f64, belief: Gamma, checkpoint_days: Option<f64>, now_days: f64) -> Self {
        let change_period_days = believed_rate(belief).recip();
        Self {
            weight,
            checkpoint_days,
            last_modified_days: None,
            belief,
            change_period_days,
            new_page_period_days: f64::INFINITY,
            next_crawl_days: checkpoint_days.map_or(now_days, |at_days| at_days + change_period_days),
            disappear_times: 0,
            recent_changes: 0,
            hurried_looks: 0,
        }
    }

    /// Takes in a look that found the page, changed or not.
    pub fn found(&mut self, at_days: f64, changed: bool, belief: Gamma) {
        self.checkpoint_days = Some(at_days);
        self.belief = belief;
        self.change_period_days = believed_rate(belief).recip();
        self.disappear_times = 0;
        self.recent_changes = (self.recent_changes << 1 | u8::from(changed)) & 0b111;
        if changed {
            self.last_modified_days = Some(at_days);
        }
        if self.hurried_looks > 0 {
            self.hurried_looks -= 1;
        } else if self.recent_changes.count_ones() >= BURST_CHANGES {
            // The next burst needs three looks of its own.
            (self.hurried_looks, self.recent_changes) = (BURST_LOOKS, 0);
        }
        self.next_crawl_days = self.due_after(at_days);
    }

    /// Takes in how many new addresses the page shows per day. An index page comes back in time for the next.
    pub fn shows(&mut self, new_pages_per_day: f64) {
        let rate = new_pages_per_day.clamp(0.0, 1e4);
        self.new_page_period_days = rate.recip();
        self.plan_anew();
    }

    /// When a page that was found at this time is due: after its change period, or once it shows a new address.
    fn due_after(&self, at_days: f64) -> f64 {
        let share = if self.hurried_looks > 0 { 0.5 } else { 1.0 };
        at_days + (share * self.change_period_days).min(self.new_page_period_days)
    }

    /// Moves the next fetch to what is known now. After a failure, the back-off says when the page is due.
    fn plan_anew(&mut self) {
        if let (Some(at_days), 0) = (self.checkpoint_days, self.disappear_times) {
            self.next_crawl_days = self.due_after(at_days);
        }
    }

    /// Takes in a belief learned from siblings.
    pub fn believe(&mut self, belief: Gamma) {
        self.belief = belief;
        self.change_period_days = believed_rate(belief).recip();
        self.plan_anew();
    }

    /// Takes in a look that found nothing. Returns whether to keep the page.
    pub fn not_found(&mut self, at_days: f64) -> bool {
        let back_off_days = BACK_OFF_DAYS.get(usize::from(self.disappear_times));
        self.disappear_times = self.disappear_times.saturating_add(1);
        self.next_crawl_days = back_off_days.map_or(f64::INFINITY, |days| at_days + days);
        back_off_days.is_some()
    }
}

/// Which due pages are taken when there is not room for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DueOrder {
    /// The earliest due, as published. The rest waits for a cycle with spare room, however long.
    EarliestDue,
    /// Those of greatest crawl value (weight × U). Pages left over before compete again.
    CrawlValue,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CycleOptions {
    /// Share of a cycle's capacity that URLs never fetched may take (l), in 0..=1.
    pub new_share: f64,
    pub order: DueOrder,
}

/// The fetches of one cycle, in this order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CyclePlan {
    /// URLs never fetched.
    pub new: Vec<Slot>,
    pub due: Vec<Slot>,
    /// Pages left over from earlier cycles.
    pub remained: Vec<Slot>,
    /// Number of due pages without room; they are in RemainedURLs now.
    pub pushed: usize,
}

/// The place of a page: every parsed URL is in exactly one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TianwangQueue {
    NewQueue,
    /// In PageInfo, not due yet.
    Waiting,
    Remained,
    /// In the plan of a cycle, or in flight.
    Planned,
    /// Disappeared. ParsedURLs remembers it so that it is not queued as new.
    Dropped,
}

/// The five tables.
#[derive(Clone, Debug, Default)]
pub struct Tables {
    /// PageInfo including CheckPoints.
    page_info: SlotTable<PageInfo>,
    /// By time of discovery.
    new_url_queue: DueQueue,
    /// In order of arrival.
    remained_urls: DueQueue,
    /// ParsedURLs: every URL ever seen.
    parsed_urls: SlotTable<TianwangQueue>,
    ever_remained: f64,
}

impl Tables {
    /// Adds a URL found in a page; known ones are ignored. Returns whether it was new.
    pub fn parsed(&mut self, slot: Slot, info: PageInfo) -> bool {
        if self.parsed_urls.get(slot).is_some() {
            return false;
        }
        self.page_info.insert(slot, info);
        self.move_to(
            slot,
            if info.checkpoint_days.is_none() { TianwangQueue::NewQueue } else { TianwangQueue::Waiting },
        );
        true
    }

    /// Notes the new weight of a page.
    pub fn weigh(&mut self, slot: Slot, weight: f64) {
        if let Some(info) = self.page_info.get_mut(slot) {
            info.weight = weight;
        }
    }

    /// Removes a page from all tables.
    pub fn forget(&mut self, slot: Slot) {
        self.page_info.remove(slot);
        self.parsed_urls.remove(slot);
        self.new_url_queue.remove(slot);
        self.remained_urls.remove(slot);
    }

    /// The row of a page in PageInfo.
    pub fn page_info(&self, slot: Slot) -> Option<&PageInfo> {
        self.page_info.get(slot)
    }

    /// Numbers of URLs in NewURLQueue and in RemainedURLs.
    pub fn queued(&self) -> (usize, usize) {
        (self.new_url_queue.len(), self.remained_urls.len())
    }

    /// Whether the page is in the plan of the current cycle and not looked at yet.
    pub fn is_planned(&self, slot: Slot) -> bool {
        self.parsed_urls.get(slot) == Some(&TianwangQueue::Planned)
    }

    /// Plans the cycle from `now_days` to `end_days` for this many fetches. Room that new URLs do not need goes to
    /// pages.
    pub fn plan_cycle(&mut self, now_days: f64, end_days: f64, capacity: usize, options: &CycleOptions) -> CyclePlan {
        let new_quota = (options.new_share.clamp(0.0, 1.0) * capacity as f64).floor() as usize;
        let new = take(&mut self.new_url_queue, new_quota);
        let room = capacity - new.len();
        if options.order == DueOrder::CrawlValue {
            for slot in take(&mut self.remained_urls, usize::MAX) {
                self.move_to(slot, TianwangQueue::Waiting);
            }
        }
        let mut due: Vec<KeyedSlot> = self
            .page_info
            .iter()
            .filter(|(slot, info)| {
                info.next_crawl_days < end_days && self.parsed_urls.get(*slot) == Some(&TianwangQueue::Waiting)
            })
            .map(|(slot, info)| KeyedSlot { key: due_key(info, now_days, options.order), slot })
            .collect();
        due.sort_unstable();
        let left_over = due.split_off(room.min(due.len()));
        let due: Vec<Slot> = due.into_iter().map(|page| page.slot).collect();
        let remained = take(&mut self.remained_urls, room - due.len());
        for page in &left_over {
            self.move_to(page.slot, TianwangQueue::Remained);
        }
        for &slot in new.iter().chain(&due).chain(&remained) {
            self.move_to(slot, TianwangQueue::Planned);
        }
        CyclePlan { new, due, remained, pushed: left_over.len() }
    }

    /// Puts back a planned page that its cycle did not fetch, so that it can be planned again.
    pub fn not_reached(&mut self, slot: Slot) {
        if self.is_planned(slot) {
            let never_tried = |info: &PageInfo| info.checkpoint_days.is_none() && info.disappear_times == 0;
            let is_new = self.page_info.get(slot).is_some_and(never_tried);
            self.move_to(slot, if is_new { TianwangQueue::NewQueue } else { TianwangQueue::Waiting });
        }
    }

    /// Takes in a look; `changed` is `None` when it found nothing. Pages that have disappeared are dropped; pages that
    /// reappear are kept again.
    pub fn looked(&mut self, slot: Slot, at_days: f64, changed: Option<bool>, belief: Gamma) {
        let Some(info) = self.page_info.get_mut(slot) else { return };
        let kept = match changed {
            Some(changed) => {
                info.found(at_days, changed, belief);
                true
            }
            None => info.not_found(at_days),
        };
        self.move_to(slot, if kept { TianwangQueue::Waiting } else { TianwangQueue::Dropped });
    }

    /// The belief about a page has changed without a look. A page that waits is due by the new one.
    pub fn believe(&mut self, slot: Slot, belief: Gamma) {
        if let Some(info) = self.page_info.get_mut(slot) {
            info.believe(belief);
        }
    }

    /// A page shows this many new addresses per day.
    pub fn shows(&mut self, slot: Slot, new_pages_per_day: f64) {
        if let Some(info) = self.page_info.get_mut(slot) {
            info.shows(new_pages_per_day);
        }
    }

    /// Name of the table that a page is in.
    pub fn table_of(&self, slot: Slot) -> Option<&'static str> {
        Some(match self.parsed_urls.get(slot)? {
            TianwangQueue::NewQueue => "NewURLQueue",
            TianwangQueue::Waiting | TianwangQueue::Planned => "PageInfo",
            TianwangQueue::Remained => "RemainedURLs",
            TianwangQueue::Dropped => "ParsedURLs",
        })
    }

    /// Moves a page of PageInfo to one place, out of any other.
    fn move_to(&mut self, slot: Slot, stage: TianwangQueue) {
        match self.parsed_urls.insert(slot, stage) {
            Some(TianwangQueue::NewQueue) => self.new_url_queue.remove(slot),
            Some(TianwangQueue::Remained) => self.remained_urls.remove(slot),
            _ => false,
        };
        match stage {
            // A page never tried was due at its discovery.
            TianwangQueue::NewQueue => {
                let discovered_days = self.page_info.get(slot).map_or(0.0, |info| info.next_crawl_days);
                self.new_url_queue.push(slot, discovered_days);
            }
            TianwangQueue::Remained => {
                self.ever_remained += 1.0;
                self.remained_urls.push(slot, self.ever_remained);
            }
            TianwangQueue::Waiting | TianwangQueue::Planned | TianwangQueue::Dropped => {}
        }
    }
}

fn take(queue: &mut DueQueue, most: usize) -> Vec<Slot> {
    (0..most.min(queue.len())).filter_map(|_| queue.pop()).map(|first| first.slot).collect()
}

/// Sort key: lower is sooner.
fn due_key(info: &PageInfo, now_days: f64, order: DueOrder) -> f64 {
    match order {
        DueOrder::EarliestDue => info.next_crawl_days,
        DueOrder::CrawlValue => info
            .checkpoint_days
            .map_or(f64::NEG_INFINITY, |at_days| -info.weight * info.belief.crawl_value_binary(now_days - at_days)),
    }
}
