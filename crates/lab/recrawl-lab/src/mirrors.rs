//! `recrawl mirrors FILE.jsonl`: finds pages that are copies of each other by their links.

use clap::{Args, ValueEnum};
use literature::mirrors_by_links::{
    HostPair, LinkedPage, MethodReport, MirrorMethod, MirrorReport, MirrorSearch, Threshold, compare_all,
};
use outputs::stdout::{Format, answer};
use recrawl::CommandFailure;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// Arguments of `recrawl mirrors`.
#[derive(Args, Debug)]
pub(crate) struct MirrorsArguments {
    /// Pages with their links, one {"url":…, "links":[…]} per line; "-" is stdin.
    #[arg(value_name = "FILE.jsonl")]
    file: PathBuf,
    /// Share of their links from which on pages are mirrors, of all links that either has: .8, .95.
    #[arg(long, value_name = "SHARE", default_value = "0.9")]
    threshold: String,
    /// The share itself does not suffice.
    #[arg(long)]
    strict: bool,
    /// Only pages with at least N different links.
    #[arg(long, value_name = "N", default_value_t = 10)]
    least_links: usize,
    /// Only pages with more than N different links; 8 and 10 are the published ones.
    #[arg(long, value_name = "N", conflicts_with = "least_links")]
    more_than: Option<usize>,
    /// Only pages with at most N different links. By default 150, or more if many pages have more.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4_095))]
    most_links: Option<u32>,
    /// Compares the windows of W links in page order instead of single links.
    #[arg(long, value_name = "W", default_value = "1")]
    shingle: NonZeroUsize,
    /// Shingles that the method "samples" keeps of a page: 2 of 5 links and 3 of 4 are the published ones.
    #[arg(long, value_name = "N", default_value = "2")]
    samples: NonZeroUsize,
    /// How pages are found. Repeat it to compare methods; "banding" finds mirrors from about .7 on.
    #[arg(long = "method", value_enum, value_name = "METHOD", default_values = ["degree-bound", "banding"])]
    methods: Vec<Method>,
    /// Links within the page's own host count with the host, as in the paper, not by path and query alone.
    #[arg(long)]
    own_host: bool,
    /// Says which hosts are mirrors of each other: how many pages of one have a mirror on the other.
    #[arg(long)]
    by_host: bool,
}

/// A method, as it is named on the command line.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Method {
    /// Every page with every other.
    AllPairs,
    /// Pages with nearly as many links.
    DegreeBound,
    /// Pages that share a band of their sketches.
    Banding,
    /// Pages whose smallest shingles are the same; no threshold.
    Samples,
}

impl MirrorsArguments {
    fn search(&self) -> Result<MirrorSearch, CommandFailure> {
        let threshold = Threshold::of_decimal(&self.threshold, self.strict).ok_or_else(|| {
            let range = if self.strict { "above 0 and below 1" } else { "above 0, at most 1" };
            CommandFailure::Input(format!(
                "--threshold cannot be {:?}; write a share {range}, such as .8 or .95",
                self.threshold
            ))
        })?;
        let least_links = self.more_than.map_or(self.least_links, |links| links.saturating_add(1));
        let most_links = self.most_links.map(|links| links as usize);
        if let Some(most) = most_links.filter(|most| *most < least_links) {
            let problem = format!("no page has at least {least_links} and at most {most} links");
            return Err(CommandFailure::Input(format!("{problem}; raise --most-links, or lower --least-links")));
        }
        let method = |method: &Method| match method {
            Method::AllPairs => MirrorMethod::AllPairs,
            Method::DegreeBound => MirrorMethod::DegreeBound,
            Method::Banding => MirrorMethod::Banding,
            Method::Samples => MirrorMethod::Samples,
        };
        Ok(MirrorSearch {
            threshold,
            least_links,
            most_links,
            shingle_width: self.shingle,
            samples: self.samples,
            with_own_host: self.own_host,
            methods: self.methods.iter().map(method).collect(),
            by_host: self.by_host,
        })
    }
}

/// Finds mirrors by the chosen methods.
pub(crate) fn mirrors(arguments: &MirrorsArguments, format: Format) -> Result<(), CommandFailure> {
    let search = arguments.search()?;
    let file = &arguments.file;
    let input: Box<dyn BufRead> = if file == Path::new("-") {
        Box::new(std::io::stdin().lock())
    } else {
        Box::new(BufReader::new(
            File::open(file).map_err(|error| CommandFailure::Input(format!("{}: {error}", file.display())))?,
        ))
    };
    let mut pages: Vec<LinkedPage> = Vec::new();
    for (index, line) in input.lines().enumerate() {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        let page = serde_json::from_str(&line).map_err(|error| {
            let problem = format!("{}, line {}: {error}", file.display(), index + 1);
            CommandFailure::Input(format!("{problem}; write {{\"url\":…, \"links\":[…]}}"))
        });
        pages.push(page?);
    }
    answer(format, &compare_all(pages, &search), text)
}

fn text(report: &MirrorReport) -> String {
    let mut lines = Vec::new();
    for group in &report.groups {
        lines.extend(
            group.iter().enumerate().map(|(index, url)| format!("{}{url}", if index == 0 { "" } else { "  = " })),
        );
    }
    let method = |method: &MethodReport| {
        format!("{:<14}{} comparisons, {} groups", method.name, method.comparisons, method.groups.len())
    };
    lines.extend(report.methods.iter().map(method));
    lines.extend(report.hosts.iter().flatten().map(pair_in_words));
    lines.join("\n")
}

/// `a.example 18 of 20 = b.example 18 of 19`.
fn pair_in_words(pair: &HostPair) -> String {
    let side = |side: usize| format!("{} {} of {} pages", pair.hosts[side], pair.mirrored[side], pair.pages[side]);
    format!("{} = {}", side(0), side(1))
}
