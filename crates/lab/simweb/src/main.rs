//! `simweb`: serves a seeded, replayed or built-in web until it is told to stop. The first line on stdout is its
//! address.

use anyhow::{Context, Result};
use clap::{Args, Parser, Subcommand};
use page::Timestamp;
use simweb::{
    ChangeRates, ChangeTrace, FaultRule, FaultScope, HostDials, HostNames, HostRobots, ReplayConfig, SeededConfig,
    SimWeb, SimWebConfig, ValidatorSupport, WebFault, WebSource, scaled_clock, write_ledger,
};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};
use tokio::signal::unix::{SignalKind, signal};

/// A web whose pages change at known times, on loopback.
#[derive(Parser)]
#[command(version)]
struct SimwebArguments {
    #[command(subcommand)]
    source: SourceArguments,
    #[command(flatten)]
    common: CommonArguments,
}

#[derive(Subcommand)]
enum SourceArguments {
    /// Pages made from a seed, changing at Poisson times.
    Seeded {
        /// Number of hosts.
        #[arg(long, default_value_t = 10)]
        hosts: usize,
        /// Pages of each host.
        #[arg(long, default_value_t = 100)]
        pages_per_host: usize,
        /// Median change rate of a page, in changes a day.
        #[arg(long, default_value_t = 0.1)]
        changes_per_day: f64,
        /// Standard deviation of the logarithm of the rate; 0 makes all pages alike.
        #[arg(long, default_value_t = 1.5)]
        log_deviation: f64,
        /// Call the hosts 127.0.0.1, 127.0.0.2 … instead of host-0001.test ….
        #[arg(long)]
        loopback: bool,
    },
    /// Pages of a corpus at their real change times.
    Replay {
        /// Directory with pages.csv.zst and changes.csv.zst.
        directory: PathBuf,
        /// Sources to take, separated by commas; all when left out.
        #[arg(long, value_delimiter = ',')]
        sources: Vec<String>,
        /// At most so many pages of each source.
        #[arg(long, default_value_t = usize::MAX, hide_default_value = true)]
        per_source: usize,
        /// Serve generated text even where there are bytes.
        #[arg(long)]
        without_bytes: bool,
    },
    /// The change times that come with the crate.
    BuiltIn,
}

#[derive(Args)]
struct CommonArguments {
    /// Address to listen on; port 0 takes a free one.
    #[arg(long, global = true, default_value = "127.0.0.1:0")]
    bind: SocketAddr,
    /// Days of change times.
    #[arg(long, global = true, default_value_t = 150.0)]
    days: f64,
    /// Virtual time at the start, in seconds since 1970.
    #[arg(long, global = true, default_value_t = 1_700_000_000)]
    origin: i64,
    /// Virtual seconds per real second.
    #[arg(long, global = true, default_value_t = 1.0)]
    speed: f64,
    /// Real moment at which virtual time is the origin, in seconds since 1970; now when left out. Lets processes
    /// share a clock.
    #[arg(long, global = true)]
    clock_start: Option<f64>,
    /// Same seed, same web and same faults.
    #[arg(long, global = true, default_value_t = 1)]
    seed: u64,
    /// Mean length of generated pages.
    #[arg(long, global = true, default_value_t = 14_000)]
    page_bytes: usize,
    /// Path prefix for robots.txt to disallow; may be repeated.
    #[arg(long, global = true)]
    disallow: Vec<String>,
    /// Crawl-delay of robots.txt, in seconds.
    #[arg(long, global = true)]
    crawl_delay: Option<f64>,
    /// Send no ETag.
    #[arg(long, global = true)]
    no_etag: bool,
    /// Send no Last-Modified.
    #[arg(long, global = true)]
    no_last_modified: bool,
    /// Real milliseconds before every answer.
    #[arg(long, global = true, default_value_t = 0)]
    latency_ms: u64,
    /// Share of the requests for pages that are answered 503 with Retry-After 60.
    #[arg(long, global = true, default_value_t = 0.0)]
    unavailable_share: f64,
    /// Share of the requests for pages whose connection is reset in mid-body.
    #[arg(long, global = true, default_value_t = 0.0)]
    reset_share: f64,
    /// Where to write the ledger (CSV) on Ctrl-C or SIGTERM.
    #[arg(long, global = true)]
    ledger: Option<PathBuf>,
    /// Where to write the addresses of all pages, one a line, before serving.
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
                ..HostDials::default()
            },
            faults: vec![
                FaultRule::everywhere(FaultScope::Requests(self.unavailable_share), unavailable),
                FaultRule::everywhere(FaultScope::Requests(self.reset_share), WebFault::ResetMidBody),
            ],
            page_bytes: self.page_bytes,
            seed: self.seed,
            ..SimWebConfig::new(source)
        }
    }
}

fn main() -> Result<()> {
    let SimwebArguments { source, common } = SimwebArguments::parse();
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
    eprintln!(
        "served {} requests, serving took {:.3} s of processor time",
        entries.len(),
        cpu_time.unwrap_or_default().as_secs_f64()
    );
    Ok(())
}
