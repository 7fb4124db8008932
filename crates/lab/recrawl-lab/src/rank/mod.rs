//! `recrawl rank FILE --method M`: which pages matter, by how they are linked.

mod edges;
mod names;
mod sites;

use self::edges::Edges;
use clap::{Args, ValueEnum};
use importance::weight::WeightMap;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use literature::ranking::hits::Hits;
use literature::ranking::opic::Settled;
use literature::ranking::pagerank::PageRank;
use literature::ranking::trust::trust_rank;
use literature::ranking::{Damping, Graph, Repeats, Scores, link_value};
use outputs::stdout::{Format, written};
use recrawl::CommandFailure;
use serde::Serialize;
use spam::SpamShape;
use std::fmt::Display;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::time::Duration;

/// Arguments of `recrawl rank`.
#[derive(Args, Debug)]
pub(crate) struct RankArguments {
    /// Links: CSV with the columns from,to (or source,target) and perhaps weight; or lines {"url":…, "links":[…]} or
    /// {"from":…, "to":…, "weight":…}. "-" is stdin.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The measure of a page's importance.
    #[arg(long, value_enum, default_value_t)]
    method: RankMethod,
    /// Ranks hosts instead of pages. A link between two hosts counts the logarithm of 1 + their links.
    #[arg(long)]
    hosts: bool,
    /// Probability that a reader follows a link.
    #[arg(long, default_value_t = 0.85, value_name = "P")]
    damping: f64,
    /// With trustrank: pages (or hosts) that are trusted, one per line.
    #[arg(long, value_name = "FILE", required_if_eq("method", "trustrank"))]
    trusted: Option<PathBuf>,
    /// With linkvalue: passes over all sites.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    passes: u32,
    /// With linkvalue: in whole numbers, with the square root only of a value above 65,535, as it was published. Without it
    /// all values are cut together, which keeps their order.
    #[arg(long)]
    as_published: bool,
    /// Prints only the first N.
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// Prints the weight in a crawl that each score stands for.
    #[arg(long)]
    weights: bool,
    /// With --weights: how much scores are flattened, from 0 (all alike) to 1 (not at all).
    #[arg(long, default_value_t = 0.7, value_name = "E", requires = "weights")]
    exponent: f64,
    /// With --hosts: prints how far each host has the shape of spam, from 0 to 1, and why. With --weights it lowers them.
    #[arg(long, requires = "hosts")]
    spam_shape: bool,
    /// Leaves bad lines out instead of giving up.
    #[arg(long)]
    skip_bad: bool,
}

/// The measure of a page's importance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum RankMethod {
    /// The time a reader spends there who follows links at random.
    #[default]
    Pagerank,
    /// The cash that passes through it, as pages hand on their cash to their links.
    Opic,
    /// Links from pages that link good pages. The score is the authority.
    Hits,
    /// Links of other sites, each worth what its own site is worth. Ranks hosts.
    Linkvalue,
    /// PageRank where links count by their weights, from 0 to 1: how relevant their words are.
    Ipagerank,
    /// PageRank that begins at trusted pages only.
    Trustrank,
}

/// A line of the answer.
#[derive(Serialize)]
struct RankedPage<'a> {
    url: &'a str,
    score: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    hub: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    weight: Option<f64>,
    /// How far it has the shape of spam.
    #[serde(skip_serializing_if = "Option::is_none")]
    spam: Option<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reasons: Vec<String>,
}

/// The scores of all pages, by number.
struct Ranking {
    scores: Vec<f64>,
    hubs: Option<Vec<f64>>,
    /// Set where the rounds ran out before the scores had settled.
    unsettled_after: Option<u32>,
}

