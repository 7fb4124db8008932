//! `recrawl pages`: lists pages by what is known of them.

use crate::CommandFailure;
use crate::commands::CrawlArguments;
use clap::{Args, ValueEnum};
use messages::{AnswerKind, OutcomeClass, PageSelection, Verdict, word};
use outputs::stdout::{Format, answer, answers, print_bytes};
use page::HostName;
use scheduler::ListedPage;
use std::cmp::Ordering;

/// Pages that are kept at least while the others are read.
const LEAST_KEPT: usize = 10_000;

/// Arguments of `recrawl pages`.
#[derive(Args, Debug)]
pub struct PagesArguments {
    #[command(flatten)]
    crawl: CrawlArguments,
    /// Only pages of this host and of those below it.
    #[arg(long)]
    host: Option<String>,
    /// Only pages with this text in their address, in any case.
    #[arg(long, value_name = "TEXT")]
    contains: Option<String>,
    /// Only pages whose last request went so: fetched, unchanged, missing, failed, not_sent, or a kind that `recrawl status
    /// --format json` names, such as not_found or robots_disallowed.
    #[arg(long, value_name = "KIND")]
    outcome: Option<String>,
    /// Only pages whose last look brought this verdict.
    #[arg(long)]
    verdict: Option<ShownVerdict>,
    /// Only pages without a copy.
    #[arg(long)]
    never_fetched: bool,
    /// Only pages that a rule of the settings watches or crawls, by its name or number.
    #[arg(long)]
    rule: Option<String>,
    /// Only pages that an operator named.
    #[arg(long)]
    seeds: bool,
    /// Only pages whose last request failed.
    #[arg(long, conflicts_with = "outcome")]
    failing: bool,
    /// Order of the pages. All that are selected are read for it.
    #[arg(long, value_name = "ORDER")]
    sort: Option<PageOrder>,
    /// Prints a table in CSV.
    #[arg(long)]
    csv: bool,
    /// Number of pages shown; 0 shows all.
    #[arg(long, default_value_t = 50)]
    top: u32,
}

/// An order of pages, from the first to the last shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PageOrder {
    /// By their addresses.
    Address,
    /// Last looked at first.
    LastLook,
    /// Last changed first.
    LastChange,
    /// Most fetches first.
    Fetches,
    /// Most changes first.
    Changes,
}

impl PageOrder {
    fn sort(self, pages: &mut [ListedPage]) {
        pages.sort_by(|a, b| {
            let order = match self {
                Self::Address => Ordering::Equal,
                Self::LastLook => b.last_look_at.cmp(&a.last_look_at),
                Self::LastChange => b.last_change_at.cmp(&a.last_change_at),
                Self::Fetches => b.fetches.cmp(&a.fetches),
                Self::Changes => b.changes.cmp(&a.changes),
            };
            order.then_with(|| a.url.cmp(&b.url))
        });
    }
}

/// A verdict on the last look at a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ShownVerdict {
    /// The first version.
    First,
    Unchanged,
    /// Other bytes, but no difference for a reader.
    Cosmetic,
    /// A small change.
    Minor,
    /// A large change.
    Major,
    Gone,
    Returned,
    /// The look said nothing about the content.
    Unknown,
}

impl From<ShownVerdict> for Verdict {
    fn from(verdict: ShownVerdict) -> Self {
        match verdict {
            ShownVerdict::First => Self::First,
            ShownVerdict::Unchanged => Self::Unchanged,
            ShownVerdict::Cosmetic => Self::Cosmetic,
            ShownVerdict::Minor => Self::Minor,
            ShownVerdict::Major => Self::Major,
            ShownVerdict::Gone => Self::Gone,
            ShownVerdict::Returned => Self::Returned,
            ShownVerdict::Unknown => Self::Unknown,
        }
    }
}

