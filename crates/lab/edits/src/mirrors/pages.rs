//! Real pages of HTML, with their addresses.

use archives::{Archive, ArchiveError};
use document::decode;
use page::CanonicalUrl;
use std::collections::BTreeSet;

/// Versions of a page that its earlier one is looked for in.
const VERSIONS: usize = 8;
/// The most bytes of a page.
const MOST_BYTES: usize = 600_000;

/// A real page.
#[derive(Clone, Debug)]
pub struct RealPage {
    pub(crate) address: CanonicalUrl,
    pub(crate) html: String,
    /// A version of some time before, that is different.
    pub(crate) earlier: Option<String>,
}

impl RealPage {
    /// A page with its only version. `None` if the address is invalid or the page too long.
    pub fn new(address: &str, body: &[u8]) -> Option<Self> {
        let address = CanonicalUrl::parse(address).ok()?;
        let html = decode(body, Some("text/html")).text.into_owned();
        (html.len() <= MOST_BYTES).then_some(Self { address, html, earlier: None })
    }

    /// The newest versions of the HTML pages of an archive, each with an earlier one. A document that two collections of
    /// the archive have of a service is taken once.
    ///
    /// # Errors
    /// If the archive cannot be read.
    pub fn of_archive(archive: &mut Archive) -> Result<Vec<Self>, ArchiveError> {
        let pages: Vec<_> =
            archive.pages().iter().filter(|page| page.content_type.starts_with("text/html")).cloned().collect();
        let mut read = Vec::new();
        let mut known = BTreeSet::new();
        for archived in pages {
            // The name of the service comes first in the host: service.collection.test.
            let (_, address) = archived.address.split_once("://").unwrap_or_default();
            let (host, path) = address.split_once('/').unwrap_or_default();
            let has_services = host.split('.').count() == 3;
            let service = host.split('.').next().unwrap_or_default().to_owned();
            if has_services && !known.insert((service, path.to_owned())) {
                continue;
            }
            let versions = archive.newest_versions(&archived, VERSIONS)?;
            let Some((newest, earlier)) = versions.split_last() else { continue };
            let Some(mut page) = Self::new(&archived.address, newest) else { continue };
            let earlier = earlier.iter().map(|body| decode(body, Some("text/html")).text.into_owned());
            page.earlier = earlier.into_iter().find(|html| *html != page.html && html.len() <= MOST_BYTES);
            read.push(page);
        }
        Ok(read)
    }
}

/// Archives of single pages, whose names are not their addresses: `conformance/NAME.tar.zst`.
const SINGLE_PAGES: [&str; 2] =
    ["conformance/maintext-trafilatura.tar.zst", "conformance/maintext-article-benchmark.tar.zst"];

/// The real pages of the corpora: those with a history and those of single sites, each of these under a host of its own.
/// `None` where they are missing; the output says so.
///
/// # Panics
/// If the corpora are damaged.
pub fn real_pages() -> Option<Vec<RealPage>> {
    let content = corpora::find("content")?;
    let mut archive = Archive::open(&content, None).expect("the corpora can be read");
    let mut pages = RealPage::of_archive(&mut archive).expect("the corpora can be read");
    for archive in SINGLE_PAGES {
        for (name, body) in corpora::unpack(archive)? {
            let Some(name) = name.rsplit('/').next().and_then(|name| name.strip_suffix(".html")) else { continue };
            let host = name.replace(|sign: char| !sign.is_ascii_alphanumeric(), "-");
            pages.extend(RealPage::new(&format!("https://{}.test/{name}", host.trim_matches('-')), &body));
        }
    }
    Some(pages)
}
