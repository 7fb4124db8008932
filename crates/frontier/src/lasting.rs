//! How far the copies of found pages last, and how much a site may ask for beyond the worth of its pages.
//!
//! A copy that was never found current again has kept no page fresh. A few such looks are chance, or a page that is
//! learned to be fast. A site without any other look is a server that makes its pages up. So a page that links led to has a share of
//! its looks left, which falls with each look at its site that finds another text. On a new site it is the share that the looks at all pages
//! that links led to leave. Where one look in five finds the copy current, nothing is lost: the front page of a site may change at
//! each look if its articles last. Pages that an operator named or weighed are left as they are.
//!
//! The value of a look grows with the square of the time since the last one, so a share of the looks is the square of that
//! share of the weight.

use crate::page_record::ScheduledPage;
use revisit::columns::Slot;
use revisit::rows::Rows;
use std::collections::HashMap;

/// Looks at the pages of a site that may all find a change, …
const FIRST_OF_SITE: f64 = 8.0;
/// … and looks at all pages that links led to.
const FIRST_OF_ALL: f64 = 32.0;
/// How many more a look allows that finds the copy current.
const LOOKS_EARNED: f64 = 5.0;
/// Looks at one page that count for others: a front page is looked at often, and says little of what it links to.
const LOOKS_THAT_COUNT: u64 = 8;
/// Looks at once that a site may ask for before any of its copies was found current; fewer where copies do not last, and one at
/// least. Each look that finds one current allows one more.
const FIRST_ASKED: f64 = 8.0;

/// Looks at a page that could have found its copy current.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Looks {
    all: u64,
    /// Those that found the copy current.
    current: u64,
}

impl Looks {
    /// Those that compared the page with its copy.
    pub(crate) fn at(page: &ScheduledPage) -> Self {
        let all = page.belief.observations.max(0);
        Self { all: all.unsigned_abs(), current: (all - page.belief.changes).clamp(0, all).unsigned_abs() }
    }

    /// The share of the looks that is left after these, if `first` of them count at the share of `others`.
    fn share(self, first: f64, others: f64) -> f64 {
        let allowed = first * others + LOOKS_EARNED * self.current as f64;
        (allowed / first.max(self.all as f64)).min(1.0)
    }

    fn change(&mut self, before: Self, after: Self) {
        self.all = self.all + after.all - before.all;
        self.current = self.current + after.current - before.current;
    }
}

/// The looks at all pages, by site. All but what sites have asked for follows from the records of the pages.
#[derive(Debug, Default)]
pub(crate) struct LastingCopies {
    /// By the hash of the site, while it has pages.
    sites: HashMap<u64, SiteLooks>,
    /// At pages that links led to.
    found: Looks,
    /// By slot.
    pages: Rows<PackedNote>,
}

/// The note about a page.
#[derive(Clone, Copy, Debug, Default)]
struct Noted {
    /// The looks that count for others, and those of them that found the copy current.
    all: u8,
    current: u8,
    /// Whether links led to it.
    is_found: bool,
    /// The share of its looks that its weight allows.
    share: f32,
}

impl Noted {
    fn new(looks: Looks, is_found: bool, share: f64) -> Self {
        let counted = |looks: u64| looks.min(LOOKS_THAT_COUNT) as u8;
        Self { all: counted(looks.all), current: counted(looks.current), is_found, share: share as f32 }
    }

    /// The looks that count for other pages of the site.
    fn for_site(self) -> Looks {
        Looks { all: self.all.into(), current: self.current.into() }
    }

    /// The looks that count for pages of other sites. An operator's choice says nothing of where links lead.
    fn for_other_sites(self) -> Looks {
        if self.is_found { self.for_site() } else { Looks::default() }
    }
}

/// A note in four bytes; 0 without a page. The share keeps 14 bits of its fraction.
#[derive(Clone, Copy, Debug, Default)]
struct PackedNote(u32);

