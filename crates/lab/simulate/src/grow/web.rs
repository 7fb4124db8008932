//! A web that grows: pages are born at random, and index pages show links to them.

use super::citations;
use crate::error::SimulationError;
use crate::streams::{Draws, Purpose, RandomStream};
use literature::ranking::pagerank::PageRank;
use literature::ranking::{Edge, Graph, Repeats};
use page::CanonicalUrl;

/// The web of a run. Every site has a front page and sections, each with an index page.
#[derive(Clone, Debug, PartialEq)]
pub struct WebOptions {
    pub sites: usize,
    /// Sections of a site.
    pub sections: usize,
    /// Articles of a section at the start.
    pub articles: usize,
    /// Mean of the articles born per day and section. Sections differ: most have few, some have many.
    pub births_per_section_day: f64,
    /// Median of the changes of an article per day.
    pub changes_per_day: f64,
    /// Standard deviation of the logarithm of the change rates.
    pub change_spread: f64,
    /// A flood, as a time in days and a number: this many articles are born then, in the first 20 sections.
    pub flood: Option<(f64, usize)>,
    /// Links of an article to earlier articles of any site.
    pub citations: usize,
}

/// 20 sites with 100 sections and 4,000 articles at the start; a hundredth of that is born per day.
impl Default for WebOptions {
    fn default() -> Self {
        Self {
            sites: 20,
            sections: 5,
            articles: 40,
            births_per_section_day: 0.4,
            changes_per_day: 0.03,
            change_spread: 1.3,
            flood: None,
            citations: 0,
        }
    }
}

/// Shape of the spread of birth rates over the sections.
const BIRTH_SHAPE: f64 = 0.5;
/// Articles that a front page shows, the newest of its site.
const FRONT_LINKS: usize = 10;
/// Sections of a flood. An index page shows no more links than a detector reads.
const FLOODED_SECTIONS: usize = 20;
/// Changes of an index page per day beside those of its links.
const INDEX_CHANGES_PER_DAY: f64 = 0.1;

/// The role of a page on its site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageKind {
    /// The first page of a site. It shows the index pages and the newest articles.
    Front,
    /// The index of a section. It shows all articles of the section.
    Index,
    /// An article, or any other page.
    Article,
}

#[derive(Clone, Debug)]
pub struct WebPage {
    pub url: CanonicalUrl,
    pub kind: PageKind,
    /// When it was born; before the start of the run for those that were there.
    pub born_days: f64,
    /// Number of its site, or of its section.
    group: usize,
    changes_per_day: f64,
    stream: RandomStream,
    next_own_days: f64,
}

/// All pages that will ever be, and their changes.
#[derive(Clone, Debug)]
pub struct GrowingWeb {
    pages: Vec<WebPage>,
    /// By section: its articles in the order of birth, as numbers of pages.
    sections: Vec<Vec<usize>>,
    /// By site: the same.
    sites: Vec<Vec<usize>>,
    sections_per_site: usize,
    /// By article, in the order of birth: the articles that it cites, as numbers of pages. Empty where articles cite nothing.
    citations: Vec<Vec<usize>>,
}

impl GrowingWeb {
    /// Draws the web from day 0 to `end_days`.
    pub fn draw(options: &WebOptions, end_days: f64, seed: u64) -> Result<Self, SimulationError> {
        for (field, value) in [
            ("articles born per day and section", options.births_per_section_day),
            ("changes per day", options.changes_per_day),
        ] {
            SimulationError::positive(field, value)?;
        }
        if options.sites == 0 || options.sections == 0 {
            return Err(SimulationError::NoPages);
        }
        let mut web = Self {
            pages: Vec::new(),
            sections: vec![Vec::new(); options.sites * options.sections],
            sites: vec![Vec::new(); options.sites],
            sections_per_site: options.sections,
            citations: Vec::new(),
        };
        let draw = Draw { options, seed };
        for site in 0..options.sites {
            web.add(draw.page(
                &format!("http://www.site{site}.example/"),
                PageKind::Front,
                -1.0,
                site,
                web.pages.len(),
            )?);
        }
        for section in 0..web.sections.len() {
            let url = format!("{}/", draw.section_url(section));
            web.add(draw.page(&url, PageKind::Index, -1.0, section, web.pages.len())?);
        }
        // In the order of birth, so that the numbers are, too.
        let mut births = draw.births(end_days);
        births.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
        if options.citations > 0 {
            let first = web.pages.len();
            web.citations = citations::draw(births.len(), options.citations, seed);
            web.citations.iter_mut().flatten().for_each(|article| *article += first);
        }
        for (born_days, section) in births {
            let number = web.sections[section].len();
            let url = format!("{}/{number}.html", draw.section_url(section));
            web.add(draw.page(&url, PageKind::Article, born_days, section, web.pages.len())?);
        }
        Ok(web)
    }

    fn add(&mut self, page: WebPage) {
        if page.kind == PageKind::Article {
            self.sections[page.group].push(self.pages.len());
            self.sites[page.group / self.sections_per_site].push(self.pages.len());
        }
        self.pages.push(page);
    }

    /// All pages, those of the future included. Articles come in the order of birth, after all others.
    pub fn pages(&self) -> &[WebPage] {
        &self.pages
    }

    /// Articles that an index page or front page shows links to at a time.
    fn shown_by(&self, page: &WebPage) -> &[usize] {
        match page.kind {
            PageKind::Front => &self.sites[page.group],
            PageKind::Index => &self.sections[page.group],
            PageKind::Article => &[],
        }
    }

    fn born_by(&self, articles: &[usize], days: f64) -> usize {
        articles.partition_point(|article| self.pages[*article].born_days <= days)
    }

