//! A page as text and links, read in the same pass as its blocks where both are needed.

use document::{Blocks, Body, PageText, ReadConfined};
use messages::FetchResult;
use reading::MainText;
use watch::WatchRule;

/// The most bytes of a title that are kept.
const MAX_TITLE_BYTES: usize = 200;

/// The title of a page. `None` if it has none.
pub(crate) fn title_of(page: &PageText) -> Option<String> {
    let title = document::prefix(page.title.trim(), MAX_TITLE_BYTES);
    (!title.is_empty()).then(|| title.to_owned())
}

/// The body of a page, whose blocks are read by the page's rule, and by this reader if it is a document of a confined format.
pub(crate) fn body_of<'a>(
    result: &'a FetchResult,
    bytes: &'a [u8],
    rule: Option<&'a WatchRule>,
    reader: Option<&'a dyn ReadConfined>,
) -> Body<'a> {
    let body = Body::new(bytes, result.content_type.as_deref(), Some(result.look.answered_by().as_str()));
    let body = match reader {
        Some(reader) => body.with_reader(reader),
        None => body,
    };
    let body = match result.look.validators.content_digest {
        Some(digest) => body.with_digest(digest.0),
        None => body,
    };
    match rule {
        Some(rule) => body.with_selection(rule.selection()),
        None => body,
    }
}

/// Text and links of a page, and its main text where the crawl has a focus.
pub(crate) enum ReadPage {
    Text(PageText),
    MainText(MainText),
}

impl ReadPage {
    pub(crate) fn of_body(body: &Body<'_>, has_focus: bool) -> Self {
        match has_focus {
            true => Self::MainText(MainText::of_body(body)),
            false => Self::Text(body.text()),
        }
    }

    pub(crate) fn and_blocks(body: &Body<'_>, has_focus: bool) -> (Self, Blocks) {
        if !has_focus {
            let (blocks, page) = body.blocks_and_text();
            return (Self::Text(page), blocks);
        }
        let (main_text, blocks) = MainText::and_blocks(body);
        (Self::MainText(main_text), blocks)
    }

    pub(crate) fn text(&self) -> &PageText {
        match self {
            Self::Text(page) => page,
            Self::MainText(read) => &read.linked.page,
        }
    }

    /// The main text; `None` without focuses.
    pub(crate) fn main_text(&self) -> Option<&MainText> {
        match self {
            Self::Text(_) => None,
            Self::MainText(read) => Some(read),
        }
    }
}
