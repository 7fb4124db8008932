//! Spending by the extent of changes, on recorded histories: the detector judges every version, and the simulator replays what
//! it would have reported. Single draws vary by some percent.

use archives::Archive;
use page::UrlRules;
use policies::PolicyKind;
use simulate::contender::Contender;
use simulate::metrics::Scores;
use simulate::trace::{Cut, JudgedTrace, Knowledge, Recording, TraceReplay, TraceTable};
use std::fmt::Write;
use std::ops::ControlFlow;

/// The changes that the detector would have reported of these sources of the recorded contents. `None` where they are missing.
fn history(sources: &[&str]) -> Option<Recording> {
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
    Some(recording.expect("a corpus"))
}

/// The judged pages: at most `max_pages_per_source` of each source, drawn with `draw`.
fn judged(recording: &Recording, max_pages_per_source: usize, draw: u64) -> JudgedTrace {
    let cut = Cut { sources: Vec::new(), max_pages_per_source, draw };
    JudgedTrace::cut(recording, &cut).expect("pages that live through two years")
}

/// The live default, which learns from its own fetches for a year and is scored in the next.
fn crawl(trace: &JudgedTrace, fetches_per_page_per_day: f64, extent_share: f64) -> Scores {
    let mut contender = Contender::usual(PolicyKind::Live);
    contender.options.policy.extent_share = extent_share;
    let replay = TraceReplay {
        contender,
        knowledge: Knowledge::Fetches,
        frozen: false,
        dates_share: 0.0,
        fetches_per_page_per_day,
        importance_shape: None,
        lists: None,
        until_days: None,
        seed: 1,
    };
    replay.run(trace, &mut |_| ControlFlow::Continue(())).expect("a run")
}

/// Means over these draws of freshness and missed extent, printed.
fn mean(recording: &Recording, most: usize, draws: u64, days: f64, extent_share: f64) -> (f64, f64) {
    let (mut fresh, mut largest, mut together) = (0.0, 0.0, 0.0);
    for draw in 1..=draws {
        let scores = crawl(&judged(recording, most, draw), 1.0 / days, extent_share);
        let missed = scores.missed_extent.expect("the changes have extents");
        fresh += scores.freshness / draws as f64;
        largest += missed.largest / draws as f64;
        together += missed.together / draws as f64;
    }
    let (percent, if_apart) = (100.0 * largest, 100.0 * together);
    println!("1/{days} d, share {extent_share}: fresh {fresh:.4}, missed {percent:.3} %, if apart {if_apart:.3} %");
    (fresh, largest)
}

/// The table of `docs/MEASUREMENTS.md`. At most 300 pages of a source, so that small and large changes weigh alike; and more,
/// where two sources of large changes are nine pages in ten.
#[test]
#[ignore = "two to four minutes"]
fn copies_are_nearer_to_their_pages_where_extents_differ() {
    let Some(recording) = history(&["tldr-en", "stalker-edjopato", "scoop-main", "git-htmldocs"]) else { return };
    for (most, draws) in [(300, 5), (1_500, 1)] {
        println!("at most {most} pages of a source, {draws} draws");
        for days in [60.0, 15.0, 3.0] {
            let shares = [0.0, 0.25, 0.5, 0.75, 1.0];
            let means = shares.map(|share| mean(&recording, most, draws, days, share));
            let [(fresh, missed), .., (_, missed_by_extent)] = means;
            let (fresh_by_half, missed_by_half) = means[2];
            if most == 300 && days < 60.0 {
                assert!(missed_by_extent < 0.95 * missed && missed_by_half < 0.98 * missed, "{means:?}");
                assert!(fresh_by_half > fresh - 0.002, "{means:?}");
            }
        }
    }
}