/// Ranks the pages of a file, best first.
pub(crate) fn rank(arguments: &RankArguments, format: Format) -> Result<(), CommandFailure> {
    let damping = Damping::new(arguments.damping).map_err(|error| refused("--damping", &error))?;
    let map = WeightMap::new(arguments.exponent, 1_000.0, 0.05).map_err(|error| refused("--exponent", &error))?;
    let file = &arguments.file;
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(4));
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {human_pos} links  {elapsed}") {
        bar.set_style(style);
    }
    bar.set_message("read");
    let mut read = Edges::read(file, &bar)?;
    bar.set_position(read.edges.len() as u64);
    bar.set_message("ranking");
    bar.enable_steady_tick(Duration::from_millis(250));
    check(arguments, &read)?;

    let by_host = arguments.hosts || arguments.method == RankMethod::Linkvalue;
    let repeats = if by_host { Repeats::Summed } else { Repeats::Once };
    if arguments.method == RankMethod::Linkvalue {
        // It counts links.
        read.edges.iter_mut().for_each(|edge| edge.weight = 1.0);
    }
    let edges = std::mem::take(&mut read.edges);
    let graph = Graph::new(read.names.len(), edges, repeats).map_err(|error| refused(file.display(), &error))?;
    let (graph, names) = if by_host {
        let weight = if arguments.method == RankMethod::Linkvalue { |links| links } else { f64::ln_1p };
        let (hosts, host_of) = sites::hosts(&read.names);
        let grouped = graph.grouped(hosts.len(), &host_of, weight);
        (grouped.map_err(|error| refused(file.display(), &error))?, hosts)
    } else {
        (graph, read.names)
    };
    let trusted = match &arguments.trusted {
        Some(file) => sites::trusted(file, &names, by_host)?,
        None => Vec::new(),
    };
    let ranking = compute(arguments, damping, &graph, &trusted)?;
    bar.finish_and_clear();

    eprintln!("{}", summary(&graph, by_host));
    if let Some(rounds) = ranking.unsettled_after {
        eprintln!("warning: the scores had not settled after {rounds} rounds");
    }
    let mut weights = arguments.weights.then(|| map.weights(&ranking.scores));
    let links = || graph.edges().map(|edge| (edge.from, edge.to));
    let shapes = arguments.spam_shape.then(|| spam::judge_sites(graph.nodes(), links()));
    if let (Some(weights), Some(shapes)) = (&mut weights, &shapes) {
        weights.iter_mut().zip(shapes).for_each(|(weight, shape)| *weight = shape.weight(*weight));
    }
    let mut order: Vec<u32> = (0..names.len()).collect();
    order.sort_unstable_by(|&a, &b| {
        let score = |number: u32| ranking.scores[number as usize];
        score(b).total_cmp(&score(a)).then_with(|| names.name(a).cmp(names.name(b)))
    });
    order.truncate(arguments.top.unwrap_or(usize::MAX));
    let pages = order.into_iter().map(|number| RankedPage {
        url: names.name(number),
        score: ranking.scores[number as usize],
        hub: ranking.hubs.as_ref().map(|hubs| hubs[number as usize]),
        weight: weights.as_ref().map(|weights| weights[number as usize]),
        spam: shapes.as_ref().map(|shapes| shapes[number as usize].score()),
        reasons: shapes.as_ref().map(|shapes| reasons(&shapes[number as usize])).unwrap_or_default(),
    });
    written(print(pages, format))
}

/// Why a host has the shape of spam, in words.
fn reasons(shape: &SpamShape) -> Vec<String> {
    shape.suspicions().iter().map(ToString::to_string).collect()
}

/// Counts of the pages or hosts that were ranked, and of the links that did not count.
fn summary(graph: &Graph, by_host: bool) -> String {
    let (nodes, links, left_out) = (graph.nodes(), graph.links(), graph.left_out());
    if by_host {
        return format!("{nodes} hosts, {links} pairs with links; links within a host do not count");
    }
    let (own, repeated) = (left_out.to_themselves, left_out.repeated);
    format!("{nodes} pages, {links} links; not counted: {own} of pages to themselves, {repeated} repeated")
}

