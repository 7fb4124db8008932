//! Data that many pages share: places and groups.

use std::collections::HashMap;
use sweeps::{GroupKind, GroupNumbers, GroupSet, HashMapByHash, Outlook, PagePlace};

const KINDS: usize = GroupKind::ALL.len();
/// The revision of a membership before the outlook was asked.
const NOT_ASKED: u32 = u32::MAX;
/// The number of a cell or site that the outlook does not know.
const UNKNOWN: u32 = u32::MAX;

/// A place without its file name, which few pages share.
type SharedPlace = [u64; KINDS + 1];

/// Distinct places.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    rows: Vec<(SharedPlace, u32)>,
    numbers: HashMap<SharedPlace, u32>,
    vacant: Vec<u32>,
}

impl Places {
    /// The number of a place, and the hash of its file name.
    pub(super) fn attach(&mut self, place: &PagePlace) -> (u32, u64) {
        let mut shared = [0; KINDS + 1];
        shared[0] = place.site;
        shared[1] = place.cell;
        shared[2..].copy_from_slice(&place.groups[..KINDS - 1]);
        let number = *self.numbers.entry(shared).or_insert_with(|| match self.vacant.pop() {
            Some(number) => {
                self.rows[number as usize] = (shared, 0);
                number
            }
            None => {
                self.rows.push((shared, 0));
                self.rows.len() as u32 - 1
            }
        });
        self.rows[number as usize].1 += 1;
        (number, place.groups[KINDS - 1])
    }

    pub(super) fn detach(&mut self, number: u32) {
        let (shared, pages) = &mut self.rows[number as usize];
        *pages -= 1;
        if *pages == 0 {
            self.numbers.remove(shared);
            self.vacant.push(number);
        }
    }

    pub(super) fn get(&self, number: u32, file_name: u64) -> PagePlace {
        let (shared, _) = &self.rows[number as usize];
        let mut groups = [file_name; KINDS];
        groups[..KINDS - 1].copy_from_slice(&shared[2..]);
        PagePlace { site: shared[0], cell: shared[1], groups }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct MembershipKey {
    site: u64,
    cell: u64,
    groups: GroupSet,
    revision: u32,
}

/// The site, cell and groups that some pages share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Membership {
    key: MembershipKey,
    /// Numbers in the outlook; [`UNKNOWN`] where it does not know them.
    pub(super) cell: u32,
    pub(super) site: u32,
    /// Positions in [`Memberships::groups`].
    pub(super) groups: GroupNumbers,
    pages: u32,
}

impl Membership {
    pub(super) fn site_hash(&self) -> u64 {
        self.key.site
    }

