//! Collections without labels: `noise SOURCE…` counts, in `$RECRAWL_CORPORA/content`, how often the exact digest of
//! title and visible text differs from that of the version before, and how often the detector calls the change
//! meaningful.
//!
//! With `--show N SEED` it prints N of the latter, drawn by the seed: what came and what went, to be read by eye. With
//! `--show-digest N SEED` it draws from changes that only the digest reports.

use anyhow::Context;
use archives::{Archive, ArchivedLook};
use chance::splitmix64;
use document::{extract, text_hash};
use settings::{Layers, Settings};

/// Text printed of each passage, in characters.
const SHOWN_CHARS: usize = 160;
/// Passages printed of each side of a change.
const SHOWN_PASSAGES: usize = 4;

/// Which changes are printed.
#[derive(Clone, Copy)]
struct Show {
    meaningful: bool,
    count: usize,
    seed: u64,
}

#[derive(Default)]
struct NoiseCounts {
    raw: usize,
    by_digest: usize,
    meaningful: usize,
    /// Meaningful, while the digest is the same: links alone.
    beside_digest: usize,
    /// Smallest draws first, each with what is to be read.
    drawn: Vec<(u64, String)>,
}

fn main() -> anyhow::Result<()> {
    let content = corpora::path("content");
    let urls =
        Settings::from_layers(Layers { files: &[], environment: std::iter::empty(), overrides: &[] })?.urls.rules();
    let mut arguments = std::env::args().skip(1);
    let (mut sources, mut show) = (Vec::new(), None);
    while let Some(argument) = arguments.next() {
        if argument.starts_with("--show") {
            let mut number =
                || arguments.next().context("--show wants a count and a seed")?.parse().context("no number");
            let (count, seed) = (number()?, number()?);
            show = Some(Show { meaningful: argument == "--show", count: usize::try_from(count)?, seed });
        } else {
            sources.push(argument);
        }
    }
    println!(
        "| collection | raw changes | text digest differs | meaningful | of these with the same text |\n|---|---|---|---|---|"
    );
    for source in sources {
        let mut archive = Archive::open(&content, Some(&source))?;
        let mut counts = NoiseCounts::default();
        let mut before = None;
        archive.judge_each(&urls, &mut |look| before = Some(counts.take(look, before.take(), show)))?;
        let NoiseCounts { raw, by_digest, meaningful, beside_digest, drawn } = counts;
        println!("| {source} | {raw} | {by_digest} | {meaningful} | {beside_digest} |");
        drawn.iter().for_each(|(_, reported)| println!("{reported}"));
    }
    Ok(())
}

impl NoiseCounts {
    fn take(&mut self, look: &ArchivedLook<'_>, before: Option<u64>, show: Option<Show>) -> u64 {
        let page = extract(Some(&look.page.content_type), look.body.unwrap_or_default());
        let digest = text_hash(format!("{}\n{}", page.title, page.text).as_bytes());
        let Some(before) = before.filter(|_| !look.is_first) else { return digest };
        let differs = before != digest;
        self.raw += 1;
        self.by_digest += usize::from(differs);
        self.meaningful += usize::from(look.line.meaningful);
        self.beside_digest += usize::from(look.line.meaningful && !differs);
        if let Some(show) = show
            && show.meaningful == look.line.meaningful
            && (look.line.meaningful || differs)
        {
            self.draw(look, show);
        }
        digest
    }

    fn draw(&mut self, look: &ArchivedLook<'_>, show: Show) {
        let key = (u64::from(look.page.page_id) << 40) ^ look.line.unix_time.cast_unsigned();
        let draw = splitmix64(key ^ splitmix64(show.seed));
        if self.drawn.len() == show.count && self.drawn.last().is_some_and(|(last, _)| *last < draw) {
            return;
        }
        let mut lines = vec![format!("\n{} {} {:?}", look.page.address, look.line.unix_time, look.line.verdict)];
        let record = &look.judgement.record;
        for (sign, side) in [('-', &record.removed), ('+', &record.added)] {
            lines.extend(side.iter().take(SHOWN_PASSAGES).map(|text| {
                let shown: String = text.chars().take(SHOWN_CHARS).collect();
                format!("  {sign} {shown}")
            }));
        }
        self.drawn.push((draw, lines.join("\n")));
        self.drawn.sort();
        self.drawn.truncate(show.count);
    }
}
