//! Learning, sharing a budget, choosing, simulating: examples of the pure crates beside what others take.

use crate::durable;
use crate::measure::{Measured, Rounds};
use crate::peers::{own, released_example};
use crate::redis;
use crate::table::{Row, Target};
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// Measures the cost of one learned look, in memory and with everything that makes it durable.
pub(crate) fn learning(rounds: usize) -> Vec<Row> {
    eprintln!("learning");
    let directory = TempDir::new().expect("there is room for a benchmark");
    let beliefs = output(released("change-rate", "update_cost"), directory.path());
    let calendars = output(released("sweeps", "look_cost"), directory.path());
    let value = |text: &str, name: &str, unit: &str| Rounds::new(vec![figure(text, name, unit)]);
    let own = value(&beliefs, "Gamma filter, forgetting, 37 % changed", "ns");
    let with_calendars = value(&calendars, "a look every 4 days", "ns");
    // Where the aims were set, 20 ns and 2 us, what stands beside them took 14 ns and 1.47 us.
    let mut rows = vec![
        Row::new("a page's own belief, 37 % of looks changed", "ns", own.clone())
            .beside("the filter as published", value(&beliefs, "Gamma filter as published, 37 % changed", "ns"))
            .aims_at(Target::Ratio(20.0 / 14.0)),
        Row::new("a page's own belief, by itself", "ns", own).aims_at(Target::Value(20.0)),
        Row::new("the belief with its groups' calendars, every 4 days", "ns", with_calendars.clone())
            .beside("one page's rate by bisection", value(&calendars, "maximum likelihood of one page", "ns"))
            .aims_at(Target::Ratio(2.0 / 1.47)),
        Row::new("the belief with its groups' calendars, by itself", "ns", with_calendars)
            .aims_at(Target::Value(2_000.0)),
    ];
    rows.extend(durable::rows(rounds));
    rows
}

/// The price of a budget over ten million pages.
pub(crate) fn sharing(rounds: usize) -> Vec<Row> {
    eprintln!("sharing a budget");
    const PAGES: f64 = 1e7;
    let directory = TempDir::new().expect("there is room for a benchmark");
    let text = output(released("revisit", "price_speed"), directory.path());
    let build_ns = figure(&text, "build from columns", "ns");
    let solve =
        Row::new("price from the merged histogram (wall)", "us", Rounds::new(vec![figure(&text, "freshness", "us")]))
            .aims_at(Target::Value(1_000.0));
    let solve = text.lines().filter(|line| line.contains("objective by")).fold(solve, |row, line| row.note(line));
    let build = Row::new(
        "price of 10,000,000 pages, histogram and all (wall)",
        "s",
        Rounds::new(vec![build_ns * PAGES / 1e9; rounds]),
    );
    let mut command = Command::new("/usr/bin/python3");
    command.arg(own("allocation.py")).arg(format!("{PAGES:.0}")).arg(rounds.to_string());
    let numpy = Command::new("/usr/bin/python3").args(["-c", "import numpy"]).status();
    if !numpy.is_ok_and(|status| status.success()) {
        return vec![solve, build.note("NumPy is not installed: not compared")];
    }
    let peers = output(command, directory.path());
    let figures = |name: &str| {
        let line = peers.lines().find_map(|line| line.strip_prefix(name)).expect("the script prints both");
        Rounds::new(line.split_whitespace().map(|number| number.parse().expect("figures are numbers")).collect())
    };
    let plain = figures("plain us:").median();
    vec![
        solve,
        build.beside("NumPy bisection", figures("numpy s:")).aims_at(Target::Ratio(1.0 / 30.0)).note(format!(
            "a page: {build_ns:.1} ns; the same bisection page by page in Python {plain:.2} us, {:.0} times as much; \
             LambdaCrawl's published code took 16.9 us a page elsewhere",
            plain * 1e3 / build_ns
        )),
    ]
}

/// Choosing from ten million pages.
pub(crate) fn choosing() -> Vec<Row> {
    eprintln!("choosing");
    let directory = TempDir::new().expect("there is room for a benchmark");
    let mut command = released("revisit", "scan_speed");
    command.arg("10000000");
    let text = output(command, directory.path());
    const LIVE: &str = "live: scan for 100000 above a price that one page in a thousand reaches";
    let row = |name: &str| {
        let rounds = Rounds::new(vec![figure(&text, name, "ns a page")]);
        Row::new(format!("10,000,000 pages, {name} (wall, best of 5)"), "ns/page", rounds).aims_at(Target::Value(50.0))
    };
    let scan_us = figure(&text, LIVE, "ns a page") * 1e7 / 1e5 / 1e3;
    let chosen = Rounds::new(vec![scan_us + figure(&text, "take one", "ns") / 1e3]);
    let chosen = Row::new("one of 100,000 chosen in a scan (wall)", "us", chosen);
    vec![
        row(LIVE),
        row("crawl value: scan for 100000 above the price"),
        match redis::pop_and_add_us(directory.path()) {
            Ok(peer) => chosen
                .beside("Redis, ZPOPMIN and ZADD", Rounds::new(vec![peer]))
                .note("Redis keeps one order; after a sweep all members of a site would have to be added anew"),
            Err(reason) => chosen.note(format!("Redis: {reason}")),
        },
    ]
}

/// A million pages for sixty days, on one site and on hosts of fifty pages.
pub(crate) fn simulating() -> Vec<Row> {
    eprintln!("simulating");
    let directory = TempDir::new().expect("there is room for a benchmark");
    let mut rows = Vec::new();
    for (policy, population) in [("live", "lognormal"), ("live", "hosts"), ("crawl-value", "lognormal")] {
        let mut command = released("simulate", "million_pages");
        command.args([policy, "1000000", population]);
        let finished = Measured::start(command, directory.path()).finish();
        let cpu = Rounds::new(vec![finished.cpu.as_secs_f64()]);
        let bytes = Rounds::new(vec![figure(&finished.stdout, "memory", "bytes")]);
        let what = format!("simulate 1,000,000 pages of {population} x 60 days, 0.2 fetches a day, {policy}");
        rows.push(Row::new(what, "s", cpu).aims_at(Target::Value(60.0)));
        rows.push(Row::new("    its memory at the peak", "bytes/page", bytes).aims_at(Target::Value(64.0)));
    }
    rows
}

/// An example of a pure crate, built for release as what operators run.
fn released(package: &str, name: &str) -> Command {
    Command::new(released_example(package, name))
}

fn output(command: Command, directory: &Path) -> String {
    Measured::start(command, directory).finish().stdout
}

/// The number that stands before `unit` on the line that begins with `name`.
fn figure(text: &str, name: &str, unit: &str) -> f64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let before = line.and_then(|line| line.split(&format!(" {unit}")).next()?.split_whitespace().last());
    before.and_then(|text| text.parse().ok()).unwrap_or_else(|| panic!("no {name:?} in {unit} in {text:?}"))
}