    pub(super) fn cell_hash(&self) -> u64 {
        self.key.cell
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
        !self.is_vacant() && self.key.revision != site_revision
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

/// Distinct memberships and groups.
#[derive(Clone, Debug, Default)]
pub(super) struct Memberships {
    pub(super) rows: Vec<Membership>,
    numbers: HashMap<MembershipKey, u32>,
    vacant: Vec<u32>,
    pub(super) groups: Vec<HeldGroup>,
    group_numbers: HashMapByHash<u32>,
    vacant_groups: Vec<u32>,
}

impl HeldGroup {
    /// Time of the last look into it, or of its last request in flight if that is later; negative infinity without any look.
    pub(super) fn silent_since_days(&self) -> f64 {
        // Without any look there is no copy, whatever is under way.
        if self.looked_days.is_infinite() { self.looked_days } else { self.looked_days.max(self.asked_days) }
    }
}

impl Memberships {
    /// The membership of a newly inserted page, whose groups were not asked for yet.
    pub(super) fn attach_new(&mut self, place: &PagePlace) -> u32 {
        let key =
            MembershipKey { site: place.site, cell: place.cell, groups: GroupSet::default(), revision: NOT_ASKED };
        self.attach_to(Membership { key, cell: UNKNOWN, site: UNKNOWN, groups: GroupNumbers::default(), pages: 0 })
    }

    /// The membership of a page by the current outlook.
    pub(super) fn attach(&mut self, place: &PagePlace, outlook: &Outlook) -> u32 {
        let groups = outlook.groups_of(place);
        let key =
            MembershipKey { site: place.site, cell: place.cell, groups, revision: outlook.site_revision(place.site) };
        if let Some(&number) = self.numbers.get(&key) {
            self.rows[number as usize].pages += 1;
            return number;
        }
        let groups = GroupNumbers::new(groups.as_slice().iter().map(|&group| self.group(group, outlook)));
        self.attach_to(Membership {
            key,
            cell: outlook.cell_number(place.cell).unwrap_or(UNKNOWN),
            site: outlook.site_number(place.site).unwrap_or(UNKNOWN),
            groups,
            pages: 0,
        })
    }

    /// Looks up cells and sites that the outlook did not know before: it may learn of a cell long after its pages came.
    pub(super) fn ask_numbers(&mut self, outlook: &Outlook) {
        for row in self.rows.iter_mut().filter(|row| !row.is_vacant() && !row.is_known()) {
            row.cell = outlook.cell_number(row.key.cell).unwrap_or(UNKNOWN);
            row.site = outlook.site_number(row.key.site).unwrap_or(UNKNOWN);
        }
    }

    fn attach_to(&mut self, row: Membership) -> u32 {
        let Self { rows, vacant, groups, .. } = self;
        let number = *self.numbers.entry(row.key).or_insert_with(|| {
            row.groups().iter().for_each(|group| groups[*group as usize].memberships += 1);
            seat(rows, vacant, row)
        });
        self.rows[number as usize].pages += 1;
        number
    }

    fn group(&mut self, group: u64, outlook: &Outlook) -> u32 {
        let Self { groups, vacant_groups, .. } = self;
        let position = *self.group_numbers.entry(group).or_insert_with(|| {
            let row = HeldGroup {
                group,
                number: u32::MAX,
                looked_days: f64::NEG_INFINITY,
                asked_days: f64::NEG_INFINITY,
                weight: 0.0,
                memberships: 0,
            };
            seat(groups, vacant_groups, row)
        });
        // It may have been removed from the outlook and have come back under another number.
        groups[position as usize].number = outlook.group_number(group).unwrap_or(u32::MAX);
        position
    }

    pub(super) fn detach(&mut self, number: u32) {
        let row = &mut self.rows[number as usize];
        row.pages -= 1;
        if row.pages == 0 {
            let row = *row;
            self.numbers.remove(&row.key);
            self.vacant.push(number);
            for &group in row.groups() {
                let shared = &mut self.groups[group as usize];
                shared.memberships -= 1;
                if shared.memberships == 0 {
                    self.group_numbers.remove(&shared.group);
                    self.vacant_groups.push(group);
                }
            }
        }
    }

    /// Adds to the weights of a membership's groups.
    pub(super) fn weigh(&mut self, number: u32, weight: f64) {
        let row = self.rows[number as usize];
        row.groups().iter().for_each(|group| self.groups[*group as usize].weight += weight);
    }

    /// Notes that a page of this membership was chosen: its look counts for its groups, should it be answered.
    pub(super) fn asked(&mut self, number: u32, at_days: f64) {
        let row = self.rows[number as usize];
        row.groups().iter().for_each(|group| self.groups[*group as usize].asked_days = at_days);
    }

    /// Notes that the look at a chosen page was not answered.
    pub(super) fn unanswered(&mut self, number: u32) {
        self.asked(number, f64::NEG_INFINITY);
    }

    /// Notes a look at a page of this membership.
    pub(super) fn looked(&mut self, number: u32, at_days: f64) {
        let row = self.rows[number as usize];
        for &group in row.groups() {
            let looked_days = &mut self.groups[group as usize].looked_days;
            *looked_days = looked_days.max(at_days);
        }
    }
}

/// Puts a row at a vacant position or at the end. Returns its position.
fn seat<T>(rows: &mut Vec<T>, vacant: &mut Vec<u32>, row: T) -> u32 {
    match vacant.pop() {
        Some(number) => {
            rows[number as usize] = row;
            number
        }
        None => {
            rows.push(row);
            rows.len() as u32 - 1
        }
    }
}
