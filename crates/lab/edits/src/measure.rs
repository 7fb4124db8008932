//! Makes edits and noise of all kinds, and counts what the detector reports.

use crate::choice::{self, texts};
use crate::draw::Draw;
use crate::editable_page::EditablePage;
use crate::kinds::EDITS;
use crate::looks::{edit_in_noise_is_reported, edited, noise_is_reported, primed, time_of, truly_changing_is_reported};
use crate::noise::NOISE;
use crate::report::EditReport;
use archives::{Archive, ArchiveError};
use page::UrlRules;

/// Pages that each kind of noise is played on.
const NOISY_PAGES: usize = 32;

/// Makes edits and noise of all kinds on a sample of an archive's pages. Another seed draws other pages, places and
/// values.
pub fn measure(archive: &mut Archive, seed: u64, urls: &UrlRules) -> Result<EditReport, ArchiveError> {
    let pages = choice::choose(archive, seed)?;
    let mut report = EditReport::new(&pages);
    for page in &pages {
        let before = primed(page, urls);
        let mut current = before.clone();
        current.look(page.text.as_bytes(), time_of(page.earlier.len()));
        for (kind, row) in EDITS.iter().zip(&mut report.edits) {
            if let Some(edited) = edited(kind, page, seed) {
                row.add(page.half, usize::from(edited.is_reported(page, (&before, &current), urls)), 1);
            }
        }
    }
    let texts = texts(&pages, seed);
    let mut drawn: Vec<&EditablePage> = pages.iter().collect();
    for (kind, row) in NOISE.iter().zip(&mut report.noise) {
        drawn.sort_by_key(|page| Draw::of(seed, &page.address).of_kind(kind.name).number());
        let reported =
            drawn.iter().filter_map(|page| Some((page.half, noise_is_reported(kind, page, &texts, urls, seed)?)));
        for (half, reported) in reported.take(NOISY_PAGES) {
            row.add(half, reported.reported, reported.of);
        }
    }
    let [truly_changing, edit_in_noise] = &mut report.must_be_reported;
    let changing =
        drawn.iter().filter_map(|page| Some((page.half, truly_changing_is_reported(page, &texts, urls, seed)?)));
    for (half, reported) in changing.take(NOISY_PAGES) {
        truly_changing.add(half, reported.reported, reported.of);
    }
    let edited = drawn
        .iter()
        .enumerate()
        .filter_map(|(number, page)| Some((page.half, edit_in_noise_is_reported(number, page, &texts, urls, seed)?)));
    for (half, reported) in edited.take(2 * NOISY_PAGES) {
        edit_in_noise.add(half, usize::from(reported), 1);
    }
    Ok(report)
}
