//! Runs the detector on every version of every page, as it runs live.

use crate::archive::{Archive, ArchiveError, ArchivedPage};
use crate::blobs::Blobs;
use crate::live::LivePage;
use change::{Judgement, PartVerdict, Version, VersionVerdict};
use page::UrlRules;
use serde::Serialize;

/// The detector's verdict on one raw change.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct JudgedChange {
    pub page_id: u32,
    /// When the version was fetched, in UNIX seconds.
    pub unix_time: i64,
    /// Verdict on the page as a whole.
    pub verdict: VersionVerdict,
    /// Whether the change would be published.
    pub meaningful: bool,
    /// Changed share of the text, in \[0, 1\].
    pub magnitude: f64,
    /// Verdict on the text.
    pub content: PartVerdict,
    /// Verdict on the links.
    pub links: PartVerdict,
    /// Verdict on the rest of the page.
    pub structure: PartVerdict,
}

/// A row of a page as the detector saw it.
pub struct ArchivedLook<'a> {
    /// The page that the row belongs to.
    pub page: &'a ArchivedPage,
    /// Base address of the page's relative links.
    pub address: &'a str,
    /// Whether it is the page's first row, which has nothing to be compared with.
    pub is_first: bool,
    /// The bytes; `None` where the page is gone.
    pub body: Option<&'a [u8]>,
    /// The detector's verdict, as a line.
    pub line: JudgedChange,
    /// The full judgement.
    pub judgement: &'a Judgement,
}

impl Archive {
    /// Judges all versions. Returns a line for every row of a page except its first, in order of time, then page. After
    /// each page, `progress` gets the number of finished versions and of all. The rules define which addresses are one
    /// page.
    pub fn judge(
        &mut self,
        urls: &UrlRules,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Vec<JudgedChange>, ArchiveError> {
        let mut lines = Vec::new();
        let total = self.pages.iter().map(|page| page.rows.len()).sum();
        let mut done = 0;
        for page in &mut self.pages {
            page.document = judge_page(page, &mut self.blobs, urls, &mut |look| {
                if !look.is_first {
                    lines.push(look.line);
                }
            })?;
            done += page.rows.len();
            progress(done, total);
        }
        lines.sort_by_key(|line| (line.unix_time, line.page_id));
        Ok(lines)
    }

    /// Judges all versions, page after page and each in order of time, and passes each with its judgement to `see`.
    pub fn judge_each(&mut self, urls: &UrlRules, see: &mut dyn FnMut(&ArchivedLook<'_>)) -> Result<(), ArchiveError> {
        for page in &mut self.pages {
            page.document = judge_page(page, &mut self.blobs, urls, see)?;
        }
        Ok(())
    }
}

fn judge_page(
    page: &ArchivedPage,
    blobs: &mut Blobs,
    urls: &UrlRules,
    see: &mut dyn FnMut(&ArchivedLook<'_>),
) -> Result<Option<String>, ArchiveError> {
    let document = match page.rows.iter().find_map(|(_, blob)| *blob) {
        Some(first) => stated_address(page, blobs.read(first)?),
        None => None,
    };
    let address = document.as_deref().unwrap_or(&page.address);
    let mut live = LivePage::new(urls, &page.content_type, address);
    for (index, &(unix_time, blob)) in page.rows.iter().enumerate() {
        let (body, judgement) = match blob {
            None => (None, live.gone(unix_time)),
            Some(blob) => {
                let body = blobs.read(blob)?;
                (Some(body), live.look(body, unix_time))
            }
        };
        let line = JudgedChange::new(page.page_id, unix_time, &judgement);
        see(&ArchivedLook { page, address, is_first: index == 0, body, line, judgement: &judgement });
    }
    Ok(document)
}

/// Hosts of an archive are invented. If a page's first version states its address, its links are relative to that.
fn stated_address(page: &ArchivedPage, body: &[u8]) -> Option<String> {
    let urls = UrlRules::none();
    let version = Version::new(body, Some(&page.content_type), None, &urls);
    version.canonical().filter(|canonical| canonical.starts_with("http")).map(str::to_owned)
}

impl JudgedChange {
    fn new(page_id: u32, unix_time: i64, judgement: &Judgement) -> Self {
        Self {
            page_id,
            unix_time,
            verdict: judgement.verdict,
            meaningful: judgement.meaningful,
            magnitude: judgement.magnitude,
            content: judgement.content,
            links: judgement.links,
            structure: judgement.structure,
        }
    }
}
