//! Plays pages to the detector: an edit, a noisy page, a page that truly changes.

use crate::draw::Draw;
use crate::editable_page::EditablePage;
use crate::in_place;
use crate::kinds::EditKind;
use crate::noise::{Fetch, NOISE, NoiseKind, other_text};
use crate::places::{Patch, Place, patched};
use crate::values::What;
use archives::LivePage;
use change::{Judgement, VersionVerdict};
use page::UrlRules;

/// Time between two looks.
pub(crate) const LOOK_S: i64 = 6 * 3_600;
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

pub(crate) fn is_reported(judgement: &Judgement) -> bool {
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

pub(crate) struct Edited {
    /// `None` if the page is edited as it is.
    pub(crate) before: Option<String>,
    pub(crate) after: String,
    /// Both versions are of this type, not of the page's.
    pub(crate) content_type: Option<&'static str>,
}

/// Makes an edit of a kind; `None` if the page has no place for it.
pub(crate) fn edited(kind: &EditKind, page: &EditablePage, seed: u64) -> Option<Edited> {
    let edit = kind.edit(page, Draw::of(seed, &page.address).of_kind(kind.name))?;
    let after = patched(&page.text, &edit.after);
    let before = if edit.before.is_empty() { None } else { Some(patched(&page.text, &edit.before)) };
    (after != *before.as_ref().unwrap_or(&page.text)).then_some(Edited {
        before,
        after,
        content_type: edit.content_type,
    })
}

impl Edited {
    /// Whether the detector reports the edit. `primed` has seen the earlier versions of the page, `current` the newest, too.
    pub(crate) fn is_reported<'a>(
        &self,
        page: &'a EditablePage,
        (primed, current): (&LivePage<'a>, &LivePage<'a>),
        urls: &'a UrlRules,
    ) -> bool {
        let mut live = match (self.content_type, &self.before) {
            (Some(content_type), _) => LivePage::new(urls, content_type, &page.address),
            (None, Some(_)) => primed.clone(),
            (None, None) => current.clone(),
        };
        let now_s = time_of(page.earlier.len());
        if let Some(before) = &self.before {
            live.look(before.as_bytes(), now_s);
        }
        is_reported(&live.look(self.after.as_bytes(), now_s + LOOK_S))
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reported {
    pub(crate) reported: usize,
    pub(crate) of: usize,
}

/// Number of the looks at a noisy page that are reported as changes, among those that [`noisy_looks`] counts. `None` if the
/// page has no place for the noise.
pub(crate) fn noise_is_reported(
    kind: &NoiseKind,
    page: &EditablePage,
    texts: &[String],
    urls: &UrlRules,
    seed: u64,
) -> Option<Reported> {
    let mut reported = Reported::default();
    noisy_looks(kind, page, texts, urls, seed, |_, _, is_reported| {
        reported.of += 1;
        reported.reported += usize::from(is_reported);
    })?;
    Some(reported)
}

/// Looks at a noisy page. For each look at another version, after the noise has shown itself some times, `count` gets the
/// version before, this one, and whether it was reported as a change. `None` if the page has no place for the noise.
pub(crate) fn noisy_looks(
    kind: &NoiseKind,
    page: &EditablePage,
    texts: &[String],
    urls: &UrlRules,
    seed: u64,
    mut count: impl FnMut(&str, &str, bool),
) -> Option<()> {
    let mut noisy = NoisyPage::new(kind, page, texts, seed);
    noisy.fetch()?;
    let mut live = primed(page, urls);
    let (mut last, mut shown): (Option<String>, usize) = (None, 0);
    for look in 0..LOOKS {
        let now_s = time_of(page.earlier.len() + look);
        live.visit(
            now_s,
            || noisy.fetch().unwrap_or_default(),
            |judgement, body| {
                if let Some(last) = last.as_deref().filter(|last| *last != body) {
                    if shown >= SHOWN {
                        count(last, body, is_reported(judgement));
                    }
                    shown += 1;
                }
                last = Some(body.to_owned());
            },
        );
    }
    Some(())
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

/// Whether an edit of a paragraph is reported while noise goes on elsewhere on the page.
pub(crate) fn edit_in_noise_is_reported(
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
    let mut reported = false;
    for look in 0..=EDITED_LOOK {
        let now_s = time_of(page.earlier.len() + look);
        let fetch = || {
            let mut patches = noisy.patches().unwrap_or_default();
            if look == EDITED_LOOK {
                patches.extend(edit.after.iter().cloned());
            }
            patched(&page.text, &patches)
        };
        live.visit(now_s, fetch, |judgement, _| reported |= look == EDITED_LOOK && is_reported(judgement));
    }
    Some(reported)
}

/// The number of looks reported as changes, at a page most of which truly changes from look to look. A second look finds
/// the same version.
pub(crate) fn truly_changing_is_reported(
    page: &EditablePage,
    texts: &[String],
    urls: &UrlRules,
    seed: u64,
) -> Option<Reported> {
    let draw = Draw::of(seed, &page.address).of_kind("truly changing");
    other_text(page, texts, draw)?;
    let mut live = primed(page, urls);
    let mut reported = Reported::default();
    for look in 0..LOOKS {
        let now_s = time_of(page.earlier.len() + look);
        let body = patched(&page.text, &other_text(page, texts, draw.nth(look))?);
        let mut is_first = true;
        live.visit(
            now_s,
            || body.clone(),
            |judgement, _| {
                // The second look finds the same, which is no news.
                if std::mem::take(&mut is_first) && look > 0 {
                    reported.of += 1;
                    reported.reported += usize::from(is_reported(judgement));
                }
            },
        );
    }
    Some(reported)
}
