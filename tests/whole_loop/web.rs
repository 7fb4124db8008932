//! A web as a function of a seed: what each page says at each moment.

use messages::Digest;
use page::{CanonicalUrl, Timestamp};
use rand::{Rng, RngExt};
use std::collections::HashMap;

/// A page with its whole life.
pub(crate) struct WebPage {
    pub(crate) url: CanonicalUrl,
    pub(crate) rate_per_day: f64,
    pub(crate) changes: Vec<Timestamp>,
    /// The page whose text it has, and until when.
    mirrors: Option<(CanonicalUrl, Timestamp)>,
    gone: Option<(Timestamp, Timestamp)>,
}

/// The web.
pub(crate) struct Web {
    pub(crate) pages: Vec<WebPage>,
    are_linked: bool,
    index: HashMap<CanonicalUrl, usize>,
}

/// The version and body of a page at a moment.
pub(crate) struct Copy {
    pub(crate) version: usize,
    pub(crate) body: String,
}

const SITES: usize = 6;
/// Each site has three pages of each kind, by changes per day.
const RATES_PER_DAY: [f64; 4] = [0.0, 0.1, 0.3, 1.0];
const PAGES_PER_SITE: usize = 12;
/// Where mirrors are asked for, the second site is one of the first, and this page of it goes its own way on this day.
pub(crate) const DIVERGING: (&str, u32) = ("http://site-1.test/page-2", 14);

impl Web {
    pub(crate) fn new(random: &mut impl Rng, start: Timestamp, days: u32) -> Self {
        let mut pages = Vec::new();
        for site in 0..SITES {
            for number in 0..PAGES_PER_SITE {
                let url = CanonicalUrl::parse(&format!("http://site-{site}.test/page-{number}")).unwrap();
                let rate_per_day = RATES_PER_DAY[number % RATES_PER_DAY.len()];
                let mut changes = Vec::new();
                let mut at = 0.0;
                loop {
                    at += -(1.0 - random.random::<f64>()).ln() / rate_per_day;
                    if at.is_infinite() || at > f64::from(days) {
                        break;
                    }
                    changes.push(start.plus_days(at));
                }
                let leaves = number == 5;
                let gone = leaves.then(|| {
                    let at = random.random_range(0.2..0.5) * f64::from(days);
                    (start.plus_days(at), start.plus_days(at + 0.3 * f64::from(days)))
                });
                pages.push(WebPage { url, rate_per_day, changes, mirrors: None, gone });
            }
        }
        let index = pages.iter().enumerate().map(|(number, page)| (page.url.clone(), number)).collect();
        Self { pages, are_linked: false, index }
    }

    /// From now on every page links the first one, two by which all pages can be reached from it, and one that changes with its
    /// text.
    pub(crate) fn link_pages(&mut self) {
        self.are_linked = true;
    }

    /// The pages that a version of a page links to.
    fn linked(&self, number: usize, version: usize) -> Vec<&WebPage> {
        if !self.are_linked {
            return Vec::new();
        }
        let below = [2 * number + 1, 2 * number + 2];
        let one_or_another = (7 * number + 5 * version + 3) % self.pages.len();
        [0, one_or_another].into_iter().chain(below).filter_map(|number| self.pages.get(number)).collect()
    }

    /// The body of a version of a page.
    fn body_of(&self, number: usize, version: usize) -> String {
        let links: Vec<_> =
            self.linked(number, version).iter().map(|to| format!("<a href=\"{}\">more</a>", to.url)).collect();
        body(self.pages[number].text_at(version), version).replace("</body>", &format!("{}</body>", links.join("\n")))
    }

    /// Makes the second site a mirror of the first: its pages say the same, and change when those do.
    pub(crate) fn mirror_first_site(&mut self, start: Timestamp) {
        let (first, others) = self.pages.split_at_mut(PAGES_PER_SITE);
        for (original, mirror) in first.iter().zip(others) {
            let diverges = mirror.url.as_str() == DIVERGING.0;
            let until = if diverges { start.plus_days(DIVERGING.1.into()) } else { Timestamp::MAX };
            mirror.mirrors = Some((original.url.clone(), until));
            mirror.changes.clone_from(&original.changes);
            mirror.gone = original.gone;
            if diverges {
                mirror.changes.push(until);
                mirror.changes.sort();
            }
        }
    }

    /// The page of that address.
    pub(crate) fn page(&self, url: &CanonicalUrl) -> &WebPage {
        &self.pages[self.index[url]]
    }

    /// The page at a moment; `None` while it is gone.
    pub(crate) fn copy(&self, url: &CanonicalUrl, at: Timestamp) -> Option<Copy> {
        let number = self.index[url];
        let page = &self.pages[number];
        if page.gone.is_some_and(|(from, until)| (from..until).contains(&at)) {
            return None;
        }
        let version = page.changes.partition_point(|change| *change <= at);
        Some(Copy { version, body: self.body_of(number, version) })
    }

    /// The version with a digest; `None` for no content.
    pub(crate) fn version_of(&self, url: &str, digest: Option<&Digest>) -> Option<usize> {
        let digest = digest?;
        let number = self.pages.iter().position(|page| page.url.as_str() == url).expect("the page is of this web");
        let mut versions = 0..=self.pages[number].changes.len();
        let found = versions.find(|version| Digest::of(self.body_of(number, *version).as_bytes()) == *digest);
        Some(found.expect("what was told is a version of the page"))
    }
}

impl WebPage {
    /// Whose text its versions are made from.
    fn text_at(&self, version: usize) -> &str {
        let begins_before = |until: &Timestamp| version == 0 || self.changes[version - 1] < *until;
        let original = self.mirrors.as_ref().filter(|(_, until)| begins_before(until));
        original.map_or(&self.url, |(original, _)| original).as_str()
    }
}

/// Half of the passages stay from version to version.
pub(crate) fn body(url: &str, version: usize) -> String {
    let passage = |number: usize| {
        let salt = if number.is_multiple_of(2) { 0 } else { version };
        let words = (0..12).map(|word| {
            let digest = Digest::of(format!("{url} {number} {salt} {word}").as_bytes());
            let characters = digest.0[..6].iter().map(|byte| char::from(b'a' + byte % 26));
            characters.collect::<String>()
        });
        format!("<p>{}.</p>", words.collect::<Vec<_>>().join(" "))
    };
    format!("<html><body>{}</body></html>", (0..6).map(passage).collect::<Vec<_>>().join("\n"))
}
