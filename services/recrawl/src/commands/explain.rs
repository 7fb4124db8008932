//! `recrawl explain URL`: why a page is or is not due.

use crate::CommandFailure;
use crate::commands::OnePageArguments;
use operate::{ExplanationParts, FocusReport, not_known};
use outputs::stdout::{Format, answer};
use scheduler::explain::Explanation;
use serde::Serialize;

pub fn explain(arguments: &OnePageArguments, format: Format) -> Result<(), CommandFailure> {
    let (url, state) = arguments.open()?;
    let ExplanationParts { explanation, focus, forgotten } = state.explain(&url)?;
    let explanation = explanation.ok_or_else(|| not_known(&url, forgotten))?;
    answer(format, &Explained { explanation, focus: focus.map(FocusReport::of) }, text)
}

/// Why a page is or is not due, and its relevance to the focuses.
#[derive(Serialize)]
struct Explained {
    #[serde(flatten)]
    explanation: Explanation,
    focus: Option<FocusReport>,
}

fn text(Explained { explanation, focus }: &Explained) -> String {
    let number = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.4}"));
    let rate = explanation.change_rate_per_day;
    let mut lines = vec![
        explanation.url.clone(),
        format!("due                  {}", explanation.due_at.as_deref().unwrap_or("not foreseeable now")),
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
