//! `recrawl explain URL`: whether and when a page is fetched, and why.

use crate::CommandFailure;
use crate::commands::OnePageArguments;
use clap::Args;
use operate::state::CrawlState;
use operate::{ExplanationParts, FocusReport, not_known};
use outputs::stdout::{Format, answer};
use page::CanonicalUrl;
use scheduler::explain::Explanation;
use serde::Serialize;
use settings::Settings;

/// Arguments of `recrawl explain`.
#[derive(Args, Debug)]
pub struct ExplainArguments {
    #[command(flatten)]
    page: OnePageArguments,
    /// Also prints the estimates and values of the policy that the answer follows from.
    #[arg(long)]
    verbose: bool,
}

pub fn explain(arguments: &ExplainArguments, format: Format) -> Result<(), CommandFailure> {
    let (url, settings, state) = arguments.page.open_with_settings()?;
    let ExplanationParts { explanation, focus, forgotten, forbidden_by } = state.explain(&url)?;
    let Some(explanation) = explanation else {
        return Err(match forgotten {
            Some(forgotten) => not_known(&url, Some(forgotten)),
            None => unknown(&url, &settings, &*state)?,
        });
    };
    let explained = Explained { explanation, focus: focus.map(FocusReport::of), forbidden_by };
    answer(format, &explained, |explained| match arguments.verbose {
        true => format!("{}\n\n{}", short(explained), model(explained)),
        false => short(explained),
    })
}

/// The answer for a page that the crawl does not know: it may not be in it, or was never found.
fn unknown(url: &CanonicalUrl, settings: &Settings, state: &dyn CrawlState) -> Result<CommandFailure, CommandFailure> {
    let scope = scope::configured(settings)?;
    let decision = scope.decide(url);
    if !decision.allows() {
        return Ok(CommandFailure::No(format!("{url} is not fetched: it is out of scope, for {decision}")));
    }
    let is_blocked = state.page(url)?.host.is_some_and(|host| host.blocked);
    let host = url.host_name();
    Ok(match is_blocked {
        true => CommandFailure::No(format!(
            "{url} is not fetched: an operator blocked its host, of which no further pages are taken in; recrawl unblock {host} ends that"
        )),
        false => not_known(url, None),
    })
}

/// Why a page is or is not due, and its relevance to the focuses.
#[derive(Serialize)]
struct Explained {
    #[serde(flatten)]
    explanation: Explanation,
    focus: Option<FocusReport>,
    /// The line of robots.txt that forbids the page. Absent if none does, or if the fetcher over Kafka has not answered.
    forbidden_by: Option<String>,
}

/// The answer, then the page.
fn short(Explained { explanation, forbidden_by, .. }: &Explained) -> String {
    let mut lines = vec![explanation.answer.clone(), explanation.url.clone()];
    lines.extend(forbidden_by.as_ref().map(|line| format!("robots.txt           {line}")));
    lines.extend(explanation.due_at.as_ref().map(|due_at| format!("next look expected   {due_at}")));
    lines.join("\n")
}

fn model(Explained { explanation, focus, .. }: &Explained) -> String {
    let number = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.4}"));
    let rate = explanation.change_rate_per_day;
    let mut lines = vec![
        format!("value / price        {} / {}", number(explanation.crawl_value), number(explanation.price)),
        format!("weight               {}", explanation.weight),
        format!("changes per day      {:.5} ({:.5} to {:.5})", rate.mean, rate.p05, rate.p95),
        format!("expected freshness   {}", number(explanation.expected_freshness)),
        format!("own hazard           {}", number(explanation.own_hazard)),
        format!("first look           {}", number(explanation.sentinel_value)),
        format!("trust in sweeps      {}", number(explanation.trust)),
    ];
    lines.extend(explanation.mean_extent.map(|extent| format!("extent of changes    {extent:.4}")));
    lines.extend(explanation.sweep_hazards.iter().map(|sweep| {
        format!(
            "sweeps               {:.4} of {} pages by {}, {:.5} a day",
            sweep.hazard, sweep.pages, sweep.group, sweep.per_day
        )
    }));
    if let Some(focus) = focus {
        let of = |it: &messages::FocusRelevance| format!("{} {:.3} (from {:.3})", it.focus, it.relevance, it.threshold);
        let judged: Vec<String> = focus.relevances.iter().map(of).collect();
        lines.push(match judged.is_empty() {
            false => format!("focus                {}", judged.join(", ")),
            true => format!("focus                links to it promise {}", number(focus.promise)),
        });
    }
    lines.push(String::new());
    lines.extend(explanation.reasons.iter().cloned());
    lines.join("\n")
}
