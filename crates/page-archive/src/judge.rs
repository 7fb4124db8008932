//! Every version of every page before the detector.

use crate::archive::{Archive, ArchiveError, Page};
use crate::frames::Frames;
use change::{Judgement, Noise, PageState, PartVerdict, Verdict, Version};
use serde::Serialize;

/// What the detector says of one raw change.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Line {
    /// The page's number in the archive.
    pub page_id: u32,
    /// When the version was fetched, in UNIX seconds.
    pub unix_time: i64,
    /// Of the page as a whole.
    pub verdict: Verdict,
    /// Whether the change would be published.
    pub meaningful: bool,
    /// How much of the text is another, in \[0, 1\].
    pub magnitude: f64,
    /// Of the text.
    pub content: PartVerdict,
    /// Of the links.
    pub links: PartVerdict,
    /// Of the rest of the page.
    pub structure: PartVerdict,
}

impl Archive {
    /// Judges all versions: a line for every row of a page but its first, in order of time, then page. After each page
    /// `progress` is told how many versions of how many are done.
    pub fn judge(&mut self, progress: &mut dyn FnMut(usize, usize)) -> Result<Vec<Line>, ArchiveError> {
        let mut lines = Vec::new();
        let total = self.pages.iter().map(|page| page.rows.len()).sum();
        let mut done = 0;
        for page in &mut self.pages {
            page.document = judge_page(page, &mut self.frames, &mut lines)?;
            done += page.rows.len();
            progress(done, total);
        }
        lines.sort_by_key(|line| (line.unix_time, line.page_id));
        Ok(lines)
    }
}

fn judge_page(page: &Page, frames: &mut Frames, lines: &mut Vec<Line>) -> Result<Option<String>, ArchiveError> {
    let mut state = PageState::default();
    let (mut document, mut address) = (None, None);
    for (index, &(unix_time, blob)) in page.rows.iter().enumerate() {
        let judgement = match blob {
            None => state.observe_gone(),
            Some(blob) => {
                let body = frames.read(blob)?;
                let address = address.get_or_insert_with(|| {
                    document = stated_address(page, body);
                    document.clone().unwrap_or_else(|| page.address.clone())
                });
                state.observe(&Version::new(body, Some(&page.content_type), Some(address)), Noise::ByFrequency)
            }
        };
        if index > 0 {
            lines.push(Line::new(page.page_id, unix_time, &judgement));
        }
    }
    Ok(document)
}

/// Hosts of an archive are made up. Where a page's first version says what its address is, its links are relative to that.
fn stated_address(page: &Page, body: &[u8]) -> Option<String> {
    let version = Version::new(body, Some(&page.content_type), None);
    version.canonical().filter(|canonical| canonical.starts_with("http")).map(str::to_owned)
}

impl Line {
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
