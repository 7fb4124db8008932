//! Compares the detector's verdicts on labelled collections with the labels: `score SOURCE…` reads
//! `$RECRAWL_CORPORA/content`. For collections without labels, it prints how many raw changes are meaningful.

use archives::{Archive, LabelScore};
use settings::{Layers, Settings};
use std::time::Instant;

fn main() -> anyhow::Result<()> {
    let content = corpora::path("content");
    let urls =
        Settings::from_layers(Layers { files: &[], environment: std::iter::empty(), overrides: &[] })?.urls.rules();
    for source in std::env::args().skip(1) {
        let started = Instant::now();
        let mut archive = Archive::open(&content, Some(&source))?;
        let lines = archive.judge(&urls, &mut |_, _| {})?;
        let seconds = started.elapsed().as_secs_f64();
        let said = lines.iter().filter(|line| line.meaningful).count();
        println!("{source}: {} raw changes, {said} meaningful, {seconds:.1} s", lines.len());
        let score = LabelScore::of(&archive, &lines)?;
        if score.labelled > 0 {
            println!(
                "  {score:?}: precision {:.3} ({:.3} as read), recall {:.3}",
                score.precision(),
                score.precision_as_read(),
                score.recall()
            );
        }
    }
    Ok(())
}