    /// The links of a page that were not there at an earlier look: articles born since. A front page shows the newest
    /// only.
    pub fn new_links(&self, page: usize, since_days: f64, now_days: f64) -> &[usize] {
        let page = &self.pages[page];
        let articles = self.shown_by(page);
        let (from, to) = (self.born_by(articles, since_days), self.born_by(articles, now_days));
        let oldest = if page.kind == PageKind::Front { to.saturating_sub(FRONT_LINKS) } else { 0 };
        &articles[from.max(oldest)..to]
    }

    /// All links of a page. An article links to its front page and its index page.
    pub fn links(&self, page: usize, now_days: f64) -> Vec<usize> {
        let WebPage { kind, group, .. } = self.pages[page];
        let (sites, sections) = (self.sites.len(), self.sections_per_site);
        let index_page = |section: usize| sites + section;
        match kind {
            PageKind::Front => {
                let index_pages = (group * sections..(group + 1) * sections).map(index_page);
                index_pages.chain(self.new_links(page, -1.0, now_days).iter().copied()).collect()
            }
            PageKind::Index => {
                let articles = self.new_links(page, f64::NEG_INFINITY, now_days);
                std::iter::once(group / sections).chain(articles.iter().copied()).collect()
            }
            PageKind::Article => {
                let cited = self.cited_by(page).iter().copied();
                [group / sections, index_page(group)].into_iter().chain(cited).collect()
            }
        }
    }

    /// The articles that an article cites.
    fn cited_by(&self, page: usize) -> &[usize] {
        let fixed = self.sites.len() + self.sections.len();
        page.checked_sub(fixed).and_then(|article| self.citations.get(article)).map_or(&[], Vec::as_slice)
    }

    /// By page: the times at which articles that cite it were born, rising. No citation is taken back.
    pub fn cited_days(&self) -> Vec<Vec<f64>> {
        let mut days = vec![Vec::new(); self.pages.len()];
        for (number, page) in self.pages.iter().enumerate() {
            self.cited_by(number).iter().for_each(|cited| days[*cited].push(page.born_days));
        }
        days
    }

    /// By page: its PageRank among the pages that are there at a time, 0 for those that are not.
    ///
    /// # Errors
    /// If there are more pages than a graph can have.
    pub fn importance(&self, now_days: f64) -> Result<Vec<f64>, SimulationError> {
        let there = self.pages.iter().filter(|page| page.born_days <= now_days).count();
        let nodes =
            u32::try_from(there).map_err(|_| SimulationError::Combination(format!("{there} pages are too many")))?;
        // Fixed pages come first and articles in the order of birth, so that those that are there have the first numbers.
        let links =
            |from: u32| self.links(from as usize, now_days).into_iter().map(move |to| Edge::plain(from, to as u32));
        let graph = Graph::new(nodes, (0..nodes).flat_map(links).collect(), Repeats::Once);
        let graph = graph.map_err(|error| SimulationError::Combination(error.to_string()))?;
        let mut importance = PageRank::default().rank(&graph).values;
        importance.resize(self.pages.len(), 0.0);
        Ok(importance)
    }

    /// The first change of a page after a time. Times must not go back by page.
    pub fn next_change_days(&mut self, page: usize, after_days: f64) -> f64 {
        while self.pages[page].next_own_days <= after_days {
            let WebPage { stream, next_own_days, changes_per_day, .. } = &mut self.pages[page];
            *next_own_days += stream.exponential() / *changes_per_day;
        }
        let page = &self.pages[page];
        let articles = self.shown_by(page);
        let birth = articles.get(self.born_by(articles, after_days)).map(|article| self.pages[*article].born_days);
        page.next_own_days.min(birth.unwrap_or(f64::INFINITY))
    }
}

struct Draw<'a> {
    options: &'a WebOptions,
    seed: u64,
}

impl Draw<'_> {
    fn section_url(&self, section: usize) -> String {
        let (site, section) = (section / self.options.sections, section % self.options.sections);
        format!("http://www.site{site}.example/section{section}")
    }

    fn page(
        &self,
        url: &str,
        kind: PageKind,
        born_days: f64,
        group: usize,
        number: usize,
    ) -> Result<WebPage, SimulationError> {
        let url = CanonicalUrl::parse(url).map_err(|error| SimulationError::Combination(format!("{url}: {error}")))?;
        let changes_per_day = match kind {
            PageKind::Front | PageKind::Index => INDEX_CHANGES_PER_DAY,
            PageKind::Article => {
                let spread = RandomStream::new(self.seed, number as u64, Purpose::ChangeRate).normal();
                self.options.changes_per_day * (self.options.change_spread * spread).exp()
            }
        };
        let stream = RandomStream::new(self.seed, number as u64, Purpose::Changes);
        Ok(WebPage { url, kind, born_days, group, changes_per_day, stream, next_own_days: born_days })
    }

    /// Times of birth with their sections.
    fn births(&self, end_days: f64) -> Vec<(f64, usize)> {
        let mut births = Vec::new();
        for section in 0..self.options.sites * self.options.sections {
            let mut stream = RandomStream::new(self.seed, section as u64, Purpose::Host);
            let per_day = self.options.births_per_section_day * stream.gamma(BIRTH_SHAPE) / BIRTH_SHAPE;
            births.extend((0..self.options.articles).map(|_| (-1.0, section)));
            let mut days = stream.exponential() / per_day;
            while days < end_days {
                births.push((days, section));
                days += stream.exponential() / per_day;
            }
        }
        if let Some((days, articles)) = self.options.flood {
            let sections = (self.options.sites * self.options.sections).min(FLOODED_SECTIONS);
            births.extend((0..articles).map(|number| (days, number % sections)));
        }
        births
    }
}
