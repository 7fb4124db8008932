//! Histories of pages: looks over days, with noise of one kind and an edit within it, and pages that truly change more or
//! less often than they are looked at.
//!
//! The noise and the edits are tables ([`fast`], [`slow`], [`changes`]). They stand on made pages, so that they can be
//! played anywhere, or on real ones. A history is played with the second looks that the detector wants, and without them, as
//! a record has it.

mod changes;
mod fast;
mod kinds;
mod made_pages;
mod made_pairs;
mod noisy;
mod recurring;
mod slow;
mod stilled;
mod template;
mod visit;

use self::changes::{CONTENTS, SCHEDULES};
use self::kinds::{HistoryKind, Pace};
use self::made_pages::PAGES;
use self::noisy::Surroundings;
use crate::choice::{self, Half};
use crate::draw::Draw;
use crate::editable_page::EditablePage;
use crate::markup::Markup;
use crate::report::ReportedRate;
use archives::{Archive, ArchiveError};
use page::UrlRules;

/// Type and address of a made page.
const HTML: &str = "text/html; charset=utf-8";
const ADDRESS: &str = "https://a.test/page";
/// The most bytes of a real page that histories are played on.
const MAX_BYTES: usize = 40_000;

/// How much was reported of the histories of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryRow {
    /// The noise or the change, and when it is looked at.
    pub name: String,
    /// Edits that were reported in their own words. All should be.
    pub edits: ReportedRate,
    /// Looks at noise that were reported, after eight versions. None should be.
    pub noise: ReportedRate,
}

impl HistoryRow {
    fn new(name: String) -> Self {
        Self { name, edits: ReportedRate::default(), noise: ReportedRate::default() }
    }

    /// The sum of rows.
    pub fn total(rows: &[Self]) -> Self {
        let sum = |of: fn(&Self) -> ReportedRate| rows.iter().map(of).fold(ReportedRate::default(), ReportedRate::plus);
        Self { edits: sum(|row| row.edits), noise: sum(|row| row.noise), ..Self::new("all".to_owned()) }
    }
}

/// Plays noise of all kinds, and edits within it, on made pages. Another seed draws other values.
pub fn noise_on_made_pages(seed: u64, urls: &UrlRules) -> Vec<HistoryRow> {
    let surroundings = PAGES.iter().map(|page| Surroundings::of_made(page));
    let surroundings: Vec<Surroundings<'_>> = surroundings.collect();
    kinds().map(|(kind, pace)| noisy::row(kind, pace, &surroundings, seed, urls)).collect()
}

/// Plays noise of all kinds that stands in HTML, and edits within it, on real pages: for each kind one page of each half.
pub fn noise_on_real_pages(archive: &mut Archive, seed: u64, urls: &UrlRules) -> Result<Vec<HistoryRow>, ArchiveError> {
    let pages = choice::choose(archive, seed)?;
    let fits = |page: &&EditablePage| page.markup() == Some(Markup::Html) && page.text.len() <= MAX_BYTES;
    let mut pages: Vec<&EditablePage> = pages.iter().filter(fits).collect();
    let mut row = |(kind, pace): (&HistoryKind, Pace)| {
        let draw = |page: &EditablePage| Draw::of(seed, &page.address).of_kind(kind.name);
        pages.sort_by_key(|page| draw(page).number());
        let of_half = |half| {
            let pages = pages.iter().filter(move |page| page.half == half);
            pages.filter_map(|page| Surroundings::of_real(&page.text, page.anchor(&mut draw(page))?)).next()
        };
        let surroundings: Vec<_> = [Half::Known, Half::HeldOut].into_iter().filter_map(of_half).collect();
        noisy::row(kind, pace, &surroundings, seed, urls)
    };
    Ok(kinds().filter(|(kind, _)| kind.is_block()).map(&mut row).collect())
}

/// Plays pages without noise that truly change, and pages whose noise has come to rest.
pub fn changes_on_made_pages(urls: &UrlRules) -> Vec<HistoryRow> {
    let schedules = |content| SCHEDULES.iter().map(move |schedule| changes::row(content, schedule, urls));
    CONTENTS.iter().flat_map(schedules).chain(stilled::rows(urls)).chain(recurring::rows(urls)).collect()
}

/// Plays pairs of versions that say the same in another shape, or another thing in a shape that is hard to read.
pub fn pairs_on_made_pages(urls: &UrlRules) -> Vec<HistoryRow> {
    made_pairs::rows(urls).collect()
}

/// All kinds of noise. What differs at each request is also played as a page that a cache keeps for a while.
fn kinds() -> impl Iterator<Item = (&'static HistoryKind, Pace)> {
    let fast = fast::FAST.iter().flat_map(|kind| [(kind, Pace::Request), (kind, Pace::KeptRequest)]);
    fast.chain(slow::SLOW.iter().map(|kind| (kind, Pace::Visit)))
}
