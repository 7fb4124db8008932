//! The web that the demo crawls: its source, the behaviour of its hosts, and the seeds of the crawl.

use super::{DemoArguments, START};
use page::CanonicalUrl;
use recrawl::CommandFailure;
use settings::seeds::Seed;
use simweb::{
    ChangeTrace, FaultRule, FaultScope, HostDials, HostRobots, HostSitemap, PageHistory, ReplayConfig, SimWebConfig,
    TimeWindow, Web, WebFault, WebSource,
};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Directory of the corpora, unless RECRAWL_CORPORA is set.
const DEFAULT_CORPORA: &str = "../shared/corpora";
/// One host in three has a sitemap, one in four asks for more time between requests, one in five forbids a page.
const SITEMAP_EVERY: usize = 3;
const SLOW_EVERY: usize = 4;
const FORBIDDING_EVERY: usize = 5;
/// The delay that slow hosts ask for, twice the demo's own.
const SLOW_DELAY_S: f64 = 60.0;
/// One page in ten is this important; the others weigh 1.
const HEAVY_EVERY: usize = 10;
const HEAVY: f64 = 5.0;
/// Shares of the requests that fail.
const UNAVAILABLE: f64 = 0.01;
const RESET: f64 = 0.002;
const RETRY_AFTER_S: u32 = 3_600;

/// Real pages if corpora are present, otherwise real change times on pages of our own making.
pub(super) fn source(arguments: &DemoArguments) -> Result<(WebSource, String), CommandFailure> {
    let named = std::env::var_os("RECRAWL_CORPORA").map(PathBuf::from);
    let corpora = named.clone().unwrap_or_else(|| PathBuf::from(DEFAULT_CORPORA)).join("content");
    if !arguments.built_in && corpora.is_dir() {
        let mut replay = ReplayConfig::new(&corpora);
        replay.days = arguments.days;
        replay.max_pages_per_source = arguments.pages_per_source;
        replay.sources.clone_from(&arguments.sources);
        replay.start = START;
        let described = format!("real sites with their bytes ({})", display(&corpora));
        return Ok((WebSource::Replay(replay), described));
    }
    if let (Some(named), false) = (named, arguments.built_in) {
        return Err(CommandFailure::Input(format!("RECRAWL_CORPORA: {}/content does not exist", named.display())));
    }
    if let Some(source) = arguments.sources.first() {
        let problem = format!("--source {source}: no corpora at {}; set RECRAWL_CORPORA", corpora.display());
        return Err(CommandFailure::Input(problem));
    }
    let mut trace = ChangeTrace::built_in(START);
    trace.window = TimeWindow::days_from(START, arguments.days.min(trace.window.days()));
    Ok((WebSource::Trace(trace), "the real change times that come with recrawl, on pages of our own making".to_owned()))
}

