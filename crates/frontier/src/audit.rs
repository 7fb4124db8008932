//! How many copies are current, really? A small share of the budget goes to pages drawn at random, whatever the policy
//! thinks of them; how many of them are found unchanged is an unbiased measure of freshness.

use crate::page_index::PageIndex;
use crate::page_record::ScheduledPage;
use messages::Verdict;
use page::Timestamp;
use revisit::columns::{LastLook, Slot, Standing};

/// Looks that may pile up: a host that is away must not cause a burst of them.
const MOST_EARNED: f64 = 16.0;
/// Draws until one can be fetched: with fewer than one page in twenty ready, the next tick tries again.
const DRAWS: u64 = 64;

/// The audit's own part of the budget, and where its draws have come to.
#[derive(Default)]
pub(crate) struct Audit {
    tokens: f64,
    draws: u64,
    pub(crate) looks: u64,
    pub(crate) fresh: u64,
}

impl Audit {
    /// Adds its part of what the budget has earned.
    pub(crate) fn earn(&mut self, fetches: f64) {
        self.tokens = (self.tokens + fetches).min(MOST_EARNED);
    }

    /// Counts the answer to an audit.
    pub(crate) fn judge(&mut self, page: &mut ScheduledPage, verdict: Verdict) {
        let Some(changed) = verdict.is_change() else { return };
        let fresh = !changed;
        page.audits += 1;
        page.audits_fresh += i64::from(fresh);
        self.looks += 1;
        self.fresh += u64::from(fresh);
    }

    /// The page to audit now, if the audit has earned one: any with a copy, all with the same probability, on a host
    /// that has room.
    pub(crate) fn draw(
        &mut self,
        pages: &PageIndex,
        partition: u32,
        now: Timestamp,
        has_room: impl Fn(u32) -> bool,
    ) -> Option<Slot> {
        let slots = pages.columns.slots() as u64;
        if self.tokens < 1.0 || slots == 0 {
            return None;
        }
        for _ in 0..DRAWS {
            self.draws += 1;
            // The time makes the draws of another life other ones.
            let seed = (u64::from(partition) << 32) ^ (now.as_micros() as u64).rotate_left(17) ^ self.draws;
            let slot = Slot::new(((u128::from(mix(seed)) * u128::from(slots)) >> 64) as u32);
            let Some(entry) = pages.columns.get(slot) else { continue };
            let has_copy = matches!(entry.last_look, LastLook::Looked(_));
            if has_copy && entry.standing == Standing::Ready && has_room(entry.host) {
                self.tokens -= 1.0;
                return Some(slot);
            }
        }
        None
    }
}

/// The finisher of splitmix64 (Steele, Lea & Flood 2014): near numbers become unrelated ones.
fn mix(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
