//! `recrawl explain URL`: why a page is, or is not, due.

use crate::Failure;
use crate::commands::SettingsArguments;
use crate::inspect::Inspection;
use crate::output::{Format, answer};
use clap::Args;
use daemon::WebClock;
use page::CanonicalUrl;
use scheduler::explain::Explanation;
use std::path::PathBuf;
use stream::Clock;

/// Arguments of `recrawl explain`.
#[derive(Args, Debug)]
pub struct ExplainArguments {
    /// The page's address.
    url: String,
    #[command(flatten)]
    settings: SettingsArguments,
    /// State directory of a `recrawl run`, which may be running.
    #[arg(long)]
    data: Option<PathBuf>,
}

/// Explains the decision about a page.
pub fn explain(arguments: &ExplainArguments, format: Format) -> Result<(), Failure> {
    let data = arguments.data.as_ref().map(|path| path.display().to_string());
    let settings = arguments.settings.load(&[("crawl.data", data)])?;
    let Some(data) = &settings.crawl.data else {
        return Err(Failure::Input("which crawl? give --data DIR".to_owned()));
    };
    let url =
        CanonicalUrl::parse(&arguments.url).map_err(|error| Failure::Input(format!("{}: {error}", arguments.url)))?;
    let now = WebClock::new(&settings.clock).now();
    match Inspection::open(&settings, data)?.explain(&settings, &url, now)? {
        Some(explanation) => answer(format, &explanation, text),
        None => Err(Failure::No(format!("{url} is not known here; recrawl seed adds it"))),
    }
}

fn text(explanation: &Explanation) -> String {
    let number = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.4}"));
    let rate = explanation.change_rate_per_day;
    let mut lines = vec![
        explanation.url.clone(),
        format!("due                  {}", explanation.due_at.as_deref().unwrap_or("never, as far as is known now")),
        format!("value / price        {} / {}", number(explanation.crawl_value), number(explanation.price)),
        format!("weight               {}", explanation.weight),
        format!("changes per day      {:.5} ({:.5} to {:.5})", rate.mean, rate.p05, rate.p95),
        format!("expected freshness   {}", number(explanation.expected_freshness)),
        format!("own hazard           {}", number(explanation.own_hazard)),
        format!("first look           {}", number(explanation.sentinel_value)),
        format!("trust in sweeps      {}", number(explanation.trust)),
    ];
    lines.extend(explanation.sweep_hazards.iter().map(|sweep| {
        format!(
            "sweeps               {:.4} of {} pages by {}, {:.5} a day",
            sweep.hazard, sweep.pages, sweep.group, sweep.per_day
        )
    }));
    lines.push(String::new());
    lines.extend(explanation.reasons.iter().cloned());
    lines.join("\n")
}
