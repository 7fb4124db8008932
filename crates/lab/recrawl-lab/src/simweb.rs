//! `recrawl-lab simweb`: serves a seeded, replayed or built-in web until a signal stops it. The first line on stdout is its
//! address.

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use page::Timestamp;
use recrawl::CommandFailure;
use simweb::{
    ChangeRates, ChangeTrace, FaultRule, FaultScope, HostDials, HostNames, HostRobots, HostSitemap, PageDates,
    ReplayConfig, SeededConfig, SimWeb, SimWebConfig, ValidatorSupport, WebFault, WebSource, scaled_clock,
    write_ledger,
};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};
use tokio::signal::unix::{SignalKind, signal};

/// Arguments of `recrawl-lab simweb`.
#[derive(Args)]
pub(crate) struct SimwebArguments {
    #[command(subcommand)]
    source: SourceArguments,
    #[command(flatten)]
    common: CommonArguments,
}

#[derive(Subcommand)]
enum SourceArguments {
    /// Generates pages from a seed, with Poisson change times.
    Seeded {
        /// Number of hosts.
        #[arg(long, default_value_t = 10)]
        hosts: usize,
        /// Number of pages on each host.
        #[arg(long, default_value_t = 100)]
        pages_per_host: usize,
        /// Median change rate of a page, in changes per day.
        #[arg(long, default_value_t = 0.1)]
        changes_per_day: f64,
        /// Standard deviation of the logarithm of the change rate; with 0 all pages have the same rate.
        #[arg(long, default_value_t = 1.5)]
        log_deviation: f64,
        /// Names the hosts 127.0.0.1, 127.0.0.2 … instead of host-0001.test ….
        #[arg(long)]
        loopback: bool,
    },
    /// Replays the pages of a corpus at their real change times.
    Replay {
        /// Directory with pages.csv.zst and changes.csv.zst.
        directory: PathBuf,
        /// Sources to replay, separated by commas. Defaults to all.
        #[arg(long, value_delimiter = ',')]
        sources: Vec<String>,
        /// Most pages taken from each source.
        #[arg(long, default_value_t = usize::MAX, hide_default_value = true)]
        per_source: usize,
        /// Serves generated text even if the corpus has the bytes of a page.
        #[arg(long)]
        without_bytes: bool,
    },
    /// Replays the built-in change times.
    BuiltIn,
}

#[derive(Args)]
struct CommonArguments {
    /// Address to listen on. Port 0 takes any free port.
    #[arg(long, global = true, default_value = "127.0.0.1:0")]
    bind: SocketAddr,
    /// Length of the history, in days of virtual time.
    #[arg(long, global = true, default_value_t = 150.0)]
    days: f64,
    /// Virtual time at the start, in seconds since 1970.
    #[arg(long, global = true, default_value_t = 1_700_000_000)]
    origin: i64,
    /// Virtual seconds per real second.
    #[arg(long, global = true, default_value_t = 1.0)]
    speed: f64,
    /// Real time at which virtual time equals the origin, in seconds since 1970. Defaults to now. Lets processes
    /// share a clock.
    #[arg(long, global = true)]
    clock_start: Option<f64>,
    /// Random seed. The same seed gives the same web and the same faults.
    #[arg(long, global = true, default_value_t = 1)]
    seed: u64,
    /// Mean length of generated pages, in bytes.
    #[arg(long, global = true, default_value_t = 14_000)]
    page_bytes: usize,
    /// Path prefix that robots.txt disallows. May be repeated.
    #[arg(long, global = true)]
    disallow: Vec<String>,
    /// Crawl-delay in robots.txt, in seconds.
    #[arg(long, global = true)]
    crawl_delay: Option<f64>,
    /// Sends no ETag.
    #[arg(long, global = true)]
    no_etag: bool,
    /// Sends no Last-Modified.
    #[arg(long, global = true)]
    no_last_modified: bool,
    /// Serves a sitemap of every host, named in its robots.txt.
    #[arg(long, global = true)]
    sitemap: bool,
    /// Share of the sitemaps that mislead: late by days, all dates now, half of the pages, or buried in an index.
    #[arg(long, global = true, default_value_t = 0.0)]
    misleading_sitemaps: f64,
    /// Share of the pages that send Last-Modified.
    #[arg(long, global = true, default_value_t = 1.0)]
    dated_share: f64,
    /// Delay of every response, in real milliseconds.
    #[arg(long, global = true, default_value_t = 0)]
    latency_ms: u64,
    /// Share of page requests that are answered with 503 and Retry-After: 60.
    #[arg(long, global = true, default_value_t = 0.0)]
    unavailable_share: f64,
    /// Share of page requests whose connection is reset in the middle of the body.
    #[arg(long, global = true, default_value_t = 0.0)]
    reset_share: f64,
    /// File for the ledger (CSV), written on Ctrl-C or SIGTERM.
    #[arg(long, global = true)]
    ledger: Option<PathBuf>,
    /// File for the URLs of all pages, one per line, written before serving.
    #[arg(long, global = true)]
    write_seeds: Option<PathBuf>,
}

