//! The part of the sweep model that the choice of pages needs, and how it is published.

use crate::belief::CellPriors;
use crate::group_sizes::GroupSet;
use crate::hazard::Hazard;
use crate::numbers::{Numbers, put_at};
use crate::place::PagePlace;
use crate::rules::LEAD_START;
use crate::states::{InvalidState, SiteState};
use serde::{Deserialize, Serialize};

/// A group of pages that may be swept together.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupOutlook {
    /// Hash that identifies the group.
    pub group: u64,
    /// Hash of its site.
    pub site: u64,
    /// Number of pages at the last count.
    pub pages: u32,
    /// Past and expected sweeps.
    pub hazard: Hazard,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SiteOutlook {
    pub(crate) hash: u64,
    pub(crate) lead: f32,
    pub(crate) revision: u32,
}

/// The hazards of groups, the priors of cells, and the trust in sweeps at each site. Each gets a number when it is
/// first seen and keeps it until it is removed: frequent lookups go by number.
#[derive(Clone, Debug, Default)]
pub struct Outlook {
    pub(crate) groups: Vec<GroupOutlook>,
    pub(crate) group_numbers: Numbers,
    /// By group number: the size at the last revision of the site.
    revised_pages: Vec<u32>,
    /// By cell number.
    pub(crate) cells: Vec<CellPriors>,
    pub(crate) cell_numbers: Numbers,
    /// By site number.
    pub(crate) sites: Vec<SiteOutlook>,
    pub(crate) site_numbers: Numbers,
    revision: u64,
    /// The revision of a site that is not known, and of one that becomes known.
    first_revision: u32,
}

impl Outlook {
    /// The number of a group; `None` when it is not known.
    pub fn group_number(&self, group: u64) -> Option<u32> {
        self.group_numbers.get(group)
    }

    /// A group by its number.
    #[inline]
    pub fn group_at(&self, number: u32) -> Option<&GroupOutlook> {
        self.groups.get(number as usize)
    }

    /// A group by its hash.
    pub fn group(&self, group: u64) -> Option<&GroupOutlook> {
        self.group_number(group).and_then(|number| self.group_at(number))
    }

    /// The whole state of a group, as a change to an empty outlook.
    pub fn group_change(&self, group: u64) -> Option<GroupChange> {
        let GroupOutlook { group, site, pages, hazard } = self.group(group)?;
        let (first_bin, totals) = (hazard.first_bin(), hazard.totals().to_vec());
        let per_day = hazard.per_day() as f32;
        Some(GroupChange {
            group: *group,
            site: *site,
            pages: *pages,
            oldest_bin: first_bin,
            first_bin,
            totals,
            per_day,
        })
    }

    /// Number of known groups.
    pub fn group_count(&self) -> usize {
        self.group_numbers.len()
    }

