//! Plays what is looked at: an edit, a noisy page, a page that truly changes.

use super::draw::Draw;
use super::editable_page::EditablePage;
use super::in_place;
use super::kinds::EditKind;
use super::noise::{Fetch, NOISE, NoiseKind, other_text};
use super::places::{Patch, Place, patched};
use super::values::What;
use crate::live::LivePage;
use change::{Judgement, VersionVerdict};
use page::UrlRules;

/// Time between two looks.
const LOOK_S: i64 = 6 * 3_600;
/// Looks at a noisy page. One look may be several fetches.
const LOOKS: usize = 30;
/// Noise that has shown itself this often should be known.
const SHOWN: usize = 6;
/// The look at which a noisy page is edited.
const EDITED_LOOK: usize = 15;

/// When a look takes place, by its number.
pub(crate) fn time_of(look: usize) -> i64 {
    look as i64 * LOOK_S
}

fn is_told(judgement: &Judgement) -> bool {
    matches!(judgement.verdict, VersionVerdict::Minor | VersionVerdict::Major)
}

/// The page after the looks at its earlier versions.
pub(crate) fn primed<'a>(page: &'a EditablePage, urls: &'a UrlRules) -> LivePage<'a> {
    let mut live = LivePage::new(urls, page.content_type, &page.address);
    for (number, version) in page.earlier.iter().enumerate() {
        live.look(version.as_bytes(), time_of(number));
    }
    live
}

/// Whether an edit of a kind is told; `None` if the page has no place for it. `current` has seen the newest version.
pub(crate) fn edit_is_told<'a>(
    kind: &EditKind,
    page: &'a EditablePage,
    (primed, current): (&LivePage<'a>, &LivePage<'a>),
    urls: &'a UrlRules,
    seed: u64,
) -> Option<bool> {
    let edit = kind.edit(page, Draw::of(seed, &page.address).of_kind(kind.name))?;
    let after = patched(&page.text, &edit.after);
    let before = if edit.before.is_empty() { None } else { Some(patched(&page.text, &edit.before)) };
    if after == *before.as_ref().unwrap_or(&page.text) {
        return None;
    }
    let mut live = match (edit.content_type, &before) {
        (Some(content_type), _) => LivePage::new(urls, content_type, &page.address),
        (None, Some(_)) => primed.clone(),
        (None, None) => current.clone(),
    };
    let now_s = time_of(page.earlier.len());
    if let Some(before) = before {
        live.look(before.as_bytes(), now_s);
    }
    let told = is_told(&live.look(after.as_bytes(), now_s + LOOK_S));
    if !told && std::env::var("DEBUG_KIND").is_ok_and(|name| name == kind.name) {
        eprintln!("MISS {}", page.address);
        for patch in &edit.after {
            let t = &page.text;
            let from = t.floor_char_boundary(patch.range.start.saturating_sub(150));
            let to = t.ceil_char_boundary((patch.range.end + 60).min(t.len()));
            eprintln!(
                "   {:?}\n   -{:?}\n   +{:?}",
                t[from..to].chars().take(400).collect::<String>(),
                t[patch.range.clone()].chars().take(200).collect::<String>(),
                patch.with.chars().take(200).collect::<String>()
            );
        }
    }
    Some(told)
}

/// Looks at a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) told: usize,
    pub(crate) of: usize,
}

/// How many looks at a noisy page are told, of those after the noise has shown itself some times. `None` if the page
/// has no place for the noise.
pub(crate) fn noise_is_told(
    kind: &NoiseKind,
    page: &EditablePage,
    texts: &[String],
    urls: &UrlRules,
    seed: u64,
) -> Option<Told> {
    let mut noisy = NoisyPage::new(kind, page, texts, seed);
    noisy.fetch()?;
    let mut live = primed(page, urls);
    let mut told = Told::default();
    let (mut last, mut shown) = (None, 0);
    for look in 0..LOOKS {
        let now_s = time_of(page.earlier.len() + look);
        live.visit(
            now_s,
            || noisy.fetch().unwrap_or_default(),
            |judgement, body| {
                let differs = last.as_deref().is_some_and(|last| last != body);
                if differs && shown >= SHOWN {
                    told.of += 1;
                    told.told += usize::from(is_told(judgement));
                }
                shown += usize::from(differs);
                last = Some(body.to_owned());
            },
        );
    }
    Some(told)
}

/// A page with noise, from fetch to fetch.
struct NoisyPage<'a> {
    kind: &'a NoiseKind,
    page: &'a EditablePage,
    texts: &'a [String],
    draw: Draw,
    fetches: usize,
}

impl<'a> NoisyPage<'a> {
    fn new(kind: &'a NoiseKind, page: &'a EditablePage, texts: &'a [String], seed: u64) -> Self {
        Self { kind, page, texts, draw: Draw::of(seed, &page.address).of_kind(kind.name), fetches: 0 }
    }

    fn patches(&mut self) -> Option<Vec<Patch>> {
        self.fetches += 1;
        let Self { page, texts, draw, fetches, .. } = *self;
        (self.kind.make)(&mut Fetch { page, fixed: draw.nth(0), now: draw.nth(fetches), number: fetches, texts })
    }

    fn fetch(&mut self) -> Option<String> {
        let patches = self.patches()?;
        Some(patched(&self.page.text, &patches))
    }
}

/// Whether an edit of a paragraph is told while noise goes on elsewhere on the page.
pub(crate) fn edit_in_noise_is_told(
    number: usize,
    page: &EditablePage,
    texts: &[String],
    urls: &UrlRules,
    seed: u64,
) -> Option<bool> {
    // The first kinds of noise are the commonest, and stand in the main text.
    let kind = &NOISE[number % 5];
    let edit = in_place::edit(page, What::Word, Place::Paragraph, &mut Draw::of(seed, &page.address))?;
    if !edit.before.is_empty() {
        return None;
    }
    let mut noisy = NoisyPage::new(kind, page, texts, seed);
    let overlaps = |at: usize| edit.after.iter().any(|patch| patch.range.contains(&at));
    if noisy.patches()?.iter().any(|patch| overlaps(patch.range.start)) {
        return None;
    }
    let mut live = primed(page, urls);
    let mut told = false;
    for look in 0..=EDITED_LOOK {
        let now_s = time_of(page.earlier.len() + look);
        let fetch = || {
            let mut patches = noisy.patches().unwrap_or_default();
            if look == EDITED_LOOK {
                patches.extend(edit.after.iter().cloned());
            }
            patched(&page.text, &patches)
        };
        live.visit(now_s, fetch, |judgement, _| told |= look == EDITED_LOOK && is_told(judgement));
    }
    Some(told)
}

/// How many looks are told at a page most of which truly changes from look to look. A second look finds the same.
pub(crate) fn truly_changing_is_told(
    page: &EditablePage,
    texts: &[String],
    urls: &UrlRules,
    seed: u64,
) -> Option<Told> {
    let draw = Draw::of(seed, &page.address).of_kind("truly changing");
    other_text(page, texts, draw)?;
    let mut live = primed(page, urls);
    let mut told = Told::default();
    for look in 0..LOOKS {
        let now_s = time_of(page.earlier.len() + look);
        let body = patched(&page.text, &other_text(page, texts, draw.nth(look))?);
        let mut is_first = true;
        live.visit(
            now_s,
            || body.clone(),
            |judgement, _| {
                // What the second look says is no news: it found the same.
                if std::mem::take(&mut is_first) && look > 0 {
                    told.of += 1;
                    told.told += usize::from(is_told(judgement));
                }
            },
        );
    }
    Some(told)
}
