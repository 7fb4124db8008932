//! Edits and noise as pairs of versions, for rules that compare only two.

use crate::choice::{self, Half, texts};
use crate::draw::Draw;
use crate::editable_page::EditablePage;
use crate::kinds::{EDITS, EditKind};
use crate::looks::{Edited, LOOK_S, edited, is_reported, noisy_looks, primed, time_of};
use crate::noise::{NOISE, NoiseKind};
use archives::{Archive, ArchiveError};
use page::UrlRules;

/// Two versions of a page that differ by one edit, or by noise alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditPair {
    pub kind: &'static str,
    /// Whether nothing but noise differs.
    pub is_noise: bool,
    /// The half that the page belongs to.
    pub half: Half,
    /// As a server names it.
    pub content_type: &'static str,
    pub before: String,
    pub after: String,
    /// Whether the detector reports a change when it knows no version but this pair's and up to two earlier ones
    /// without the edit or noise.
    pub reported_at_first_sight: bool,
    /// Whether the detector reports a change at the end of the looks that the benchmark makes. For an edit these are
    /// the ones above; noise has shown itself before.
    pub reported: bool,
}

/// Shows pairs of each kind of edit and noise, of as many pages as `per_kind` says or as have a place for the kind.
pub fn for_each_pair(
    archive: &mut Archive,
    seed: u64,
    urls: &UrlRules,
    per_kind: usize,
    show: &mut dyn FnMut(&EditPair),
) -> Result<(), ArchiveError> {
    let pages = choice::choose(archive, seed)?;
    let texts = texts(&pages, seed);
    let mut drawn: Vec<&EditablePage> = pages.iter().collect();
    let mut draw_for = |name: &str| {
        drawn.sort_by_key(|page| Draw::of(seed, &page.address).of_kind(name).number());
        drawn.clone()
    };
    for kind in &EDITS {
        let pages = draw_for(kind.name);
        pages.iter().filter_map(|page| edit_pair(kind, page, urls, seed)).take(per_kind).for_each(|pair| show(&pair));
    }
    for kind in &NOISE {
        let pages = draw_for(kind.name);
        let pairs = pages.iter().filter_map(|page| noise_pair(kind, page, &texts, urls, seed));
        pairs.take(per_kind).for_each(|pair| show(&pair));
    }
    Ok(())
}

fn edit_pair(kind: &EditKind, page: &EditablePage, urls: &UrlRules, seed: u64) -> Option<EditPair> {
    let edited = edited(kind, page, seed)?;
    let unseen = primed(page, urls);
    let mut current = unseen.clone();
    current.look(page.text.as_bytes(), time_of(page.earlier.len()));
    let reported = edited.is_reported(page, (&unseen, &current), urls);
    let Edited { before, after, content_type } = edited;
    Some(EditPair {
        kind: kind.name,
        is_noise: false,
        half: page.half,
        content_type: content_type.unwrap_or(page.content_type),
        before: before.unwrap_or_else(|| page.text.clone()),
        after,
        reported_at_first_sight: reported,
        reported,
    })
}

/// The last pair of looks that the benchmark counts; `None` if it counts none.
fn noise_pair(kind: &NoiseKind, page: &EditablePage, texts: &[String], urls: &UrlRules, seed: u64) -> Option<EditPair> {
    let mut last = None;
    noisy_looks(kind, page, texts, urls, seed, |before, after, reported| {
        last = Some((before.to_owned(), after.to_owned(), reported));
    })?;
    let (before, after, reported) = last?;
    let mut live = primed(page, urls);
    let now_s = time_of(page.earlier.len());
    live.look(before.as_bytes(), now_s);
    let reported_at_first_sight = is_reported(&live.look(after.as_bytes(), now_s + LOOK_S));
    let (half, content_type) = (page.half, page.content_type);
    Some(EditPair {
        kind: kind.name,
        is_noise: true,
        half,
        content_type,
        before,
        after,
        reported_at_first_sight,
        reported,
    })
}
