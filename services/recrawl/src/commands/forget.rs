//! `recrawl forget`: removes pages from a crawl, and waits until they are gone if asked.

use crate::CommandFailure;
use crate::commands::operate::{OperateArguments, counted, sent_in_words};
use crate::stages::topologies;
use ::operate::state::CrawlState;
use ::operate::{Crawl, NamedSource, Order, not_known};
use clap::Args;
use messages::{CommandKind, HostOrder, HostSelection};
use outputs::stdout::{Format, answer};
use page::{CanonicalUrl, Host, Timestamp};
use scheduler::ForgottenPage;
use serde::Serialize;
use settings::Settings;
use std::time::{Duration, Instant};

/// How often the stages are asked.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// How long stages over Kafka have to answer once.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);

/// Arguments of `recrawl forget`.
#[derive(Args, Debug)]
pub struct ForgetArguments {
    #[command(flatten)]
    operate: OperateArguments,
    /// Names are hosts: all their pages are forgotten, and those of all hosts below them.
    #[arg(long, group = "many")]
    site: bool,
    /// Names are pages or sites (such as example.org): what was found first on them is forgotten, but no seeds. --dry-run says how
    /// many such pages are left.
    #[arg(long, group = "many")]
    discovered_from: bool,
    /// Says how many pages that would be now, and forgets none.
    #[arg(long, requires = "many", conflicts_with = "wait")]
    dry_run: bool,
    /// Waits until scheduler, detector and estimator have deleted the pages, and no request for them is under way.
    #[arg(long, conflicts_with_all = ["url", "discovered_from"])]
    wait: bool,
    /// Longest wait. After it the command ends with exit status 3, and the pages are still being removed.
    #[arg(long, value_name = "DURATION", default_value = "5m")]
    timeout: humantime::Duration,
}

#[derive(Serialize)]
struct Forgotten {
    sent: usize,
    /// Whether all is gone. Absent without --wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    gone: Option<bool>,
}

#[derive(Serialize)]
struct Discovered {
    pages: u64,
}

#[derive(Serialize)]
struct Counted {
    pages: u64,
    hosts: usize,
}

/// Sends the commands, and waits for their end if asked.
pub fn forget(arguments: &ForgetArguments, format: Format) -> Result<(), CommandFailure> {
    let kind = match (arguments.site, arguments.discovered_from) {
        (true, _) => CommandKind::ForgetSite,
        (false, true) => CommandKind::ForgetDiscovered,
        (false, false) => CommandKind::Forget,
    };
    let (settings, order) = arguments.operate.order(kind)?;
    if arguments.dry_run {
        return count(&settings, &order, format);
    }
    let crawl = arguments.operate.crawl(&settings)?;
    if arguments.wait && settings.crawl.data.is_some() && matches!(crawl, Crawl::Log(..)) {
        return Err(CommandFailure::Input(
            "--wait: this crawl does not run, so nothing is removed; start it with recrawl run, or leave --wait out"
                .to_owned(),
        ));
    }
    let awaited = if arguments.wait { awaited(&settings, &order)? } else { Vec::new() };
    crawl.send(&order)?;
    if arguments.wait {
        wait(&settings, &awaited, *arguments.timeout)?;
    }
    let sent = order.count();
    let forgotten = Forgotten { sent, gone: arguments.wait.then_some(true) };
    answer(format, &forgotten, |_| match arguments.wait {
        false => sent_in_words(kind, sent),
        true => format!("forgotten and gone: {sent} {}", counted(kind, sent)),
    })
}

/// A page that is waited for.
struct AwaitedPage {
    url: CanonicalUrl,
    /// When it was forgotten before.
    before: Option<Timestamp>,
}

impl AwaitedPage {
    fn is_gone(&self, forgotten: Option<&ForgottenPage>) -> bool {
        forgotten.is_some_and(|it| Some(it.forgotten_at) != self.before && it.gone_at.is_some())
    }
}

