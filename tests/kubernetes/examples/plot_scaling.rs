//! Draws docs/scaling.svg from what `make k8s-e2e` has measured: the fetchers' backlog, what KEDA goes by, and their number.
//!
//! `cargo run --example plot_scaling -- scaling.csv ../../docs/scaling.svg`

#![allow(clippy::unwrap_used, reason = "a tool for this repository")]

use plotters::prelude::*;

const SIZE: (u32, u32) = (900, 420);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let [source, target] = <[String; 2]>::try_from(std::env::args().skip(1).collect::<Vec<_>>())
        .map_err(|_| "usage: plot_scaling CSV SVG")?;
    let text = std::fs::read_to_string(source)?;
    let rows: Vec<[f64; 4]> = text
        .lines()
        .skip(1)
        .map(|line| {
            <[f64; 4]>::try_from(line.split(',').map(|cell| cell.parse().unwrap()).collect::<Vec<_>>()).unwrap()
        })
        .collect();
    let series = |column: usize| {
        let known = rows.iter().filter(move |row| row[column].is_finite());
        known.map(move |row| (row[0], row[column]))
    };
    let end = rows.last().map_or(1.0, |row| row[0]);
    let most = |columns: &[usize]| {
        columns.iter().flat_map(|column| series(*column)).fold(1.0, |most: f64, (_, y)| most.max(y))
    };

    let canvas = SVGBackend::new(&target, SIZE).into_drawing_area();
    canvas.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&canvas)
        .margin(12)
        .x_label_area_size(36)
        .y_label_area_size(56)
        .right_y_label_area_size(48)
        .build_cartesian_2d(0.0..end, 0.0..most(&[1, 2]) * 1.3)?
        .set_secondary_coord(0.0..end, 0.0..most(&[3]) + 1.0);
    let whole = |number: &f64| format!("{number:.0}");
    chart
        .configure_mesh()
        .x_desc("seconds")
        .y_desc("requests")
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .x_label_formatter(&whole)
        .y_label_formatter(&whole)
        .draw()?;
    chart
        .configure_secondary_axes()
        .y_desc("fetchers")
        .y_labels(most(&[3]) as usize + 2)
        .y_label_formatter(&whole)
        .draw()?;
    let (backlog, short, replicas) = (RGBColor(150, 150, 150), RGBColor(0, 114, 178), RGBColor(213, 94, 0));
    chart
        .draw_series(LineSeries::new(series(1), backlog.stroke_width(2)))?
        .label("backlog of the topic")
        .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], backlog.stroke_width(2)));
    chart
        .draw_series(LineSeries::new(series(2), short.stroke_width(2)))?
        .label("of them, short of fetchers")
        .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], short.stroke_width(2)));
    let steps = rows.windows(2).flat_map(|pair| [(pair[0][0], pair[0][3]), (pair[1][0], pair[0][3])]);
    chart
        .draw_secondary_series(LineSeries::new(steps, replicas.stroke_width(3)))?
        .label("fetchers (right)")
        .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], replicas.stroke_width(3)));
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .border_style(BLACK.mix(0.2))
        .background_style(WHITE)
        .draw()?;
    canvas.present()?;
    Ok(())
}