    /// Number of known groups, cells and sites.
    pub fn len(&self) -> usize {
        self.group_numbers.len() + self.cell_numbers.len() + self.site_numbers.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The groups of a place that are large enough to count.
    pub fn groups_of(&self, place: &PagePlace) -> GroupSet {
        GroupSet::of(place, |group| self.group(group).map_or(0, |group| group.pages))
    }

    /// The number of a cell; `None` when it is not known.
    pub fn cell_number(&self, cell: u64) -> Option<u32> {
        self.cell_numbers.get(cell)
    }

    /// The number of a site; `None` when it is not known.
    pub fn site_number(&self, site: u64) -> Option<u32> {
        self.site_numbers.get(site)
    }

    /// The priors of a cell; the widest priors for an unknown cell.
    pub fn priors(&self, cell: u64) -> CellPriors {
        self.sent_priors(cell).unwrap_or_default()
    }

    /// The priors of a cell by its number; `None` for an unassigned number.
    #[inline]
    pub fn priors_at(&self, cell: u32) -> Option<CellPriors> {
        self.cells.get(cell as usize).copied()
    }

    /// The priors of a cell, if they were ever published.
    pub fn sent_priors(&self, cell: u64) -> Option<CellPriors> {
        self.cell_number(cell).map(|number| self.cells[number as usize])
    }

    /// By how much, in ln units, sweeps have predicted the site's looks better than own rates alone.
    pub fn lead(&self, site: u64) -> f64 {
        self.site(site).map_or(LEAD_START, |site| f64::from(site.lead))
    }

    /// Trust in sweeps at a site, 0..1: the weight of the belief with sweeps.
    pub fn trust(&self, site: u64) -> f64 {
        trust_of(self.lead(site))
    }

    /// The trust by the number of the site; `None` for an unassigned number.
    #[inline]
    pub fn trust_at(&self, site: u32) -> Option<f64> {
        self.sites.get(site as usize).map(|site| trust_of(f64::from(site.lead)))
    }

    fn site(&self, site: u64) -> Option<&SiteOutlook> {
        self.site_number(site).map(|number| &self.sites[number as usize])
    }

    /// Number of times that the groups of a site have changed so much that its pages must ask for
    /// [`Outlook::groups_of`] again.
    pub fn site_revision(&self, site: u64) -> u32 {
        self.site(site).map_or(self.first_revision, |site| site.revision)
    }

    /// Changes with the revision of any site, and when a cell or site gets its number or loses it.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Applies changes from elsewhere. Invalid ones are skipped; the first of them is the error.
    pub fn apply(&mut self, changes: &Changes) -> Result<(), InvalidState> {
        let mut problem = None;
        for change in &changes.groups {
            if let Err(error) = self.apply_group(change) {
                problem.get_or_insert(error);
            }
        }
        for change in &changes.cells {
            let priors = change.priors;
            let positive = |days: f64| days > 0.0 && days.is_finite();
            if positive(priors.own_beta_days) && positive(priors.plain_beta_days) {
                self.set_priors(change.cell, priors);
            } else {
                problem.get_or_insert(InvalidState::cell(change.cell, "a prior is not positive and finite"));
            }
        }
        for change in &changes.sites {
            if change.lead.is_finite() {
                self.site_mut(change.site).lead = change.lead;
            } else {
                problem.get_or_insert(InvalidState::site(change.site, "the lead is not finite"));
            }
        }
        problem.map_or(Ok(()), Err)
    }

    fn apply_group(&mut self, change: &GroupChange) -> Result<(), InvalidState> {
        let Some(hazard) = Hazard::from_totals(change.first_bin, change.totals.clone(), change.per_day) else {
            return Err(InvalidState::group(change.group, "hazards must be finite and their totals must not decrease"));
        };
        match self.group_number(change.group) {
            Some(number) => {
                let group = &mut self.groups[number as usize];
                group.hazard.splice(change.oldest_bin, change.first_bin, &change.totals, change.per_day);
                self.resize(number, change.pages);
            }
            None => {
                self.add_group(change.group, change.site, change.pages, hazard);
            }
        }
        Ok(())
    }

    pub(crate) fn add_group(&mut self, group: u64, site: u64, pages: u32, hazard: Hazard) -> u32 {
        let (number, _) = self.group_numbers.assign(group);
        put_at(&mut self.groups, number, GroupOutlook { group, site, pages, hazard });
        put_at(&mut self.revised_pages, number, pages);
        self.number_site(site);
        self.revise(site);
        number
    }

    /// Removes the group, the cell and the site of this hash, as far as they are known. Their numbers are given to others, so
    /// pages of the site must ask for theirs again.
    pub fn remove(&mut self, hash: u64, site: u64) -> Vec<OutlookPart> {
        let mut removed = Vec::new();
        if let Some(number) = self.group_numbers.remove(hash) {
            // The row waits for another group. Until then it shall take little memory.
            self.groups[number as usize].hazard = Hazard::starting_at(0, 0.0);
            self.groups[number as usize].pages = 0;
            removed.push(OutlookPart::Group(hash));
        }
        if let Some(number) = self.cell_numbers.remove(hash) {
            self.cells[number as usize] = CellPriors::default();
            removed.push(OutlookPart::Cell(hash));
        }
        if !removed.is_empty() {
            self.revise(site);
        }
        if let Some(number) = self.site_numbers.remove(hash) {
            let removed_site = &mut self.sites[number as usize];
            removed_site.lead = LEAD_START as f32;
            self.first_revision = self.first_revision.max(removed_site.revision).wrapping_add(1);
            self.revision += 1;
            removed.push(OutlookPart::Site(hash));
        }
        removed
    }

    /// Sets a group's size. Returns `true` when it differs by a tenth from the size at the site's last revision.
    pub(crate) fn resize(&mut self, number: u32, pages: u32) -> bool {
        let group = &mut self.groups[number as usize];
        group.pages = pages;
        let revised = &mut self.revised_pages[number as usize];
        let much = pages.abs_diff(*revised) > pages.max(*revised) / 10;
        if much {
            *revised = pages;
            let site = group.site;
            self.revise(site);
        }
        much
    }

    fn revise(&mut self, site: u64) {
        let revision = match self.site_numbers.get(site) {
            Some(number) => &mut self.sites[number as usize].revision,
            None => &mut self.first_revision,
        };
        *revision = revision.wrapping_add(1);
        self.revision += 1;
    }

    /// The number of a cell. A new cell is added with the widest priors.
    pub(crate) fn number_cell(&mut self, cell: u64) -> u32 {
        let (number, is_new) = self.cell_numbers.assign(cell);
        if is_new {
            put_at(&mut self.cells, number, CellPriors::default());
            self.revision += 1;
        }
        number
    }

    pub(crate) fn set_priors(&mut self, cell: u64, priors: CellPriors) {
        let number = self.number_cell(cell);
        self.cells[number as usize] = priors;
    }

    /// The number of a site. A new site is added.
    pub(crate) fn number_site(&mut self, site: u64) -> u32 {
        let (number, is_new) = self.site_numbers.assign(site);
        if is_new {
            let new = SiteOutlook { hash: site, lead: LEAD_START as f32, revision: self.first_revision };
            put_at(&mut self.sites, number, new);
            self.revision += 1;
        }
        number
    }

    pub(crate) fn site_mut(&mut self, site: u64) -> &mut SiteOutlook {
        let number = self.number_site(site);
        &mut self.sites[number as usize]
    }
}

/// A known part of an [`Outlook`], by its hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutlookPart {
    Group(u64),
    Cell(u64),
    Site(u64),
}

