//! The removal of pages, and of groups, cells and sites with the last of their pages.

use super::{REPORTED, SiteScore, SweepModel};
use crate::outlook::OutlookPart;
use crate::place::PagePlace;

impl SweepModel {
    /// Removes a page. Its evidence still counts for its siblings. Groups, cells and sites without pages go, and are
    /// returned.
    pub fn remove(&mut self, place: &PagePlace) -> Vec<OutlookPart> {
        self.sizes.remove(place);
        self.resize_groups(place);
        let mut removed = Vec::new();
        // The site last: its revision changes with each of the others.
        for hash in [place.cell].into_iter().chain(place.groups.into_iter().rev()) {
            if hash == 0 || self.sizes.get(hash) > 0 {
                continue;
            }
            // What is removed has no changes to publish.
            if let Some(number) = self.outlook.group_number(hash) {
                self.unreported[number as usize] = REPORTED;
            }
            if let Some(number) = self.outlook.cell_number(hash) {
                self.cells[number as usize].reported = true;
            }
            if let Some(score) = self.outlook.site_number(hash).and_then(|number| self.scores.get_mut(number as usize))
            {
                *score = SiteScore::default();
            }
            removed.extend(self.outlook.remove(hash, place.site));
        }
        removed
    }
}
