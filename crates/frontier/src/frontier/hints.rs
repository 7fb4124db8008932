//! Takes in hints, judges them by looks, and finds the pages that they raise to the price.

use super::Frontier;
use crate::hint_record::{KINDS, place_of};
use crate::hints::{CERTAIN, LIKELY, hazard_of, value_of_list, value_with_hints};
use crate::page_record::ScheduledPage;
use crate::request::WantedReason;
use messages::{ChangeHint, Verdict};
use page::{PageId, Timestamp};
use revisit::columns::{PageStatus, Slot};

impl Frontier {
    /// Takes in a hint that a page changed. Returns `false` when it adds nothing.
    pub fn take_hint(&mut self, hint: &ChangeHint, id: PageId, page: &mut ScheduledPage) -> bool {
        let number = place_of(hint.kind);
        let bit = 1 << number;
        // The last look saw what happened before it, and a repeated hint is no new evidence.
        let news = hint.changed_at.is_none_or(|changed_at| page.last_look_at.is_some_and(|look| look < changed_at));
        if !news || page.last_look_at.is_none() || page.hinted & bit != 0 {
            return false;
        }
        let host = self.hosts.of(&page.url);
        let precision = self.hosts.gate(host).hints.precision(number);
        page.hinted |= bit;
        page.hint_hazard = (page.hint_hazard + hazard_of(precision)).min(CERTAIN);
        if !self.rules.values_hints() && !page.request.is_in_flight() && -(-page.hint_hazard).exp_m1() >= LIKELY {
            page.request = page.request.want(WantedReason::Command);
        }
        self.counts.hints += 1;
        self.set(id, page);
        true
    }

    /// A look has shown whether the hints before it, or their absence, were right. The columns still hold the page as
    /// it was before the look.
    pub(crate) fn judge_hints(&mut self, id: PageId, page: &mut ScheduledPage, verdict: Verdict, looked_at: Timestamp) {
        let Some(changed) = verdict.is_change() else { return };
        let host = self.hosts.of(&page.url);
        if page.hinted == 0 && self.hosts.gate(host).hints.is_empty() {
            return;
        }
        let columns = &self.pages.columns;
        let slot = self.pages.slot(id);
        let worth = slot.and_then(|slot| columns.worth(slot, &self.rules.index, &self.outlook, looked_at));
        let Some(expected_fresh) = worth.map(|worth| worth.fresh_probability) else { return };
        let gate = self.hosts.gate_mut(host);
        for number in 0..KINDS.len() {
            gate.hints.learn(number, page.hinted & (1 << number) != 0, changed, expected_fresh);
        }
        self.hosts.mark_changed(host);
        (page.hinted, page.hint_hazard) = (0, 0.0);
    }

    /// Pages that hints have raised to the price, and lists worth a fetch for the changes they may announce, the best
    /// first.
    pub(crate) fn hinted(&self, now: Timestamp) -> Vec<Slot> {
        let (index, price) = (self.rules.index, self.demand.price());
        let worth = |slot: Slot| {
            let entry = self.pages.columns.get(slot).filter(|entry| entry.status == PageStatus::Ready)?;
            Some((entry.host, self.pages.columns.worth(slot, &index, &self.outlook, now)?))
        };
        let pages = self.pages.hinted.iter().filter_map(|(&slot, &hazard)| {
            let (_, worth) = worth(slot)?;
            Some((value_with_hints(&worth, &index, hazard), slot))
        });
        // Without a price, the cost of following a list is unknown.
        let lists = self.pages.lists.iter().filter(|_| price > 0.0).filter_map(|(&slot, list)| {
            let (host, worth) = worth(slot)?;
            let precision = self.hosts.gate(host).hints.precision(list.kind);
            Some((value_of_list(&worth, &index, list.pages, precision, price), slot))
        });
        let mut due: Vec<(f64, Slot)> = pages.chain(lists).filter(|(value, _)| *value >= price).collect();
        due.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        due.into_iter().map(|(_, slot)| slot).collect()
    }
}
