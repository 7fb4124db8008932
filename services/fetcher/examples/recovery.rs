//! Draws docs/recovery.svg: how long a host is left alone between two requests while it refuses, is slow, and is well.
//!
//! `cargo run -p fetcher --example recovery -- docs/recovery.svg`

#![allow(clippy::unwrap_used, reason = "a tool for this repository, shared with a test")]

#[path = "../tests/fetcher/troubled_host.rs"]
mod troubled_host;

use page::Timestamp;
use plotters::prelude::*;
use troubled_host::{CRAWL_DELAY, RETRY_AFTER, begun, crawl};

const SIZE: (u32, u32) = (900, 420);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = std::env::args().nth(1).unwrap_or_else(|| "docs/recovery.svg".to_owned());
    let (ledger, plan) = crawl();
    let minutes = |moment: Timestamp| moment.saturating_since(plan.start).as_secs_f64() / 60.0;
    let requests = begun(&ledger, plan.start, Timestamp::MAX);
    let pauses: Vec<(f64, f64, u16)> = requests
        .windows(2)
        .map(|pair| {
            let pause = pair[1].started_at.saturating_since(pair[0].ended_at).as_secs_f64();
            (minutes(pair[1].started_at), pause.max(1.0), pair[1].status)
        })
        .collect();
    let end = requests.last().map_or(1.0, |last| minutes(last.ended_at));

    let canvas = SVGBackend::new(&file, SIZE).into_drawing_area();
    canvas.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&canvas)
        .margin(12)
        .x_label_area_size(36)
        .y_label_area_size(56)
        .build_cartesian_2d(0.0..end, (10.0..2_000.0).log_scale())?;
    let phases = [
        (0.0, minutes(plan.refuses_from), "well"),
        (minutes(plan.refuses_from), minutes(plan.slow_from), "503, Retry-After 15 min"),
        (minutes(plan.slow_from), minutes(plan.well_from), "slow: 90 s an answer"),
        (minutes(plan.well_from), end, "well"),
    ];
    for (from, until, name) in phases {
        let shade = if name == "well" { RGBColor(244, 248, 244) } else { RGBColor(250, 238, 232) };
        chart.draw_series([Rectangle::new([(from, 10.0), (until, 2_000.0)], shade.filled())])?;
        chart.draw_series([Text::new(name, (from + 0.5, 1_700.0), ("sans-serif", 13).into_font())])?;
    }
    chart
        .configure_mesh()
        .disable_x_mesh()
        .x_desc("minutes")
        .y_desc("seconds without a request, before this one")
        .draw()?;
    for level in [CRAWL_DELAY, RETRY_AFTER] {
        let level = level.as_secs_f64();
        chart.draw_series(LineSeries::new([(0.0, level), (end, level)], BLACK.mix(0.4)))?;
    }
    chart.draw_series(pauses.iter().map(|&(at, pause, status)| {
        let colour = if status == 503 { RED } else { BLUE };
        Circle::new((at, pause), 4, colour.filled())
    }))?;
    canvas.present()?;
    Ok(())
}