pub fn pages(arguments: &PagesArguments, format: Format) -> Result<(), CommandFailure> {
    let outcome = if arguments.failing { Some("failed") } else { arguments.outcome.as_deref() };
    let outcome = outcome.map(known_outcome).transpose()?;
    let (settings, state) = arguments.crawl.open()?;
    let sets = state.saved_rules()?;
    let (watched, scope, saved) = (sets.in_force(&settings)?, scope::configured(&settings)?, sets.crawl_rules()?);
    if let Some(name) = &arguments.rule
        && !watched.iter().any(|rule| rule.name() == name)
        && !scope.rules().iter().chain(saved.rules()).any(|rule| rule.name() == name)
    {
        return Err(CommandFailure::Input(format!(
            "--rule {name}: no rule of the settings has this name, and none that was saved"
        )));
    }
    let has_rule = |page: &ListedPage, name: &str| {
        watched.find(&page.url).is_some_and(|rule| rule.name() == name)
            || [&scope, &saved].iter().any(|scope| scope.rule(&page.url).is_some_and(|rule| rule.name() == name))
    };
    let is_shown = |page: &ListedPage| {
        (page.is_seed || !arguments.seeds) && arguments.rule.as_ref().is_none_or(|name| has_rule(page, name))
    };
    let top = if arguments.top == 0 { usize::MAX } else { arguments.top as usize };
    // One more says whether there are more. What is chosen here, and not by the scheduler, has to be seen whole.
    let is_chosen_here = arguments.seeds || arguments.rule.is_some() || arguments.sort.is_some();
    let at_most = if is_chosen_here { i32::MAX } else { i32::try_from(top.saturating_add(1)).unwrap_or(i32::MAX) };
    let selection = PageSelection {
        after: None,
        at_most,
        host: arguments.host.as_ref().map(|host| HostName::from_name(host.to_lowercase())),
        address_part: arguments.contains.clone(),
        outcome,
        verdict: arguments.verdict.map(Verdict::from),
        never_fetched: arguments.never_fetched,
    };
    let order = arguments.sort.unwrap_or(PageOrder::Address);
    let mut listed = Vec::new();
    state.list_pages(&selection, &mut |page| {
        if is_shown(&page) {
            listed.push(page);
        }
        // Millions may be selected, and no more are kept than are shown.
        if listed.len() / 2 > top.max(LEAST_KEPT) {
            order.sort(&mut listed);
            listed.truncate(top + 1);
        }
    })?;
    order.sort(&mut listed);
    let has_more = listed.len() > top;
    listed.truncate(top);
    match format {
        _ if arguments.csv => print_bytes(&table(&listed)?),
        Format::Text => answer(format, &listed, |pages| text(pages, has_more)),
        Format::Json | Format::Jsonl => answers(format, &listed, |_| String::new()),
    }
}

/// The word, if it is one of those by which requests are reported.
pub(crate) fn known_outcome(outcome: &str) -> Result<String, CommandFailure> {
    let reports = AnswerKind::all().map(AnswerKind::report);
    let mut words: Vec<String> = reports.map(|report| report.name.to_owned()).collect();
    let classes = [
        OutcomeClass::Fetched,
        OutcomeClass::Unchanged,
        OutcomeClass::Missing,
        OutcomeClass::Failed,
        OutcomeClass::NotSent,
    ];
    words.extend(classes.iter().map(word));
    let problem = || format!("--outcome {outcome}: there is no such outcome; give one of {}", words.join(", "));
    words.iter().find(|word| *word == outcome).cloned().ok_or_else(|| CommandFailure::Input(problem()))
}

/// The fields of the JSON form as columns.
fn table(pages: &[ListedPage]) -> Result<Vec<u8>, CommandFailure> {
    let mut table = csv::Writer::from_writer(Vec::new());
    let failed = |error: csv::Error| CommandFailure::World(format!("cannot write the table: {error}"));
    for page in pages {
        table.serialize(page).map_err(failed)?;
    }
    table.into_inner().map_err(|error| CommandFailure::World(format!("cannot write the table: {}", error.error())))
}

fn text(pages: &[ListedPage], has_more: bool) -> String {
    let time = |time: Option<page::Timestamp>| time.map_or("never".to_owned(), |time| time.to_string());
    let (last_look, last_change) = ("last look", "last change");
    let mut lines = vec![format!("{last_look:<27} {last_change:<27} {:<18} {:<9} page", "last request", "verdict")];
    lines.extend(pages.iter().map(|page| {
        let outcome = page.outcome.as_deref().unwrap_or("none");
        let verdict = page.verdict.as_ref().map_or("-".to_owned(), word);
        let (look, change) = (time(page.last_look_at), time(page.last_change_at));
        format!("{look:<27} {change:<27} {outcome:<18} {verdict:<9} {}", page.url)
    }));
    if has_more {
        lines.push(format!("{} pages, and there are more; --top 0 shows all", pages.len()));
    } else if pages.is_empty() {
        lines = vec!["no page".to_owned()];
    }
    lines.join("\n")
}
