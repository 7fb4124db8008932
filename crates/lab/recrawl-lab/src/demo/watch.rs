//! Lets the demo's clock run, and shows progress until the window ends.

use super::books::Books;
use super::meaning;
use super::pace::Pace;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use page::UrlRules;
use recrawl::CommandFailure;
use recrawl::embedded::Embedded;
use simweb::{SimWeb, TimeWindow, Web};
use std::time::{Duration, Instant};
use stream::Clock;

/// Real time between two adjustments of the clock, and between two progress updates.
const PACE_EVERY: Duration = Duration::from_millis(5);
const SHOW_EVERY: Duration = Duration::from_millis(50);
/// Longest real time for the loop to start before the clock does.
const START_WITHIN: Duration = Duration::from_secs(20);

/// Shows progress until the window ends.
pub(super) fn watch(
    embedded: &Embedded,
    web: &SimWeb,
    window: TimeWindow,
    mut pace: Pace,
    wall: Duration,
) -> Result<(), CommandFailure> {
    let bar = ProgressBar::with_draw_target(Some(100), ProgressDrawTarget::stderr_with_hz(4));
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {percent:>3} %  {elapsed}  {msg}") {
        bar.set_style(style);
    }
    let ledger = web.ledger();
    let (started, mut reported) = (Instant::now(), 0);
    // The clock starts when the loop is up and knows the pages.
    while !embedded.stop.is_stopped() && started.elapsed() < START_WITHIN {
        if embedded.board.is_ready() && embedded.lag_records()? == 0 {
            break;
        }
        std::thread::sleep(PACE_EVERY);
    }
    let (mut shown, mut last_turn) = (None, Instant::now());
    while !embedded.stop.is_stopped() {
        let now = embedded.clock().now();
        if now >= window.end {
            break;
        }
        let elapsed = last_turn.elapsed();
        last_turn = Instant::now();
        // Requests for robots.txt are paid from the budget, too.
        let requests = ledger.len() as u64;
        pace.keep(elapsed, now.days_since(window.start), requests, embedded.lag_records()?);
        std::thread::sleep(PACE_EVERY);
        if shown.is_some_and(|shown: Instant| shown.elapsed() < SHOW_EVERY) {
            continue;
        }
        shown = Some(Instant::now());
        let day = now.days_since(window.start).max(0.0);
        let percent = 100.0 * day / window.days();
        let status = embedded.board.status();
        let message = format!(
            "day {day:.0}: {} pages fetched, {requests} requests, {} changes seen",
            status.pages.unwrap_or(0).saturating_sub(status.never_fetched.unwrap_or(0)),
            status.changes_total.unwrap_or(0),
        );
        bar.set_position(percent as u64);
        bar.set_message(message.clone());
        // Without a terminal, print a line now and then.
        if bar.is_hidden() && percent as u64 >= reported + 10 {
            reported = percent as u64 / 10 * 10;
            eprintln!("{reported:>3} %  {message}");
        }
        // A slow machine gets more time, within a limit.
        if started.elapsed() > wall * 10 + Duration::from_secs(60) {
            break;
        }
    }
    bar.finish_and_clear();
    Ok(())
}

/// Reads all versions again to find the meaningful changes.
pub(super) fn judge_meaning(web: &Web, books: &Books, urls: &UrlRules) -> Result<Books, CommandFailure> {
    let bar =
        ProgressBar::with_draw_target(Some(books.judged.pages.len() as u64), ProgressDrawTarget::stderr_with_hz(4));
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {percent:>3} %  {elapsed}  judging the changes") {
        bar.set_style(style);
    }
    if bar.is_hidden() {
        eprintln!("judging which changes were meaningful");
    }
    let meaning = meaning::by_meaning(web, books, urls, &|done| bar.set_position(done as u64));
    bar.finish_and_clear();
    meaning.map_err(|error| CommandFailure::World(format!("cannot read a version of a replayed page again: {error}")))
}