impl SourceArguments {
    fn source(self, common: &CommonArguments) -> WebSource {
        let (start, days) = (Timestamp::from_secs(common.origin), common.days);
        match self {
            Self::Seeded { hosts, pages_per_host, changes_per_day, log_deviation, loopback } => {
                WebSource::Seeded(SeededConfig {
                    hosts,
                    pages_per_host,
                    host_names: if loopback { HostNames::Loopback } else { HostNames::Test },
                    rates: ChangeRates::LogNormal { median_per_day: changes_per_day, log_deviation },
                    start,
                    days,
                    seed: common.seed,
                    ..SeededConfig::default()
                })
            }
            Self::Replay { directory, sources, per_source, without_bytes } => WebSource::Replay(ReplayConfig {
                directory,
                sources,
                days,
                max_pages_per_source: per_source,
                start,
                with_bytes: !without_bytes,
            }),
            Self::BuiltIn => WebSource::Trace(ChangeTrace::built_in(start)),
        }
    }
}

impl CommonArguments {
    fn config(&self, source: WebSource) -> SimWebConfig {
        let unavailable = WebFault::Status { code: 503, retry_after_s: Some(60) };
        SimWebConfig {
            bind: self.bind,
            dials: HostDials {
                robots: HostRobots {
                    disallow: self.disallow.clone(),
                    crawl_delay_s: self.crawl_delay,
                    ..HostRobots::default()
                },
                validators: ValidatorSupport { etag: !self.no_etag, last_modified: !self.no_last_modified },
                latency: Duration::from_millis(self.latency_ms),
                sitemap: if self.sitemap { HostSitemap::Truthful } else { HostSitemap::None },
                dates: PageDates::True { share: self.dated_share },
                ..HostDials::default()
            },
            faults: vec![
                FaultRule::everywhere(FaultScope::Requests(self.unavailable_share), unavailable),
                FaultRule::everywhere(FaultScope::Requests(self.reset_share), WebFault::ResetMidBody),
            ],
            page_bytes: self.page_bytes,
            misleading_sitemaps: self.misleading_sitemaps,
            seed: self.seed,
            ..SimWebConfig::new(source)
        }
    }
}

/// Serves until a signal.
pub(crate) fn simweb(arguments: SimwebArguments) -> Result<(), CommandFailure> {
    serve(arguments).map_err(|error| CommandFailure::World(format!("{error:#}")))
}

fn serve(SimwebArguments { source, common }: SimwebArguments) -> Result<()> {
    let config = common.config(source.source(&common));
    let started_at = match common.clock_start {
        Some(seconds) => SystemTime::UNIX_EPOCH + Duration::try_from_secs_f64(seconds).context("--clock-start")?,
        None => SystemTime::now(),
    };
    let web = SimWeb::start(config, scaled_clock(Timestamp::from_secs(common.origin), started_at, common.speed))?;
    if let Some(path) = &common.write_seeds {
        let write = || {
            let mut out = BufWriter::new(File::create(path)?);
            web.page_urls().iter().try_for_each(|url| writeln!(out, "{url}"))?;
            out.flush()
        };
        write().with_context(|| format!("cannot write the seeds to {}", path.display()))?;
    }
    // A reader of the address may send requests and a signal at once, so listen for signals before printing it.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        println!("{}", web.addr());
        std::io::stdout().flush()?;
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        anyhow::Ok(())
    })?;
    let cpu_time = web.cpu_time();
    let entries = web.shutdown().entries();
    if let Some(path) = &common.ledger {
        let write = || write_ledger(&entries, BufWriter::new(File::create(path)?)).map_err(anyhow::Error::from);
        write().with_context(|| format!("cannot write the ledger to {}", path.display()))?;
    }
    eprintln!("served {} requests in {:.3} s of CPU time", entries.len(), cpu_time.unwrap_or_default().as_secs_f64());
    Ok(())
}
