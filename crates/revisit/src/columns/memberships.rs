//! Data that many pages share: places and groups.

use super::distinct::{Distinct, DistinctRow};
use crate::rows::Rows;
use chance::splitmix64;
use sweeps::{GroupKind, GroupNumbers, Outlook, PagePlace};

const KINDS: usize = GroupKind::ALL.len();
/// The revision of a membership before the outlook was asked.
const NOT_ASKED: u32 = u32::MAX;
/// The number of a cell or site that the outlook does not know.
const UNKNOWN: u32 = u32::MAX;

fn hash_of(parts: impl IntoIterator<Item = u64>) -> u64 {
    parts.into_iter().fold(0, |hash, part| splitmix64(hash ^ part))
}

/// A place without its subdirectory and its file name: on many sites each page has a subdirectory of its own.
#[derive(Clone, Copy, Debug)]
struct WidePlace {
    site: u64,
    cell: u64,
    groups: [u64; KINDS - 2],
    places: u32,
}

/// A place without its file name, which few pages share.
#[derive(Clone, Copy, Debug)]
struct SharedPlace {
    subdirectory: u64,
    /// Its number in [`Places::wide`].
    wide: u32,
    pages: u32,
}

impl DistinctRow for WidePlace {
    fn hash(&self) -> u64 {
        hash_of([self.site, self.cell].into_iter().chain(self.groups))
    }
}

impl DistinctRow for SharedPlace {
    fn hash(&self) -> u64 {
        hash_of([self.subdirectory, u64::from(self.wide)])
    }
}

/// Distinct places.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    wide: Distinct<WidePlace>,
    shared: Distinct<SharedPlace>,
}

impl Places {
    /// The number of a place, and the hash of its file name.
    pub(super) fn attach(&mut self, place: &PagePlace) -> (u32, u64) {
        let [site_group, host, directory, subdirectory, file_type, directory_file_type, file_name] = place.groups;
        let groups = [site_group, host, directory, file_type, directory_file_type];
        let row = WidePlace { site: place.site, cell: place.cell, groups, places: 0 };
        let is_it = |other: &WidePlace| (other.site, other.cell, other.groups) == (row.site, row.cell, row.groups);
        let wide = self.wide.find(row.hash(), is_it).unwrap_or_else(|| self.wide.add(row));
        let row = SharedPlace { subdirectory, wide, pages: 0 };
        let is_it = |other: &SharedPlace| (other.subdirectory, other.wide) == (subdirectory, wide);
        let number = self.shared.find(row.hash(), is_it).unwrap_or_else(|| {
            self.wide.rows[wide as usize].places += 1;
            self.shared.add(row)
        });
        self.shared.rows[number as usize].pages += 1;
        (number, file_name)
    }

    pub(super) fn detach(&mut self, number: u32) {
        let shared = &mut self.shared.rows[number as usize];
        shared.pages -= 1;
        if shared.pages == 0 {
            let wide = shared.wide;
            self.shared.remove(number);
            self.wide.rows[wide as usize].places -= 1;
            if self.wide.rows[wide as usize].places == 0 {
                self.wide.remove(wide);
            }
        }
    }

    pub(super) fn get(&self, number: u32, file_name: u64) -> PagePlace {
        let SharedPlace { subdirectory, wide, .. } = self.shared.rows[number as usize];
        let WidePlace { site, cell, groups, .. } = self.wide.rows[wide as usize];
        let [site_group, host, directory, file_type, directory_file_type] = groups;
        let groups = [site_group, host, directory, subdirectory, file_type, directory_file_type, file_name];
        PagePlace { site, cell, groups }
    }
}

/// The site, cell and groups that some pages share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Membership {
    /// Hashes.
    site_hash: u64,
    cell_hash: u64,
    /// Positions in [`Memberships::groups`].
    pub(super) groups: GroupNumbers,
    /// The site's revision by which its groups were chosen.
    revision: u32,
    /// Numbers in the outlook; [`UNKNOWN`] where it does not know them.
    pub(super) cell: u32,
    pub(super) site: u32,
    pages: u32,
}

impl DistinctRow for Membership {
    fn hash(&self) -> u64 {
        let groups = self.groups().iter().map(|group| u64::from(*group));
        hash_of([self.site_hash, self.cell_hash, u64::from(self.revision)].into_iter().chain(groups))
    }
}

impl Membership {
    pub(super) fn site_hash(&self) -> u64 {
        self.site_hash
    }

    pub(super) fn cell_hash(&self) -> u64 {
        self.cell_hash
    }

    /// Positions of its groups in [`Memberships::groups`].
    #[inline]
    pub(super) fn groups(&self) -> &[u32] {
        self.groups.as_slice()
    }

    pub(super) fn is_vacant(&self) -> bool {
        self.pages == 0
    }

    /// Whether the outlook knew its cell and its site.
    pub(super) fn is_known(&self) -> bool {
        self.cell != UNKNOWN && self.site != UNKNOWN
    }

    /// Whether its groups must be asked for again, now that its site is at this revision.
    pub(super) fn is_stale(&self, site_revision: u32) -> bool {
        !self.is_vacant() && self.revision != site_revision
    }

    fn is_same(&self, other: &Self) -> bool {
        let of = |row: &Self| (row.site_hash, row.cell_hash, row.revision, row.groups);
        of(self) == of(other)
    }
}