/// Refuses a graph and arguments that cannot be ranked. Bad lines are printed, and left out with `--skip-bad`.
fn check(arguments: &RankArguments, read: &Edges) -> Result<(), CommandFailure> {
    let file = arguments.file.display();
    if read.bad > 0 {
        let mut reported: Vec<String> = read.bad_lines.iter().map(|line| format!("{file}, {line}")).collect();
        let more = read.bad - reported.len() as u64;
        if more > 0 {
            reported.push(format!("{file}: {more} more bad lines"));
        }
        if !arguments.skip_bad {
            reported.push("correct these lines, or leave them out with --skip-bad".to_owned());
            return Err(CommandFailure::Input(reported.join("\n")));
        }
        eprintln!("{}\n{} bad lines left out", reported.join("\n"), read.bad);
    }
    if read.edges.is_empty() {
        return Err(CommandFailure::Input(format!("{file}: there are no links to rank by")));
    }
    if arguments.trusted.is_some() && arguments.method != RankMethod::Trustrank {
        return Err(CommandFailure::Input("--trusted: only --method trustrank begins at trusted pages".to_owned()));
    }
    if arguments.as_published && arguments.method != RankMethod::Linkvalue {
        return Err(CommandFailure::Input("--as-published: only --method linkvalue has a published form".to_owned()));
    }
    if arguments.method == RankMethod::Ipagerank {
        if !read.weighted {
            let what = "ipagerank counts links by their weights, and none has one";
            return Err(CommandFailure::Input(format!("{file}: {what}; add a column weight, or use pagerank")));
        }
        if let Some(edge) = read.edges.iter().find(|edge| edge.weight > 1.0) {
            let (from, to) = (read.names.name(edge.from), read.names.name(edge.to));
            let what = format!("the link from {from} to {to} has the weight {}", edge.weight);
            return Err(CommandFailure::Input(format!("{file}: {what}; relevances are from 0 to 1")));
        }
    }
    Ok(())
}

fn compute(
    arguments: &RankArguments,
    damping: Damping,
    graph: &Graph,
    trusted: &[u32],
) -> Result<Ranking, CommandFailure> {
    let of = |scores: Scores| Ranking {
        unsettled_after: (!scores.settled).then_some(scores.rounds),
        scores: scores.values,
        hubs: None,
    };
    let pagerank = PageRank { damping, ..PageRank::default() };
    Ok(match arguments.method {
        RankMethod::Pagerank | RankMethod::Ipagerank => of(pagerank.rank(graph)),
        RankMethod::Opic => of(Settled::default().rank(graph)),
        RankMethod::Trustrank => {
            of(trust_rank(graph, trusted, &pagerank).map_err(|error| refused("--trusted", &error))?)
        }
        RankMethod::Linkvalue => {
            let scores = if arguments.as_published {
                link_value::after_passes_as_published(graph, arguments.passes).into_iter().map(f64::from).collect()
            } else {
                link_value::after_passes(graph, arguments.passes)
            };
            Ranking { scores, hubs: None, unsettled_after: None }
        }
        RankMethod::Hits => {
            let ranked = Hits { tolerance: 1e-10, most_rounds: 1_000 }.rank(graph);
            Ranking {
                unsettled_after: (!ranked.settled).then_some(ranked.rounds),
                scores: ranked.authorities,
                hubs: Some(ranked.hubs),
            }
        }
    })
}

fn print<'a>(pages: impl Iterator<Item = RankedPage<'a>>, format: Format) -> std::io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
    if format == Format::Json {
        out.write_all(b"[")?;
    }
    for (index, page) in pages.enumerate() {
        match format {
            Format::Text => text(&page, &mut out)?,
            Format::Json => {
                out.write_all(if index == 0 { b"\n  " } else { b",\n  " })?;
                serde_json::to_writer(&mut out, &page)?;
            }
            Format::Jsonl => {
                serde_json::to_writer(&mut out, &page)?;
                out.write_all(b"\n")?;
            }
        }
    }
    if format == Format::Json {
        out.write_all(b"\n]\n")?;
    }
    out.flush()
}

fn text(page: &RankedPage<'_>, out: &mut impl Write) -> std::io::Result<()> {
    let number = |value: f64| {
        if value == 0.0 || (1e-3..1e6).contains(&value) { format!("{value:.6}") } else { format!("{value:.3e}") }
    };
    write!(out, "{:>14}", number(page.score))?;
    for further in [page.hub, page.weight, page.spam].into_iter().flatten() {
        write!(out, "  {:>12}", number(further))?;
    }
    let why = if page.reasons.is_empty() { String::new() } else { format!("  ({})", page.reasons.join("; ")) };
    writeln!(out, "  {}{why}", page.url)
}

fn refused(what: impl Display, error: &dyn Display) -> CommandFailure {
    CommandFailure::Input(format!("{what}: {error}"))
}