fn display(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The web as a crawler meets it: sitemaps on some hosts, rules in robots.txt, and errors.
pub(super) fn lifelike(source: WebSource, seed: u64) -> Result<SimWebConfig, CommandFailure> {
    let trace = match &source {
        WebSource::Replay(replay) => replay.trace().map_err(|error| CommandFailure::World(error.to_string()))?,
        WebSource::Trace(trace) => trace.clone(),
        WebSource::Seeded(seeded) => seeded.trace(),
    };
    let unavailable = WebFault::Status { code: 503, retry_after_s: Some(RETRY_AFTER_S) };
    let faults = vec![
        FaultRule::everywhere(FaultScope::Requests(UNAVAILABLE), unavailable),
        FaultRule::everywhere(FaultScope::Requests(RESET), WebFault::ResetMidBody),
    ];
    let mut config = SimWebConfig { seed, faults, ..SimWebConfig::new(source) };
    for (number, host) in trace.hosts().into_iter().enumerate() {
        let last = trace.pages.iter().rfind(|page| page.host == host);
        config.host_dials.insert(host.to_string(), dials(number, last));
    }
    Ok(config)
}

/// The manners of the host with this number. It may forbid its last page.
fn dials(number: usize, last: Option<&PageHistory>) -> HostDials {
    let is_one_in = |every: usize| number % every == every - 1;
    let forbidden = last.filter(|page| is_one_in(FORBIDDING_EVERY) && &*page.path != "/");
    HostDials {
        robots: HostRobots {
            disallow: forbidden.map(|page| page.path.to_string()).into_iter().collect(),
            crawl_delay_s: is_one_in(SLOW_EVERY).then_some(SLOW_DELAY_S),
            ..HostRobots::default()
        },
        latency: Duration::ZERO,
        sitemap: if is_one_in(SITEMAP_EVERY) { HostSitemap::Truthful } else { HostSitemap::None },
        ..HostDials::default()
    }
}

/// The pages that exist through the whole window. Only they are judged, and the budget is based on their number.
pub(super) fn judged_pages(trace: &ChangeTrace, days: f64) -> ChangeTrace {
    let window = TimeWindow::days_from(START, days.min(trace.window.days()));
    let mut judged = trace.clone();
    judged.window = window;
    judged.pages.retain(|page| page.exists_at(window.start) && page.exists_at(window.end));
    judged
}

/// The pages that robots.txt forbids and that exist at the start.
pub(super) fn forbidden_pages(web: &Web) -> Vec<PageHistory> {
    let allowed: HashSet<_> = web.allowed_trace().pages.into_iter().map(|page| (page.host, page.path)).collect();
    let is_forbidden = |page: &&PageHistory| {
        page.exists_at(START) && !allowed.contains(&(Arc::clone(&page.host), Arc::clone(&page.path)))
    };
    web.trace().pages.iter().filter(is_forbidden).cloned().collect()
}

/// The importance of each page.
pub(super) fn weights(judged: &ChangeTrace, plain: bool) -> Vec<f64> {
    let weight = |number: usize| if !plain && number % HEAVY_EVERY == HEAVY_EVERY - 1 { HEAVY } else { 1.0 };
    (0..judged.pages.len()).map(weight).collect()
}

/// The judged pages with their weights, and the pages that robots.txt forbids: the crawl has to find that out.
pub(super) fn seeds(
    judged: &ChangeTrace,
    weights: &[f64],
    forbidden: &[PageHistory],
) -> Result<Vec<Seed>, CommandFailure> {
    let weighted = judged.pages.iter().zip(weights.iter().copied());
    let forbidden = forbidden.iter().map(|page| (page, 1.0));
    let seed = |(line, (page, weight)): (usize, (&PageHistory, f64))| match CanonicalUrl::parse(&page.url()) {
        Ok(url) => Ok(Seed { url, weight, changed_at: None, line: line + 1 }),
        Err(error) => Err(CommandFailure::World(format!("page {} of the web is not a URL: {error}", page.url()))),
    };
    weighted.chain(forbidden).enumerate().map(seed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_web_has_lists_rules_and_errors_and_few_pages_are_forbidden() {
        let trace = ChangeTrace::built_in(START);
        let hosts = trace.hosts().len();
        let config = lifelike(WebSource::Trace(trace), 1).expect("the built-in trace is readable");
        assert_eq!((config.host_dials.len(), config.faults.len()), (hosts, 2));
        let count = |has: fn(&HostDials) -> bool| config.host_dials.values().filter(|dials| has(dials)).count();
        assert_eq!(count(|dials| dials.sitemap != HostSitemap::None), hosts / SITEMAP_EVERY);
        assert_eq!(count(|dials| dials.robots.crawl_delay_s.is_some()), hosts / SLOW_EVERY);
        assert_eq!(count(|dials| !dials.robots.disallow.is_empty()), hosts / FORBIDDING_EVERY);
    }

    #[test]
    fn a_tenth_of_the_pages_is_important_unless_the_web_is_plain() {
        let judged = judged_pages(&ChangeTrace::built_in(START), 120.0);
        let heavy = weights(&judged, false).iter().filter(|weight| **weight > 1.0).count();
        assert_eq!(heavy, judged.pages.len() / HEAVY_EVERY);
        assert!(weights(&judged, true).iter().all(|weight| *weight == 1.0));
    }
}
