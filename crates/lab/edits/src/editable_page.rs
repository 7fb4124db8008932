//! A real page that can be edited.

use crate::choice::Half;
use crate::draw::Draw;
use crate::html_places::html_places;
use crate::line_places::line_places;
use crate::markup::Markup;
use crate::places::{Patch, Places};

/// The format as which a page is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Text(Markup),
    Json,
    Feed,
}

/// The newest version of a page, and the places in it.
pub(crate) struct EditablePage {
    pub(crate) address: String,
    pub(crate) half: Half,
    pub(crate) form: Form,
    pub(crate) content_type: &'static str,
    /// Up to two versions before the newest, oldest first.
    pub(crate) earlier: Vec<String>,
    pub(crate) text: String,
    pub(crate) places: Places,
}

/// An edit: the patches that make the version before it, and those that make the version after it.
#[derive(Debug)]
pub(crate) struct Edit {
    pub(crate) before: Vec<Patch>,
    pub(crate) after: Vec<Patch>,
    /// Both versions are of this type, not of the page's.
    pub(crate) content_type: Option<&'static str>,
}

impl Edit {
    /// An edit of the page itself.
    pub(crate) fn of_page(after: Vec<Patch>) -> Self {
        Self { before: Vec::new(), after, content_type: None }
    }

    /// An edit of something that is inserted.
    pub(crate) fn of_inserted(at: usize, before: String, after: String) -> Self {
        Self { before: vec![Patch::insert(at, before)], after: vec![Patch::insert(at, after)], content_type: None }
    }
}

impl EditablePage {
    pub(crate) fn new(address: String, half: Half, mime: &str, mut versions: Vec<String>) -> Option<Self> {
        let (form, content_type) = match mime {
            "text/html" => (Form::Text(Markup::Html), "text/html; charset=utf-8"),
            "application/json" => (Form::Json, "application/json; charset=utf-8"),
            "application/xml" => (Form::Feed, "application/xml; charset=utf-8"),
            "text/markdown" | "text/plain" | "text/csv" => (Form::Text(Markup::Lines), "text/plain; charset=utf-8"),
            _ => return None,
        };
        let text = versions.pop()?;
        let places = match form {
            Form::Text(Markup::Html) => html_places(&text),
            Form::Text(Markup::Lines) => line_places(&text),
            Form::Json | Form::Feed => Places::default(),
        };
        Some(Self { address, half, form, content_type, earlier: versions, text, places })
    }

    /// The markup of a page of text.
    pub(crate) fn markup(&self) -> Option<Markup> {
        match self.form {
            Form::Text(markup) => Some(markup),
            Form::Json | Form::Feed => None,
        }
    }

    /// A position in the main text of a page where a block can stand.
    pub(crate) fn anchor(&self, draw: &mut Draw) -> Option<usize> {
        draw.pick(&self.places.anchors).copied()
    }
}