impl OutlookPart {
    pub fn hash(self) -> u64 {
        let (Self::Group(hash) | Self::Cell(hash) | Self::Site(hash)) = self;
        hash
    }
}

/// The weight of the belief with sweeps, from its lead over the other.
#[inline]
pub(crate) fn trust_of(lead: f64) -> f64 {
    1.0 / (1.0 + (-lead).exp())
}

/// Changes of an [`Outlook`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    /// Groups whose calendars or sizes changed.
    pub groups: Vec<GroupChange>,
    /// Cells whose priors changed.
    pub cells: Vec<CellChange>,
    /// Sites whose lead changed.
    pub sites: Vec<SiteState>,
}

impl Changes {
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty() && self.cells.is_empty() && self.sites.is_empty()
    }
}

/// The changed end of a group's [`Hazard`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupChange {
    /// Hash that identifies the group.
    #[serde(with = "crate::wire::bits")]
    pub group: u64,
    /// Hash of its site.
    #[serde(with = "crate::wire::bits")]
    pub site: u64,
    #[serde(with = "crate::wire::bits32")]
    pub pages: u32,
    /// The day of the oldest bin that is kept.
    pub oldest_bin: i32,
    /// The day of the first bin given here. Older bins stay as they are.
    pub first_bin: i32,
    /// [`Hazard::totals`] from `first_bin` on: before each bin, and after the last.
    pub totals: Vec<f32>,
    /// [`Hazard::per_day`].
    pub per_day: f32,
}

/// New priors of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellChange {
    /// Hash that identifies the cell.
    #[serde(with = "crate::wire::bits")]
    pub cell: u64,
    /// Hash of its site.
    #[serde(with = "crate::wire::bits")]
    pub site: u64,
    pub priors: CellPriors,
}
