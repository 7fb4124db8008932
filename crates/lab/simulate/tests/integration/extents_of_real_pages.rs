//! Spending by the extent of changes, on recorded histories: the detector judges every version, and the simulator replays what
//! it would have reported.

use archives::Archive;
use page::UrlRules;
use policies::PolicyKind;
use simulate::metrics::Scores;
use simulate::trace::{Cut, JudgedTrace, Knowledge, Recording, TraceReplay, TraceTable};
use std::fmt::Write;
use std::ops::ControlFlow;

/// The judged pages of these sources of the recorded contents. `None` where they are missing.
fn history(sources: &[&str]) -> Option<JudgedTrace> {
    let directory = corpora::find("content")?;
    let mut pages = "page_id,host,path,source\n".to_owned();
    let mut changes = Vec::new();
    for source in sources {
        let mut archive = Archive::open(&directory, Some(source)).expect("the corpus can be read");
        for page in archive.pages() {
            let address = page.address.strip_prefix("https://").expect("an address of the corpus");
            let (host, path) = address.split_at(address.find('/').expect("a path"));
            writeln!(pages, "{},{host},\"{path}\",{source}", page.page_id).expect("a string takes all");
        }
        let judged = archive.judge_each(&UrlRules::none(), &mut |look| {
            let (page, at) = (look.line.page_id, look.line.unix_time);
            match (look.is_first, look.body, look.line.meaningful) {
                (true, _, _) => changes.push(format!("{page},{at},I,\n")),
                (_, None, _) => changes.push(format!("{page},{at},D,1\n")),
                (_, Some(_), true) => changes.push(format!("{page},{at},M,{}\n", look.line.magnitude)),
                (_, Some(_), false) => {}
            }
        });
        judged.expect("every version can be read");
    }
    // Pages come in the order of their numbers within a source, and the sources are in no order.
    changes.sort_by_key(|row| {
        let mut cells = row.split(',').map(|cell| cell.parse::<i64>().unwrap_or_default());
        (cells.next(), cells.next())
    });
    let changes = "page_id,unix_time,kind,extent\n".to_owned() + &changes.concat();
    let recording = Recording::read(
        TraceTable { name: "pages".to_owned(), bytes: pages.as_bytes() },
        TraceTable { name: "changes".to_owned(), bytes: changes.as_bytes() },
    );
    let cut = Cut { sources: Vec::new(), max_pages_per_source: 1_500, draw: 1 };
    Some(JudgedTrace::cut(&recording.expect("a corpus"), &cut).expect("pages that live through two years"))
}

/// The live default, which learns from its own fetches for a year and is scored in the next.
fn crawl(trace: &JudgedTrace, fetches_per_page_per_day: f64, extent_share: f64) -> Scores {
    let replay = TraceReplay {
        policy: PolicyKind::Live,
        estimator: None,
        knowledge: Knowledge::Fetches,
        frozen: false,
        dates_share: 0.0,
        fill: false,
        fetches_per_page_per_day,
        importance_shape: None,
        extent_share,
        lists: None,
        until_days: None,
        seed: 1,
    };
    replay.run(trace, &mut |_| ControlFlow::Continue(())).expect("a run")
}

/// Prints a row for each budget and share; returns (freshness, missed extent) by share for each budget.
fn table(trace: &JudgedTrace, budgets_days: &[f64], shares: &[f64]) -> Vec<Vec<(f64, f64)>> {
    let row = |&days: &f64| {
        let cell = |&share: &f64| {
            let scores = crawl(trace, 1.0 / days, share);
            let missed = scores.missed_extent.expect("the changes have extents");
            println!(
                "1/{days} d, share {share}: fresh {:.4}, missed {:.3} %, if apart {:.3} %",
                scores.freshness,
                100.0 * missed.largest,
                100.0 * missed.together
            );
            (scores.freshness, missed.largest)
        };
        shares.iter().map(cell).collect()
    };
    budgets_days.iter().map(row).collect()
}

#[test]
fn half_a_share_keeps_copies_nearer_to_their_pages() {
    let Some(trace) = history(&["tldr-en", "stalker-edjopato"]) else { return };
    for row in table(&trace, &[15.0, 3.0], &[0.0, 0.5]) {
        let [(fresh, missed), (fresh_by_half, missed_by_half)] = row[..] else { panic!("two shares") };
        assert!(missed_by_half < missed, "{missed_by_half} after {missed}");
        assert!(fresh_by_half > fresh - 0.002, "{fresh_by_half} after {fresh}");
    }
}

/// The table of `docs/MEASUREMENTS.md`.
#[test]
#[ignore = "six minutes"]
fn what_a_share_gains_and_costs() {
    for sources in [
        &["tldr-en", "stalker-edjopato", "scoop-main", "git-htmldocs"][..],
        &["tldr-en"],
        &["stalker-edjopato"],
        &["scoop-main"],
        &["git-htmldocs"],
    ] {
        let Some(trace) = history(sources) else { return };
        println!("{} ({} pages)", sources.join(", "), trace.pages.len());
        table(&trace, &[60.0, 15.0, 3.0], &[0.0, 0.25, 0.5, 0.75, 1.0]);
    }
}
