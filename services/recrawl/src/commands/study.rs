//! `recrawl study`: how the pages of a crawl change, and how they are linked (section 1.4 of Meng, Wang & Yan's survey, of one's own
//! crawl).

mod history;
mod links;
mod report;
mod text;

use self::history::PageChanges;
use self::links::LinkCounts;
use self::report::Study;
use crate::CommandFailure;
use crate::commands::CrawlArguments;
use ::page::{PageId, Timestamp};
use clap::Args;
use daemon::TopicReader;
use messages::{PageChange, PageSelection, Verdict, topics};
use outputs::source::{DecodedRecord, decode};
use outputs::stdout::{Format, answer};
use scheduler::ListedPage;
use std::collections::BTreeMap;

/// Arguments of `recrawl study`.
#[derive(Args, Debug)]
pub struct StudyArguments {
    #[command(flatten)]
    crawl: CrawlArguments,
    /// Number of pages that are studied. If a crawl has more, those with the smallest ids are: a random choice, and the same one
    /// every time.
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(1..))]
    sample: u32,
    /// Number of hosts, kinds and so on that are shown of each, most pages first; 0 shows all.
    #[arg(long, default_value_t = 10)]
    top: usize,
}

/// A page of the sample.
struct StudiedPage {
    listed: ListedPage,
    changes: PageChanges,
}

/// The sample of a crawl.
struct Sample {
    /// Pages of the crawl.
    known: u64,
    pages: BTreeMap<PageId, StudiedPage>,
    /// Changes of these pages that were read, and the first of all that are kept.
    changes: u64,
    since: Option<Timestamp>,
    /// Records of another version, whose schema has not arrived.
    unreadable: u64,
    links: LinkCounts,
}

pub fn study(arguments: &StudyArguments, format: Format) -> Result<(), CommandFailure> {
    let (settings, state) = arguments.crawl.open()?;
    let selection = PageSelection {
        after: None,
        at_most: i32::MAX,
        host: None,
        address_part: None,
        outcome: None,
        verdict: None,
        never_fetched: false,
    };
    let (mut known, mut pages) = (0, BTreeMap::new());
    state.list_pages(&selection, &mut |listed| {
        known += 1;
        pages.insert(listed.url.page_id(), StudiedPage { listed, changes: PageChanges::default() });
        if pages.len() > arguments.sample as usize {
            pages.pop_last();
        }
    })?;
    if pages.is_empty() {
        let problem = "the crawl has no pages yet; give it some with recrawl run --seeds or recrawl seed";
        return Err(CommandFailure::No(problem.to_owned()));
    }
    let links = LinkCounts::read(state.as_ref(), &pages, &settings.urls.rules())?;
    let mut sample = Sample { known, pages, changes: 0, since: None, unreadable: 0, links };
    let mut reader = TopicReader::open(&settings, topics::PAGE_CHANGES, "recrawl-study")?;
    reader.read_all(|record| {
        match decode::<PageChange>(record) {
            DecodedRecord::Message(change) => sample.take(&change),
            DecodedRecord::Awaits(_) => sample.unreadable += 1,
            DecodedRecord::Nothing => {}
        }
        Ok(())
    })?;
    let top = if arguments.top == 0 { usize::MAX } else { arguments.top };
    answer(format, &Study::of(&sample, top), text::text)
}

impl Sample {
    fn take(&mut self, change: &PageChange) {
        self.since = Some(self.since.map_or(change.seen_at, |since| since.min(change.seen_at)));
        if let Some(page) = self.pages.get_mut(&change.page_id) {
            self.changes += u64::from(matches!(change.verdict, Verdict::Minor | Verdict::Major));
            page.changes.take(change);
        }
    }
}