/// A group with pages held here.
#[derive(Clone, Copy, Debug)]
pub(super) struct HeldGroup {
    pub(super) group: u64,
    /// Its number in the outlook.
    pub(super) number: u32,
    /// Time of the last look at any page of it; negative infinity when there was none.
    pub(super) looked_days: f64,
    /// Time of the last request for a page of it that is still in flight; negative infinity without one.
    asked_days: f64,
    /// Sum of its pages' weights.
    pub(super) weight: f64,
    memberships: u32,
}

impl DistinctRow for HeldGroup {
    fn hash(&self) -> u64 {
        hash_of([self.group])
    }
}

/// Distinct memberships and groups.
#[derive(Clone, Debug, Default)]
pub(super) struct Memberships {
    distinct: Distinct<Membership>,
    groups: Distinct<HeldGroup>,
}

impl HeldGroup {
    /// Time of the last look into it, or of its last request in flight if that is later; negative infinity without any look.
    pub(super) fn silent_since_days(&self) -> f64 {
        // Without any look there is no copy, whatever is under way.
        if self.looked_days.is_infinite() { self.looked_days } else { self.looked_days.max(self.asked_days) }
    }
}

impl Memberships {
    /// By number.
    #[inline]
    pub(super) fn rows(&self) -> &Rows<Membership> {
        &self.distinct.rows
    }

    /// By position.
    #[inline]
    pub(super) fn groups(&self) -> &Rows<HeldGroup> {
        &self.groups.rows
    }

    /// The membership of a newly inserted page, whose groups were not asked for yet.
    pub(super) fn attach_new(&mut self, place: &PagePlace) -> u32 {
        self.attach_to(Membership {
            site_hash: place.site,
            cell_hash: place.cell,
            groups: GroupNumbers::default(),
            revision: NOT_ASKED,
            cell: UNKNOWN,
            site: UNKNOWN,
            pages: 0,
        })
    }

    /// The membership of a page by the current outlook.
    pub(super) fn attach(&mut self, place: &PagePlace, outlook: &Outlook) -> u32 {
        let groups = outlook.groups_of(place);
        let groups = GroupNumbers::new(groups.as_slice().iter().map(|&group| self.group(group, outlook)));
        self.attach_to(Membership {
            site_hash: place.site,
            cell_hash: place.cell,
            groups,
            revision: outlook.site_revision(place.site),
            cell: outlook.cell_number(place.cell).unwrap_or(UNKNOWN),
            site: outlook.site_number(place.site).unwrap_or(UNKNOWN),
            pages: 0,
        })
    }

    /// Looks up cells and sites that the outlook did not know before: it may learn of a cell long after its pages came.
    pub(super) fn ask_numbers(&mut self, outlook: &Outlook) {
        for row in self.distinct.rows.iter_mut().filter(|row| !row.is_vacant() && !row.is_known()) {
            row.cell = outlook.cell_number(row.cell_hash).unwrap_or(UNKNOWN);
            row.site = outlook.site_number(row.site_hash).unwrap_or(UNKNOWN);
        }
    }

    fn attach_to(&mut self, row: Membership) -> u32 {
        let known = self.distinct.find(row.hash(), |other| other.is_same(&row));
        let number = known.unwrap_or_else(|| {
            row.groups().iter().for_each(|group| self.groups.rows[*group as usize].memberships += 1);
            self.distinct.add(row)
        });
        self.distinct.rows[number as usize].pages += 1;
        number
    }

    fn group(&mut self, group: u64, outlook: &Outlook) -> u32 {
        let row = HeldGroup {
            group,
            number: u32::MAX,
            looked_days: f64::NEG_INFINITY,
            asked_days: f64::NEG_INFINITY,
            weight: 0.0,
            memberships: 0,
        };
        let known = self.groups.find(row.hash(), |other| other.group == group);
        let position = known.unwrap_or_else(|| self.groups.add(row));
        // It may have been removed from the outlook and have come back under another number.
        self.groups.rows[position as usize].number = outlook.group_number(group).unwrap_or(u32::MAX);
        position
    }

    pub(super) fn detach(&mut self, number: u32) {
        let row = &mut self.distinct.rows[number as usize];
        row.pages -= 1;
        if row.pages == 0 {
            let row = *row;
            self.distinct.remove(number);
            for &group in row.groups() {
                let shared = &mut self.groups.rows[group as usize];
                shared.memberships -= 1;
                if shared.memberships == 0 {
                    self.groups.remove(group);
                }
            }
        }
    }

    /// Adds to the weights of a membership's groups.
    pub(super) fn weigh(&mut self, number: u32, weight: f64) {
        let row = self.distinct.rows[number as usize];
        row.groups().iter().for_each(|group| self.groups.rows[*group as usize].weight += weight);
    }

    /// Notes that a page of this membership was chosen: its look counts for its groups, should it be answered.
    pub(super) fn asked(&mut self, number: u32, at_days: f64) {
        let row = self.distinct.rows[number as usize];
        row.groups().iter().for_each(|group| self.groups.rows[*group as usize].asked_days = at_days);
    }

    /// Notes that the look at a chosen page was not answered.
    pub(super) fn unanswered(&mut self, number: u32) {
        self.asked(number, f64::NEG_INFINITY);
    }

    /// Notes a look at a page of this membership.
    pub(super) fn looked(&mut self, number: u32, at_days: f64) {
        let row = self.distinct.rows[number as usize];
        for &group in row.groups() {
            let looked_days = &mut self.groups.rows[group as usize].looked_days;
            *looked_days = looked_days.max(at_days);
        }
    }
}
