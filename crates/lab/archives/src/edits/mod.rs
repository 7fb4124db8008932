//! Edits that the detector must report and noise that it must not, made on real pages.
//!
//! Labels are the judgements of one archive on the changes that it saw. They say nothing of the changes that people
//! watch pages for. So here an edit of one kind is made in the newest version of a real page, where a reader counts
//! what stands, and the detector looks at the page before and after it, as it runs live
//! ([`LivePage`](crate::LivePage)). Noise is made in the same way: one element of a real page differs at every fetch.
//!
//! [`Archive::edits`] returns how much of each kind was reported. [`Archive::edit_pairs`] shows a sample of the same edits
//! and noise as pairs of versions, for other rules. Everything is drawn by a seed.

mod choice;
mod controls;
mod data;
mod draw;
mod editable_page;
mod fixtures;
mod html_places;
mod in_place;
mod kinds;
mod languages;
mod line_places;
mod looks;
mod markup;
mod noise;
mod pairs;
mod places;
mod report;
mod structure;
mod values;

pub use self::choice::Half;
pub use self::kinds::Origin;
pub use self::pairs::EditPair;
pub use self::report::{EditReport, ReportedRate, ReportedRow};

use self::draw::Draw;
use self::editable_page::EditablePage;
use self::kinds::EDITS;
use self::looks::{edit_in_noise_is_reported, edited, noise_is_reported, primed, truly_changing_is_reported};
use self::noise::NOISE;
use self::places::Place;
use crate::archive::{Archive, ArchiveError};
use page::UrlRules;

/// Pages that each kind of noise is played on.
const NOISY_PAGES: usize = 32;
/// Texts of real pages that other texts are made of.
const TEXTS: usize = 400;

impl Archive {
    /// Makes edits and noise of all kinds on a sample of the pages. Another seed draws other pages, places and values.
    /// After each step, `progress` gets the number of finished steps and of all.
    pub fn edits(
        &mut self,
        seed: u64,
        urls: &UrlRules,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<EditReport, ArchiveError> {
        let pages = choice::choose(self, seed)?;
        let mut report = EditReport::new(&pages);
        let steps = pages.len() + NOISE.len();
        for (number, page) in pages.iter().enumerate() {
            let before = primed(page, urls);
            let mut current = before.clone();
            current.look(page.text.as_bytes(), looks::time_of(page.earlier.len()));
            for (kind, row) in EDITS.iter().zip(&mut report.edits) {
                if let Some(edited) = edited(kind, page, seed) {
                    row.add(page.half, usize::from(edited.is_reported(page, (&before, &current), urls)), 1);
                }
            }
            progress(number + 1, steps);
        }
        let texts = texts(&pages, seed);
        let mut drawn: Vec<&EditablePage> = pages.iter().collect();
        for (number, kind) in NOISE.iter().enumerate() {
            drawn.sort_by_key(|page| Draw::of(seed, &page.address).of_kind(kind.name).number());
            let reported =
                drawn.iter().filter_map(|page| Some((page.half, noise_is_reported(kind, page, &texts, urls, seed)?)));
            for (half, reported) in reported.take(NOISY_PAGES) {
                report.noise[number].add(half, reported.reported, reported.of);
            }
            progress(pages.len() + number + 1, steps);
        }
        let [truly_changing, edit_in_noise] = &mut report.must_be_reported;
        let changing =
            drawn.iter().filter_map(|page| Some((page.half, truly_changing_is_reported(page, &texts, urls, seed)?)));
        for (half, reported) in changing.take(NOISY_PAGES) {
            truly_changing.add(half, reported.reported, reported.of);
        }
        let edited = drawn.iter().enumerate().filter_map(|(number, page)| {
            Some((page.half, edit_in_noise_is_reported(number, page, &texts, urls, seed)?))
        });
        for (half, reported) in edited.take(2 * NOISY_PAGES) {
            edit_in_noise.add(half, usize::from(reported), 1);
        }
        Ok(report)
    }
}

/// Paragraphs of the pages, as texts that other pages may say.
fn texts(pages: &[EditablePage], seed: u64) -> Vec<String> {
    let of_page = |page: &EditablePage| {
        let texts = page.places.spots_of(Place::Paragraph).filter_map(|spot| spot.texts.first().cloned());
        let long = texts.map(|range| page.text[range].trim().to_owned()).filter(|text| text.len() >= 60);
        long.take(8).collect::<Vec<_>>()
    };
    let mut texts: Vec<String> = pages.iter().flat_map(of_page).collect();
    texts.sort_by_cached_key(|text| Draw::of(seed, text).number());
    texts.dedup();
    texts.truncate(TEXTS);
    texts
}
