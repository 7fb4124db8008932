//! Answers the questions of operators. It changes nothing.

use crate::Scheduler;
use crate::state::{FORGOTTEN, HOSTS, PAGES};
use frontier::{HostListing, HostTally, PageListing, PageSource};
use messages::topics::ANSWERS;
use messages::{HostSelection, PageSelection, Question, QuestionDesk, QuestionKind};
use page::HostName;
use stream::{Context, ProcessError, Processor, TableKey};

/// Number of hosts that an answer lists at most, so that it fits into a record.
pub const MOST_LISTED_HOSTS: i32 = 10_000;
/// Number of pages that an answer lists at most.
const MOST_LISTED_PAGES: i32 = 5_000;
/// Number of pages that are looked at for one answer, so that the crawl does not wait for it.
const MOST_PAGES_LOOKED_AT: usize = 20_000;

impl Scheduler {
    pub(crate) fn answer(&mut self, question: &Question, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let task = context.task();
        let answer = self.questions.open(question, &task.stage, task.partition, context.now());
        let Some(mut answer) = answer else { return Ok(()) };
        match (question.about, &question.url, question.hosts) {
            (QuestionKind::Page | QuestionKind::Explanation, Some(url), _) => {
                let id = url.page_id();
                let page = context.get(PAGES, &id)?;
                let host = context.get(HOSTS, &HostName::of(url))?;
                answer.add(FORGOTTEN.name(), context.get(FORGOTTEN, &id)?.as_ref());
                if question.about == QuestionKind::Page {
                    answer.add(PAGES.name(), page.as_ref());
                    answer.add(HOSTS.name(), host.as_ref());
                } else if let Some(page) = page
                    && let Some(explanation) = self.frontier.explain(&page, host, context.now())
                {
                    answer.set_json(&explanation).map_err(ProcessError::SetAside)?;
                }
            }
            (QuestionKind::Figures, _, _) => {
                answer.set_figures(&self.figures()).map_err(ProcessError::SetAside)?;
            }
            (QuestionKind::Hosts, _, Some(selection)) => {
                let listing = self.list_hosts(selection, context)?;
                answer.set_json(&listing).map_err(ProcessError::SetAside)?;
            }
            (QuestionKind::Pages, ..) if let Some(selection) = &question.pages => {
                let listing = Self::list_pages(selection, context)?;
                answer.set_json(&listing).map_err(ProcessError::SetAside)?;
            }
            (QuestionKind::Discovered, url, _) if url.is_some() || question.site.is_some() => {
                let of_site = || question.site.clone().map(PageSource::Site);
                let source = url.as_ref().map(|url| PageSource::Page(url.page_id())).or_else(of_site);
                let count = source.map_or(Ok(0), |source| self.count_discovered(&source, context))?;
                answer.set_json(&count).map_err(ProcessError::SetAside)?;
            }
            _ => return Err(ProcessError::SetAside(QuestionDesk::refusal(question))),
        }
        context.emit(ANSWERS, answer);
        Ok(())
    }

    /// Counts the pages that a command to forget discovered pages would forget. Reads all pages of the partition.
    fn count_discovered(&self, source: &PageSource, context: &Context<'_>) -> Result<u64, ProcessError> {
        let mut count = 0;
        context.scan(PAGES, b"", &mut |_, page| {
            count += u64::from(page.was_found_on(source));
            Ok(())
        })?;
        Ok(count)
    }

    /// Lists pages from the given one on, until the list is full or enough pages were looked at.
    fn list_pages(selection: &PageSelection, context: &Context<'_>) -> Result<PageListing, ProcessError> {
        let selection = PageSelection { at_most: selection.at_most.min(MOST_LISTED_PAGES), ..selection.clone() };
        let mut from = selection.after.map(|after| after.to_bytes().as_ref().to_vec()).unwrap_or_default();
        // The next key in the order of bytes.
        from.extend(selection.after.map(|_| 0));
        let pages = context.entries_from(PAGES, &from, MOST_PAGES_LOOKED_AT)?;
        let last = pages.last().filter(|_| pages.len() < MOST_PAGES_LOOKED_AT).map(|(id, _)| *id);
        let mut listing = PageListing::of(pages, &selection);
        listing.next_after = listing.next_after.filter(|next_after| Some(*next_after) != last);
        Ok(listing)
    }

    /// Reads all pages of the partition, as a start does.
    fn list_hosts(&self, selection: HostSelection, context: &Context<'_>) -> Result<HostListing, ProcessError> {
        let mut tally = HostTally::new(self.frontier.rules(), context.now());
        context.scan(PAGES, b"", &mut |_, page| {
            tally.add_page(&page);
            Ok(())
        })?;
        context.scan(HOSTS, b"", &mut |host, schedule| {
            tally.add_host(host, schedule);
            Ok(())
        })?;
        Ok(tally.listing(HostSelection { at_most: selection.at_most.min(MOST_LISTED_HOSTS), ..selection }))
    }
}
