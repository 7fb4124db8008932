//! Measures freshness. A small share of the budget goes to pages drawn at random, independent of the policy. The share
//! of them found unchanged is an unbiased estimate of freshness.

use crate::page_index::PageIndex;
use crate::page_record::ScheduledPage;
use messages::Verdict;
use page::Timestamp;
use revisit::columns::{LastLook, PageStatus, Slot};

/// Cap on saved-up audits, so that a host that was away causes no burst of them.
const MOST_EARNED: f64 = 16.0;
/// Draws per audit. With fewer than one page in twenty ready, the next tick tries again.
const DRAWS: u64 = 64;

/// The audit's share of the budget, and the state of its draws.
#[derive(Default)]
pub(crate) struct Audit {
    tokens: f64,
    draws: u64,
    pub(crate) looks: u64,
    pub(crate) fresh: u64,
}

impl Audit {
    /// Adds the audit's share of the earned budget.
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

    /// Draws the page to audit now, if the audit has earned one. Every page with a copy is equally likely; its host
    /// must have room.
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
            // The time varies the draws between restarts.
            let seed = (u64::from(partition) << 32) ^ (now.as_micros() as u64).rotate_left(17) ^ self.draws;
            let slot = Slot::new(((u128::from(mix(seed)) * u128::from(slots)) >> 64) as u32);
            let Some(entry) = pages.columns.get(slot) else { continue };
            let has_copy = matches!(entry.last_look, LastLook::Looked(_));
            if has_copy && entry.status == PageStatus::Ready && has_room(entry.host) {
                self.tokens -= 1.0;
                return Some(slot);
            }
        }
        None
    }
}

/// The finisher of splitmix64 (Steele, Lea & Flood 2014): maps neighbouring numbers to unrelated ones.
fn mix(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