impl PackedNote {
    const PRESENT: u32 = 1 << 9;
    const FOUND: u32 = 1 << 8;

    fn new(note: Noted) -> Self {
        let share = note.share.to_bits() >> 9;
        let looks = u32::from(note.all) << 4 | u32::from(note.current);
        let found = if note.is_found { Self::FOUND } else { 0 };
        Self(share << 10 | Self::PRESENT | found | looks)
    }

    fn note(self) -> Option<Noted> {
        let Self(bits) = self;
        (bits & Self::PRESENT != 0).then_some(Noted {
            all: (bits >> 4 & 15) as u8,
            current: (bits & 15) as u8,
            is_found: bits & Self::FOUND != 0,
            share: f32::from_bits(bits >> 10 << 9),
        })
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct SiteLooks {
    pages: u32,
    /// Looks that it has asked for beyond what it has earned. A process that starts forgets it.
    asked: u32,
    looks: Looks,
}

impl LastingCopies {
    /// The share of its looks that is left to a page of this site after these. Its own may prove that its copies last, and
    /// those of the site that they do.
    pub(crate) fn share(&self, site: u64, looks: Looks) -> f64 {
        looks.share(1.0, 0.0).max(self.share_of_new(site))
    }

    /// The same for a page of this site without looks.
    pub(crate) fn share_of_new(&self, site: u64) -> f64 {
        let looks = self.sites.get(&site).map(|of_site| of_site.looks).unwrap_or_default();
        looks.share(FIRST_OF_SITE, self.found.share(FIRST_OF_ALL, 1.0))
    }

    /// Notes the looks at a page, and the share of them that its weight allows from now on.
    pub(crate) fn set(&mut self, slot: Slot, site: u64, page: &ScheduledPage, share: f64) {
        self.note(slot, site, Noted::new(Looks::at(page), page.depth > 0, share));
    }

    fn note(&mut self, slot: Slot, site: u64, after: Noted) {
        let noted = self.pages.at(slot.index(), PackedNote::default());
        let before = std::mem::replace(noted, PackedNote::new(after)).note();
        let of_site = self.sites.entry(site).or_default();
        of_site.pages += u32::from(before.is_none());
        let before = before.unwrap_or_default();
        of_site.looks.change(before.for_site(), after.for_site());
        self.found.change(before.for_other_sites(), after.for_other_sites());
    }

    /// A page is no longer known.
    pub(crate) fn remove(&mut self, slot: Slot, site: u64) {
        let noted = self.pages.get_mut(slot.index()).map(std::mem::take);
        let Some(before) = noted.and_then(PackedNote::note) else { return };
        self.found.change(before.for_other_sites(), Looks::default());
        if let Some(of_site) = self.sites.get_mut(&site) {
            of_site.looks.change(before.for_site(), Looks::default());
            of_site.pages -= 1;
            if of_site.pages == 0 {
                self.sites.remove(&site);
            }
        }
    }

    /// Whether a page has at most half the share left that its weight allows.
    pub(crate) fn has_fallen(&self, slot: Slot, share: f64) -> bool {
        let noted = self.pages.get(slot.index()).and_then(|noted| noted.note());
        noted.is_some_and(|noted| share <= f64::from(noted.share) / 2.0)
    }

    /// A site asks for a look at once, whatever it is worth. Returns whether it gets it.
    pub(crate) fn grants(&mut self, site: u64) -> bool {
        let first = FIRST_ASKED * self.share_of_new(site);
        let has_credit = |of_site: &SiteLooks| f64::from(of_site.asked) < first + of_site.looks.current as f64;
        let of_site = self.sites.get_mut(&site).filter(|of_site| has_credit(of_site));
        of_site.is_some_and(|of_site| {
            of_site.asked += 1;
            true
        })
    }

    /// A look has found a copy of the site current.
    pub(crate) fn earn(&mut self, site: u64) {
        if let Some(of_site) = self.sites.get_mut(&site) {
            of_site.asked = of_site.asked.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests;
