//! The cost of second looks: `second_looks SOURCE…` looks at each page of `$RECRAWL_CORPORA/content` at every change, and
//! again at once whenever the detector asks for that. Every change of the record is taken for a true one: the second look
//! finds the same bytes, or the same page with another comment.

use archives::{Archive, ArchivedPage, LivePage};
use page::UrlRules;
use settings::{Layers, Settings};
use std::ops::ControlFlow;

/// Looks of a page that are counted apart.
const FIRST_LOOKS: usize = 20;

/// Looks, further looks, and further looks among the first of each page that has as many.
#[derive(Default)]
struct Cost {
    looks: usize,
    further: usize,
    pages: usize,
    further_first: usize,
    most_first: usize,
}

impl Cost {
    fn add(&mut self, page: &ArchivedPage, versions: &[Vec<u8>], urls: &UrlRules, is_made_anew: bool) {
        let mut live = LivePage::new(urls, &page.content_type, &page.address);
        let mut further_first = 0;
        for (number, version) in versions.iter().enumerate() {
            let mut fetches = 0;
            let text = String::from_utf8_lossy(version);
            let fetch = || {
                fetches += 1;
                if is_made_anew { format!("{text}<!-- {number} {fetches} -->") } else { text.to_string() }
            };
            live.visit(86_400 * number as i64, fetch, |_, _| {});
            self.looks += 1;
            self.further += fetches - 1;
            if number < FIRST_LOOKS {
                further_first += fetches - 1;
            }
        }
        if versions.len() >= FIRST_LOOKS {
            self.pages += 1;
            self.further_first += further_first;
            self.most_first = self.most_first.max(further_first);
        }
    }

    fn print(&self, source: &str, finds: &str) {
        println!(
            "| {source} | {finds} | {} | {:.3} | {} | {:.2} | {} |",
            self.looks,
            self.further as f64 / self.looks.max(1) as f64,
            self.pages,
            self.further_first as f64 / self.pages.max(1) as f64,
            self.most_first
        );
    }
}

fn main() -> anyhow::Result<()> {
    let content = corpora::path("content");
    let urls =
        Settings::from_layers(Layers { files: &[], environment: std::iter::empty(), overrides: &[] })?.urls.rules();
    println!(
        "| collection | a second look finds | looks | further looks per look | pages of {FIRST_LOOKS} looks | further looks in these | most |"
    );
    println!("|---|---|---|---|---|---|---|");
    for source in std::env::args().skip(1) {
        let mut archive = Archive::open(&content, Some(&source))?;
        let (mut same, mut anew) = (Cost::default(), Cost::default());
        let mut count = |(page, versions): (ArchivedPage, Vec<Vec<u8>>)| {
            same.add(&page, &versions, &urls, false);
            if page.content_type.contains("html") {
                anew.add(&page, &versions, &urls, true);
            }
        };
        let mut current: Option<(ArchivedPage, Vec<Vec<u8>>)> = None;
        archive.for_each_version(|page, body| {
            match &mut current {
                Some((last, versions)) if last.page_id == page.page_id => versions.push(body.to_vec()),
                _ => {
                    current.replace((page.clone(), vec![body.to_vec()])).map(&mut count);
                }
            }
            ControlFlow::Continue(())
        })?;
        current.map(&mut count);
        same.print(&source, "the same bytes");
        anew.print(&source, "another comment");
    }
    Ok(())
}