/// The pages whose removal shows that an order is carried out. Of a site that is the front page: it goes last.
fn awaited(settings: &Settings, order: &Order) -> Result<Vec<AwaitedPage>, CommandFailure> {
    let urls = match order {
        Order::Pages(_, urls) => urls.clone(),
        Order::Hosts(_, hosts) => hosts
            .iter()
            .map(Host::front_page)
            .collect::<Result<_, _>>()
            .map_err(|error| CommandFailure::Input(error.to_string()))?,
        Order::Seeds { .. }
        | Order::Sources(..)
        | Order::AddFocus { .. }
        | Order::RemoveFocus(_)
        | Order::SaveRules(_) => Vec::new(),
    };
    let (rules, state) = (settings.urls.rules(), open(settings)?);
    let awaited = urls.into_iter().map(|url| {
        let url = rules.apply(url);
        let before = state.page(&url)?.forgotten.map(|it| it.forgotten_at);
        Ok(AwaitedPage { url, before })
    });
    awaited.collect()
}

fn wait(settings: &Settings, awaited: &[AwaitedPage], timeout: Duration) -> Result<(), CommandFailure> {
    let end = Instant::now() + timeout;
    for (place, page) in awaited.iter().enumerate() {
        loop {
            // Stages may start again meanwhile.
            let problem = match open(settings).and_then(|state| state.page(&page.url)) {
                Ok(parts) if page.is_gone(parts.forgotten.as_ref()) => break,
                Ok(parts) => match parts.forgotten.filter(|it| Some(it.forgotten_at) != page.before) {
                    Some(forgotten) => not_known(&page.url, Some(forgotten)).to_string(),
                    None => format!("the scheduler has not come to {}", page.url),
                },
                Err(CommandFailure::World(problem)) => problem,
                Err(failure) => return Err(failure),
            };
            if Instant::now() >= end {
                let (left, url) = (awaited.len() - place, &page.url);
                let timeout = humantime::format_duration(timeout);
                return Err(CommandFailure::World(format!(
                    "sent, but {left} of {} are not gone after {timeout}: {problem}; recrawl page {url} says how far it is",
                    awaited.len()
                )));
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }
    Ok(())
}

fn open(settings: &Settings) -> Result<Box<dyn CrawlState>, CommandFailure> {
    ::operate::state::open(settings, topologies(), ANSWER_WITHIN)
}

/// Counts the pages that were found first on any of these sources.
fn count_discovered(
    settings: &Settings,
    sources: &[NamedSource],
    state: &dyn CrawlState,
    format: Format,
) -> Result<(), CommandFailure> {
    let rules = settings.urls.rules();
    let mut discovered = Discovered { pages: 0 };
    for source in sources {
        let source = match source {
            NamedSource::Page(url) => NamedSource::Page(rules.apply(url.clone())),
            NamedSource::Site(host) => NamedSource::Site(host.clone()),
        };
        discovered.pages += state.discovered_on(&source)?;
    }
    answer(format, &discovered, |counted| format!("{} pages would be forgotten", counted.pages))
}

/// Counts the pages that an order about sites or sources concerns.
fn count(settings: &Settings, order: &Order, format: Format) -> Result<(), CommandFailure> {
    let state = open(settings)?;
    let wanted = match order {
        Order::Hosts(_, wanted) => wanted,
        Order::Sources(_, sources) => return count_discovered(settings, sources, &*state, format),
        Order::Seeds { .. }
        | Order::Pages(..)
        | Order::AddFocus { .. }
        | Order::RemoveFocus(_)
        | Order::SaveRules(_) => return Ok(()),
    };
    let at_most = state.most_hosts().unwrap_or(i32::MAX);
    let listing = state.hosts(HostSelection { order: HostOrder::Pages, at_most })?;
    let left_out = listing.known.saturating_sub(listing.hosts.len() as u64);
    let concerned =
        listing.hosts.iter().filter(|report| wanted.iter().any(|host| report.host.is_at_or_below(&host.name())));
    let counted = concerned.fold(Counted { pages: 0, hosts: 0 }, |sum, report| Counted {
        pages: sum.pages + report.pages,
        hosts: sum.hosts + 1,
    });
    if left_out > 0 {
        eprintln!("recrawl: {left_out} hosts with the fewest pages are not counted");
    }
    answer(format, &counted, |counted| format!("{} pages of {} hosts would be forgotten", counted.pages, counted.hosts))
}
