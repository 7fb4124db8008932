//! Hosts of pages, and the pages that are trusted.

use super::names::Names;
use page::CanonicalUrl;
use recrawl::CommandFailure;
use std::path::Path;

/// The hosts of all pages, each named by the address of its front page, and which page is on which. What is no address is
/// a site by itself.
pub(super) fn hosts(pages: &Names) -> (Names, Vec<u32>) {
    let mut hosts = Names::default();
    let of = |number| hosts.number(&front_page(pages.name(number))).expect("there are no more hosts than pages");
    let host_of = (0..pages.len()).map(of).collect();
    (hosts, host_of)
}

/// The address of the front page of a page's host, without regard to scheme and port.
fn front_page(name: &str) -> String {
    match CanonicalUrl::parse(name) {
        Ok(url) => format!("https://{}/", url.host()),
        Err(_) => name.to_owned(),
    }
}

/// The numbers of the names in a file, one per line. Lines that name nothing known are printed on stderr.
pub(super) fn trusted(file: &Path, names: &Names, by_host: bool) -> Result<Vec<u32>, CommandFailure> {
    let bytes = std::fs::read(file).map_err(|error| CommandFailure::Input(format!("{}: {error}", file.display())))?;
    let text = String::from_utf8_lossy(&bytes);
    let mut trusted = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let name = line.trim();
        if name.is_empty() || name.starts_with('#') {
            continue;
        }
        let found = if by_host { names.find(&front_page(name)) } else { names.find(name) };
        let found = found.or_else(|| names.find(&front_page(&format!("https://{name}/"))).filter(|_| by_host));
        match found {
            Some(number) => trusted.push(number),
            None => eprintln!("{}, line {}: {name} is not among the links; left out", file.display(), index + 1),
        }
    }
    if trusted.is_empty() {
        let what = "no line names a page of the links, so there is nothing to begin at";
        return Err(CommandFailure::Input(format!("{}: {what}", file.display())));
    }
    Ok(trusted)
}
