//! Documents that a process of their own reads, such as PDF: this program once more, under a hidden name.

use confined::ConfinedReader;
use document::{Body, PageText};
use reading::PageReading;
use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::{Arc, LazyLock};

/// The first argument of a process that reads a document.
const READ_DOCUMENT: &str = "read-document";

/// Starts a process for each document. Nothing is started before there is one.
static READER: LazyLock<Arc<ConfinedReader>> =
    LazyLock::new(|| Arc::new(ConfinedReader::of_own_program(vec![READ_DOCUMENT.into()])));

/// The reader of this process. Its program must begin with [`run_if_asked`]; documents are compared by their digests otherwise.
pub fn reader() -> Arc<ConfinedReader> {
    Arc::clone(&READER)
}

/// Reads a document, if this process was started for one. Programs call it first.
pub fn run_if_asked() -> Option<ExitCode> {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let is_asked = arguments.first().is_some_and(|first| first == READ_DOCUMENT);
    is_asked.then(|| confined::run(&arguments, pdf_html::html))
}

/// A body that is read in full, whatever its format.
pub(crate) fn body<'a>(bytes: &'a [u8], content_type: Option<&'a str>, url: Option<&'a str>) -> Body<'a> {
    Body::new(bytes, content_type, url).with_reader(&**READER)
}

/// As [`document::extract`], for all formats.
pub(crate) fn text(bytes: &[u8], content_type: Option<&str>, url: Option<&str>) -> PageText {
    body(bytes, content_type, url).text()
}

/// As [`reading::read`], for all formats.
pub(crate) fn read(bytes: &[u8], content_type: Option<&str>, url: Option<&str>) -> PageReading {
    reading::read_body(&body(bytes, content_type, url))
}
