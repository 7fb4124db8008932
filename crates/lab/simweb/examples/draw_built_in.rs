//! Draws `data/built-in.csv.zst` anew from the change times of the corpora, times only, hosts and paths renamed:
//! `cargo run -p simweb --example draw_built_in` in the crate's directory.

use anyhow::{Context, Result};
use page::Timestamp;
use simweb::{ChangeTrace, ReplayConfig, TimeWindow};
use std::collections::HashMap;

/// Corpus, source, and how many of its pages. Of the pollers whose pages change at nearly every look one is drawn,
/// thinly, so that they do not drown the rest; `dc-law` is left out, because its last days are one move of the whole
/// site.
const SHARES: [(&str, &str, usize); 14] = [
    ("trace", "ota-contrib", 120),
    ("trace", "tldr-all", 100),
    ("trace", "cpp-docs", 60),
    ("trace", "kafka-site", 60),
    ("trace", "scoop-main", 110),
    ("trace", "git-htmldocs", 60),
    ("trace", "peps", 40),
    ("trace", "mamip", 40),
    ("trace", "stalker-edjopato", 60),
    ("trace", "fcdo-advice", 50),
    ("trace", "gesetze", 40),
    ("trace", "rust-blog", 20),
    ("trace", "ota-genai-raw", 5),
    ("trace-wikipedia", "wikipedia", 40),
];
const DAYS: f64 = 150.0;
/// Most sources are one host or hundreds; all are dealt out to hosts of about this many pages.
const PAGES_PER_HOST: usize = 40;

fn main() -> Result<()> {
    let start = Timestamp::default();
    let mut pages = Vec::new();
    let mut hosts = 0;
    for (corpus, source, count) in SHARES {
        let drawn = ReplayConfig {
            sources: vec![source.into()],
            days: DAYS,
            max_pages_per_source: count,
            start,
            ..ReplayConfig::new(corpora::path(corpus))
        }
        .trace()
        .with_context(|| format!("drawing {count} pages of {source}"))?;
        let hosts_of_source = drawn.pages.len().div_ceil(PAGES_PER_HOST);
        let changes: usize = drawn.pages.iter().map(|page| page.states.len() - 1).sum();
        eprintln!("{source}: {} pages on {hosts_of_source} hosts, {changes} changes", drawn.pages.len());
        // Dealt one by one, so that bulk changes of a source touch all its hosts, as they touch a site's parts.
        let mut ranks: HashMap<usize, usize> = HashMap::new();
        let mut renamed: Vec<_> =
            drawn.pages.into_iter().enumerate().map(|(index, page)| (index % hosts_of_source, page)).collect();
        renamed.sort_by_key(|(host, _)| *host);
        for (host, mut page) in renamed {
            let rank = ranks.entry(host).and_modify(|rank| *rank += 1).or_insert(1);
            page.host = format!("site-{:02}.test", hosts + host + 1).into();
            page.path = format!("/page-{rank:04}").into();
            pages.push(page);
        }
        hosts += hosts_of_source;
    }
    let trace = ChangeTrace { window: TimeWindow::days_from(start, DAYS), pages };
    let file = std::fs::File::create("data/built-in.csv.zst").context("run me in the directory of the crate")?;
    let mut packed = zstd::Encoder::new(file, 19)?;
    trace.write_csv(&mut packed)?;
    packed.finish()?;
    let changes: usize = trace.pages.iter().map(|page| page.states.len() - 1).sum();
    let still = trace.pages.iter().filter(|page| page.states.len() == 1).count();
    eprintln!("{} pages on {hosts} hosts, {still} never change, {changes} changes in all", trace.pages.len());
    Ok(())
}
