//! `bench`: compares the cost of recrawl's work with that of other programs.
//!
//! Figures are CPU time, never wall time, except where a row says so: a busy machine stretches a second, not the work
//! done in it. Contestants take turns within a round, ratios are taken round by round, and what cannot run here is named
//! as skipped. A row whose contestants did not do the same work ends the benchmark: a wrong answer has no speed.
//!
//! It judges nothing: a target missed is printed as missed, and the exit status stays 0.

mod at_rest;
mod commit_loop;
mod crawls;
mod durable;
mod embedded_log;
mod fetching;
mod kept_pages;
mod looked_at_web;
mod looks;
mod measure;
mod page_state;
mod pages;
mod peers;
mod ranking;
mod redis;
mod restart;
mod science;
mod service_memory;
mod table;
mod web_server;
mod whole_loop;
mod wire;

use crate::pages::Part;
use crate::table::{Row, Table};
use clap::{Parser, ValueEnum};

/// Measures recrawl and its peers.
#[derive(Parser)]
struct Arguments {
    /// Parts to measure. Defaults to everything.
    what: Vec<What>,
    /// Number of rounds, for rows that this program repeats itself.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Number of pages on each of the 16 hosts that the whole loop crawls.
    #[arg(long, default_value_t = 600)]
    pages_per_host: usize,
    /// Output format.
    #[arg(long, default_value = "text")]
    format: Format,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    /// The embedded log: poll, produce, commit.
    Log,
    /// Exactly-once processing over Kafka, compared with a bare client. Needs RECRAWL_KAFKA=HOST:PORT.
    Kafka,
    /// Avro encoding, compared with serde_avro_fast.
    Avro,
    /// Fetching alone, also over TLS, and its memory; compared with wrk, spider, Scrapy, colly, crawler4j and Crawlee.
    Fetch,
    /// The whole loop, embedded and over Kafka, compared with spider.
    Loop,
    /// CPU time and written bytes of a look, by its outcome, and the cost of pages at rest.
    #[value(alias = "written")]
    Looks,
    /// Memory per known page.
    Memory,
    /// Memory and disk per page of each service over Kafka. Needs RECRAWL_KAFKA=HOST:PORT.
    Pods,
    /// Downtime of a stage with a million pages at a restart, and the cost of a restore.
    Restart,
    /// Size of the detector's state of a page.
    State,
    /// Extraction of text and links, compared with lol_html.
    Extract,
    /// Sketches of texts, compared with gaoya, rensa and datasketch.
    Sketch,
    /// The verdict on a page from its bytes, compared with lol_html and gaoya, and with jsoup's parser.
    Verdict,
    /// Learning from a look.
    Learn,
    /// Computing the price for a budget, compared with NumPy.
    Share,
    /// Choosing from ten million pages, compared with Redis.
    Choose,
    /// Simulating a million pages.
    Simulate,
    /// Ranking pages by their links, compared with networkx, rustworkx and a bare hash map.
    Rank,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Text,
    Json,
}

fn main() {
    let arguments = Arguments::parse();
    let kafka = std::env::var("RECRAWL_KAFKA").ok().filter(|brokers| !brokers.is_empty());
    let mut table = Table::begin();
    let all = arguments.what.is_empty();
    let wanted = |what| all || arguments.what.contains(&what);
    let mut measure = |what: &[What], rows: &dyn Fn() -> Vec<Row>| {
        if what.iter().any(|what| wanted(*what)) {
            table.add(rows());
        }
    };
    measure(&[What::Log], &|| embedded_log::rows(arguments.rounds));
    measure(&[What::Kafka], &|| commit_loop::rows(kafka.as_deref()));
    measure(&[What::Avro], &|| wire::rows(arguments.rounds));
    measure(&[What::Fetch], &|| fetching::rows(arguments.rounds));
    measure(&[What::Loop], &|| whole_loop::rows(arguments.rounds, arguments.pages_per_host, kafka.as_deref()));
    measure(&[What::Looks], &|| looks::rows(arguments.rounds, kafka.as_deref()));
    measure(&[What::Memory], &at_rest::memory);
    measure(&[What::Pods], &|| service_memory::rows(kafka.as_deref()));
    measure(&[What::Restart], &|| restart::rows(kafka.as_deref()));
    let part = |part| {
        wanted(match part {
            Part::Extract => What::Extract,
            Part::Sketch => What::Sketch,
            Part::Verdict => What::Verdict,
        })
    };
    measure(&[What::Extract, What::Sketch, What::Verdict], &|| pages::rows(arguments.rounds, part));
    measure(&[What::State], &page_state::rows);
    measure(&[What::Learn], &|| science::learning(arguments.rounds));
    measure(&[What::Share], &|| science::sharing(arguments.rounds));
    measure(&[What::Choose], &science::choosing);
    measure(&[What::Simulate], &science::simulating);
    measure(&[What::Rank], &|| ranking::rows(arguments.rounds));
    match arguments.format {
        Format::Text => print!("{}", table.text()),
        Format::Json => println!("{:#}", table.json()),
    }
}
