//! `recrawl simulate crawl`: what another budget would give the pages of a crawl.

use super::jobs::Watch;
use clap::Args;
use operate::{Inspection, has_crawl};
use outputs::numbers::{grouped, rate};
use outputs::stdout::{Format, answer};
use page::{PageId, Timestamp};
use recrawl::CommandFailure;
use recrawl::commands::SettingsArguments;
use recrawl::stages::topologies;
use serde::Serialize;
use settings::Settings;
use simulate::SimulationError;
use simulate::own_crawl::{BudgetOutcome, CrawlLimits, CrawledPage, OwnCrawl};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::time::Duration;

const SECONDS_PER_DAY: f64 = 86_400.0;
/// Requests that a host without a delay takes.
const MOST_PER_DAY: f64 = 1e9;

/// Arguments of `recrawl simulate crawl`.
#[derive(Args, Debug)]
pub(super) struct CrawlArguments {
    #[command(flatten)]
    settings: SettingsArguments,
    /// State directory of a `recrawl run`, which may be running.
    #[arg(long)]
    data: PathBuf,
    /// Budgets, as multiples of budget.fetches_per_second. The present one is always among them.
    #[arg(long, value_delimiter = ',', default_value = "0.5,2")]
    budget: Vec<f64>,
    /// Number of pages that are simulated. If a crawl has more, those with the smallest ids are, with their share of the budget.
    #[arg(long, default_value_t = 50_000, value_parser = clap::value_parser!(u32).range(1..))]
    sample: u32,
    /// Seed of the changes.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// The answer.
#[derive(Serialize)]
struct CrawlBudgets {
    /// Pages with a copy, whose hosts are neither paused nor blocked. All figures are of them.
    pages: u64,
    pages_simulated: u64,
    /// Pages without a copy, or of hosts that are paused or blocked.
    pages_left_out: u64,
    hosts: u64,
    /// Share of the copies that was believed to be current at the last fetch of the crawl.
    believed_freshness: f64,
    /// The smallest budget first.
    budgets: Vec<BudgetAnswer>,
}

#[derive(Serialize)]
struct BudgetAnswer {
    factor: f64,
    requests_per_second: f64,
    /// Requests that are worth making and that hosts and intervals allow.
    spent_per_second: f64,
    freshness: f64,
    pages_current: u64,
    weighted_freshness: f64,
    /// The weighted freshness in closed form, without the limits of hosts.
    closed_form_weighted_freshness: f64,
    simulated_days: f64,
}

/// A page of the crawl, as it is stored.
struct StoredPage {
    host: String,
    change_rate_per_day: f64,
    weight: f64,
    min_interval: Duration,
    last_look_at: Timestamp,
    /// Shape and rate of the belief.
    belief: (f64, f64),
}

/// The pages of a crawl that can be simulated.
struct StoredCrawl {
    pages: BTreeMap<PageId, StoredPage>,
    known: u64,
    left_out: u64,
    /// By host: requests that it takes a day.
    host_fetches_per_day: HashMap<String, f64>,
}

pub(super) fn crawl(arguments: &CrawlArguments, format: Format) -> Result<(), CommandFailure> {
    let mut factors = arguments.budget.clone();
    if let Some(factor) = factors.iter().find(|factor| !(**factor > 0.0 && factor.is_finite())) {
        return Err(CommandFailure::Input(format!("--budget {factor}: give positive factors, such as 0.5,2")));
    }
    factors.push(1.0);
    factors.sort_by(f64::total_cmp);
    factors.dedup();
    let settings = arguments.settings.load(&[("crawl.data", Some(arguments.data.display().to_string()))])?;
    let stored = read(&arguments.data, &settings, arguments.sample as usize)?;
    let share = stored.pages.len() as f64 / stored.known as f64;
    let crawl = own_crawl(&stored, &settings, share)?;
    let watch = Watch::start()?;
    let simulated = factors.iter().enumerate().map(|(number, factor)| {
        let budget_per_day = settings.budget.fetches_per_second * SECONDS_PER_DAY * factor * share;
        let outcome = crawl.at(budget_per_day, arguments.seed, &mut |progress| {
            let done = (number as f64 + progress.done) / factors.len() as f64;
            watch.report(done, || format!("{number} of {} budgets done", factors.len()))
        });
        outcome.map(|outcome| budget_answer(*factor, &outcome, share, stored.known)).map_err(|error| match error {
            SimulationError::Stopped { .. } => super::stopped(number, factors.len()),
            other => super::input(other),
        })
    });
    let budgets = simulated.collect::<Result<Vec<_>, _>>();
    watch.finish();
    let budgets = CrawlBudgets {
        pages: stored.known,
        pages_simulated: stored.pages.len() as u64,
        pages_left_out: stored.left_out,
        hosts: stored.host_fetches_per_day.len() as u64,
        believed_freshness: believed_freshness(&stored),
        budgets: budgets?,
    };
    answer(format, &budgets, text)
}

fn read(data: &Path, settings: &Settings, sample: usize) -> Result<StoredCrawl, CommandFailure> {
    if !has_crawl(data) {
        let problem = format!("{} holds no crawl; give the directory of a recrawl run with --data", data.display());
        return Err(CommandFailure::Input(problem));
    }
    let inspection = Inspection::open(settings, topologies(), data)?;
    let (rules, schedules) = (inspection.rules()?, inspection.host_schedules()?);
    let mut crawl = StoredCrawl { pages: BTreeMap::new(), known: 0, left_out: 0, host_fetches_per_day: HashMap::new() };
    let mut is_stopped = HashMap::new();
    let per_host = settings.budget.host_fetches_per_second.map_or(MOST_PER_DAY, |rate| rate * SECONDS_PER_DAY);
    for (host, schedule) in schedules {
        let delay_s = (schedule.crawl_delay_ms as f64 / 1_000.0).max(settings.politeness.crawl_delay.as_secs_f64());
        let allowed = if delay_s > 0.0 { SECONDS_PER_DAY / delay_s } else { MOST_PER_DAY };
        is_stopped.insert(host.as_str().to_owned(), schedule.paused || schedule.blocked);
        crawl.host_fetches_per_day.insert(host.as_str().to_owned(), allowed.min(per_host));
    }
    inspection.pages(&mut |id, page| {
        let host = page.url.host_name().to_owned();
        let (Some(last_look_at), Some(_)) = (page.last_look_at, page.validators.content_digest) else {
            crawl.left_out += 1;
            return;
        };
        let weight = rules.own_weight(&page);
        if is_stopped.get(&host).copied().unwrap_or(false) || !(weight >= 0.0 && weight.is_finite()) {
            crawl.left_out += 1;
            return;
        }
        crawl.known += 1;
        crawl.pages.insert(
            id,
            StoredPage {
                host,
                change_rate_per_day: page.belief.change_rate_per_day(),
                weight,
                min_interval: rules.min_interval_of(&page),
                last_look_at,
                belief: (page.belief.alpha, page.belief.beta_days),
            },
        );
        if crawl.pages.len() > sample {
            crawl.pages.pop_last();
        }
    })?;
    if crawl.pages.is_empty() {
        let problem = format!(
            "{} has no page with a copy yet, so nothing is believed of their changes; let the crawl run, and ask again",
            data.display()
        );
        return Err(CommandFailure::No(problem));
    }
    Ok(crawl)
}

/// The simulation of the sample, with its share of what hosts take.
fn own_crawl(stored: &StoredCrawl, settings: &Settings, share: f64) -> Result<OwnCrawl, CommandFailure> {
    let (mut numbers, mut host_fetches_per_day) = (HashMap::new(), Vec::new());
    let pages = stored.pages.values().map(|page| {
        let host = *numbers.entry(&page.host).or_insert_with(|| {
            let allowed = stored.host_fetches_per_day.get(&page.host).copied().unwrap_or(MOST_PER_DAY);
            host_fetches_per_day.push(allowed * share);
            host_fetches_per_day.len() as u32 - 1
        });
        CrawledPage {
            change_rate_per_day: page.change_rate_per_day,
            weight: page.weight,
            host,
            min_interval_days: page.min_interval.as_secs_f64() / SECONDS_PER_DAY,
        }
    });
    let pages: Vec<CrawledPage> = pages.collect();
    let least_worth_days = settings.policy.least_worth.as_secs_f64() / SECONDS_PER_DAY;
    let limits = CrawlLimits { theta: settings.policy.theta, least_worth_days, host_fetches_per_day };
    OwnCrawl::new(&pages, limits).map_err(super::input)
}

fn budget_answer(factor: f64, outcome: &BudgetOutcome, share: f64, pages: u64) -> BudgetAnswer {
    let per_second = |per_day: f64| per_day / share / SECONDS_PER_DAY;
    BudgetAnswer {
        factor,
        requests_per_second: per_second(outcome.budget_per_day),
        spent_per_second: per_second(outcome.fetches_per_day),
        freshness: outcome.freshness,
        pages_current: (outcome.freshness * pages as f64).round() as u64,
        weighted_freshness: outcome.weighted_freshness,
        closed_form_weighted_freshness: outcome.closed_form_weighted_freshness,
        simulated_days: outcome.simulated_days,
    }
}

/// The mean probability that a copy is current, when the crawl fetched last.
fn believed_freshness(stored: &StoredCrawl) -> f64 {
    let Some(last) = stored.pages.values().map(|page| page.last_look_at).max() else { return 0.0 };
    let fresh = stored.pages.values().map(|page| {
        let (alpha, beta_days) = page.belief;
        let days = last.days_since(page.last_look_at).max(0.0);
        (-alpha * (days / beta_days).ln_1p()).exp()
    });
    fresh.sum::<f64>() / stored.pages.len() as f64
}

fn text(budgets: &CrawlBudgets) -> String {
    let pages = grouped(budgets.pages as f64, ",");
    let sentences = budgets.budgets.iter().map(|budget| {
        format!(
            "With {} ({} requests a second) {:.1} % of your {pages} pages would be current ({}); {} requests a second would be \
             made.",
            named(budget.factor),
            rate(budget.requests_per_second),
            100.0 * budget.freshness,
            grouped(budget.pages_current as f64, ","),
            rate(budget.spent_per_second)
        )
    });
    let mut lines: Vec<String> = sentences.collect();
    let checks = budgets.budgets.iter().map(|budget| {
        let [simulated, closed] = [budget.weighted_freshness, budget.closed_form_weighted_freshness];
        format!("{} {:.1} % and {:.1} %", factor_in_digits(budget.factor), 100.0 * simulated, 100.0 * closed)
    });
    lines.push(format!(
        "By weight, simulated and in closed form, which knows no limits of hosts: {}.",
        checks.collect::<Vec<_>>().join("; ")
    ));
    lines.push(format!(
        "At its last fetch the crawl believed {:.1} % of the copies to be current. The simulation takes the believed change rates as true.",
        100.0 * budgets.believed_freshness
    ));
    if budgets.pages_left_out > 0 {
        let left_out = grouped(budgets.pages_left_out as f64, ",");
        lines.push(format!("{left_out} pages without a copy, or of hosts that are paused or blocked, are left out."));
    }
    if budgets.pages_simulated < budgets.pages {
        let simulated = grouped(budgets.pages_simulated as f64, ",");
        lines.push(format!(
            "{simulated} of the pages were simulated, chosen at random, with their share of the budget."
        ));
    }
    lines.join("\n")
}

fn named(factor: f64) -> String {
    match factor {
        1.0 => "the present budget".to_owned(),
        0.5 => "half the budget".to_owned(),
        2.0 => "twice the budget".to_owned(),
        other => format!("{} the budget", factor_in_digits(other)),
    }
}

fn factor_in_digits(factor: f64) -> String {
    format!("{factor} times")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_answered_in_a_sentence() {
        let budget = |factor: f64, freshness: f64| BudgetAnswer {
            factor,
            requests_per_second: 1.6 * factor,
            spent_per_second: 1.5 * factor,
            freshness,
            pages_current: (freshness * 1_200.0) as u64,
            weighted_freshness: freshness,
            closed_form_weighted_freshness: freshness,
            simulated_days: 10.0,
        };
        let budgets = vec![budget(0.5, 0.71), budget(1.0, 0.83), budget(3.0, 0.9)];
        let (pages, hosts) = (1_200, 3);
        let said = text(&CrawlBudgets {
            pages,
            pages_simulated: pages,
            pages_left_out: 0,
            hosts,
            believed_freshness: 0.8,
            budgets,
        });
        let lines: Vec<&str> = said.lines().collect();
        let half = "With half the budget (0.800 requests a second) 71.0 % of your 1,200 pages would be current (852); 0.750 \
                    requests a second would be made.";
        assert_eq!(lines[0], half);
        assert!(lines[1].starts_with("With the present budget (1.60 requests a second) 83.0 %"), "{said}");
        assert!(lines[2].starts_with("With 3 times the budget") && lines.len() == 5, "{said}");
    }
}
