//! A study for people.

use super::report::{ClassTest, Extent, Links, PageClass, Quantiles, Study};
use crate::attention::percent;
use change_rate::memoryless::{LifePoint, MemorylessResult, MemorylessTest};
use importance::power_law::PowerLawTail;

/// Below this probability the times between changes do not count as exponential.
const LEVEL: f64 = 0.01;
/// Width of the plot.
const PLOT_COLUMNS: f64 = 50.0;

pub(super) fn text(study: &Study) -> String {
    let mut paragraphs = vec![head(study), life(study)];
    for (title, classes) in [
        ("by host", &study.by_host),
        ("by depth of the path", &study.by_depth),
        ("by ending of the path", &study.by_ending),
        ("by age in the crawl", &study.by_age),
    ] {
        paragraphs.push(classes_in_lines(title, classes));
    }
    paragraphs.push(extent_in_lines(&study.extent));
    paragraphs.push(links_in_words(&study.links));
    paragraphs.push(match &study.importance {
        None => "No page has a weight by its links: links are not followed, or none was seen yet.".to_owned(),
        Some(importance) => {
            let tail = tail_in_words(importance.tail.as_ref());
            format!("Weights by links are {} (10th, 50th and 90th percentile). {tail}", three(importance.quantiles))
        }
    });
    paragraphs.retain(|paragraph| !paragraph.is_empty());
    paragraphs.join("\n\n")
}

fn head(study: &Study) -> String {
    let rates = study.all.change_rate_per_day;
    let of = match study.pages_known > study.pages_studied {
        true => format!("{} of {} pages, chosen at random", study.pages_studied, study.pages_known),
        false => format!("{} pages", study.pages_known),
    };
    let mut text = format!(
        "Studied: {of}. {} were looked at twice or more, {} times in all, and {} changes were found.",
        study.pages_seen_twice, study.all.looks, study.all.changes
    );
    if study.pages_seen_twice > 0 {
        text += &format!(
            " The median page changes {} times a day, a tenth of them less often than {} and a tenth more often than {}.",
            short(rates.p50),
            short(rates.p10),
            short(rates.p90)
        );
    }
    if let Some(since) = study.changes_since {
        text += &format!(
            "\n{} changes of these pages are still kept, since {since}; lives of versions and extents are those of them.",
            study.changes_read
        );
    }
    for (count, kind) in [
        (study.changes_left_out, "changes of busy pages were left out"),
        (study.records_unreadable, "records of another version cannot be read"),
    ] {
        if count > 0 {
            text += &format!(" {count} {kind}.");
        }
    }
    text
}

/// Whether changes have a memory, and the plot.
fn life(study: &Study) -> String {
    let Some(result) = &study.memoryless else {
        return format!(
            "Whether the times between changes are exponential cannot be said yet: that takes {} changes of pages that were also \
             found unchanged.",
            MemorylessTest::LEAST_CHANGES
        );
    };
    let finding = if result.p_value >= LEVEL {
        "The times between changes agree with an exponential distribution"
    } else if result.excess_of_short_lives > 0.0 {
        "The times between changes are not exponential: changes come in bursts, more soon after a change than later"
    } else {
        "The times between changes are not exponential: changes are more regular than chance, fewer soon after a change"
    };
    let MemorylessResult { pages, looks, changes, chi_square, degrees_of_freedom, .. } = result;
    format!(
        "{finding} ({}; chi-square {chi_square:.1} with {degrees_of_freedom} degrees of freedom; {changes} changes in {looks} looks at \
         {pages} pages).\n\n{}",
        probability(result.p_value),
        plot(&result.curve)
    )
}

fn probability(p_value: f64) -> String {
    if p_value < 0.0001 { "p < 0.0001".to_owned() } else { format!("p = {p_value:.4}") }
}

/// Observed and expected shares side by side.
fn plot(curve: &[LifePoint]) -> String {
    let mut lines =
        vec!["Versions replaced by the time t, as a multiple of the page's mean time between changes 1/λ:".to_owned()];
    lines.push(format!("{:>6} {:>9} {:>9}  # observed, | 1 - e^(-λt)", "λt", "observed", "expected"));
    lines.extend(curve.iter().map(|point| {
        let place = |share: f64| (share.clamp(0.0, 1.0) * PLOT_COLUMNS).round() as usize;
        let (observed, expected) = (place(point.observed_share), place(point.expected_share));
        let column = |column: usize| match (column == expected, column < observed) {
            (true, _) => '|',
            (false, true) => '#',
            (false, false) => ' ',
        };
        let bar: String = (0..=observed.max(expected)).map(column).collect();
        let (seen, theory) = (percent(point.observed_share), percent(point.expected_share));
        format!("{:>6.2} {seen:>9} {theory:>9}  {}", point.mean_intervals, bar.trim_end())
    }));
    lines.join("\n")
}

fn classes_in_lines(title: &str, classes: &[PageClass]) -> String {
    if classes.is_empty() {
        return String::new();
    }
    let width = classes.iter().map(|class| class.name.chars().count()).max().unwrap_or(0).max(title.len());
    let mut lines = vec![format!(
        "{title:<width$} {:>7} {:>8} {:>8} {:>9} {:>9} {:>9}  exponential?",
        "pages", "looks", "changes", "a day p10", "p50", "p90"
    )];
    lines.extend(classes.iter().map(|class| {
        let PageClass { name, pages, looks, changes, change_rate_per_day: rates, memoryless, .. } = class;
        let [p10, p50, p90] = [rates.p10, rates.p50, rates.p90].map(short);
        format!(
            "{name:<width$} {pages:>7} {looks:>8} {changes:>8} {p10:>9} {p50:>9} {p90:>9}  {}",
            test(memoryless.as_ref())
        )
    }));
    lines.join("\n")
}

fn test(test: Option<&ClassTest>) -> String {
    match test {
        None => "too few changes".to_owned(),
        Some(test) if test.p_value >= LEVEL => probability(test.p_value),
        Some(test) => format!("no, {}", probability(test.p_value)),
    }
}

fn extent_in_lines(extent: &[Extent]) -> String {
    if extent.is_empty() {
        return String::new();
    }
    let title = "share of the page that changed";
    let width = extent.iter().map(|extent| extent.name.chars().count()).max().unwrap_or(0).max(title.len());
    let mut lines = vec![format!("{title:<width$} {:>8} {:>8} {:>8} {:>8}", "changes", "p10", "p50", "p90")];
    lines.extend(extent.iter().map(|Extent { name, changes, magnitude }| {
        let [p10, p50, p90] = [magnitude.p10, magnitude.p50, magnitude.p90].map(percent);
        format!("{name:<width$} {changes:>8} {p10:>8} {p50:>8} {p90:>8}")
    }));
    lines.join("\n")
}

fn links_in_words(links: &Links) -> String {
    let mut text = match (links.out_links, links.in_links) {
        (Some(out), Some(into)) => {
            let part = if links.is_whole { "these pages" } else { "the pages whose links were read" };
            format!(
                "Links were read on {} pages. A page links to {} others (10th, 50th and 90th percentile), and {part} link to one {} \
                 times. {} In-links: {}",
                links.pages_read,
                three(out),
                three(into),
                tail_in_words(links.out_links_tail.as_ref()),
                tail_in_words(links.in_links_tail.as_ref())
            )
        }
        _ => "Links were not counted: no copy is kept as received (detector.contents = \"body\").".to_owned(),
    };
    if links.copies_unreadable > 0 {
        text += &format!(" {} copies cannot be read.", links.copies_unreadable);
    }
    text += &format!(
        " {} of the changes changed links: {} came and {} went, as far as they are listed.",
        percent(links.changes_of_links_share),
        links.links_added,
        links.links_removed
    );
    text
}

fn tail_in_words(tail: Option<&PowerLawTail>) -> String {
    tail.map_or("There are too few for a tail.".to_owned(), |tail| {
        let PowerLawTail { exponent, standard_error, from, values, .. } = tail;
        let from = short(*from);
        format!("The tail falls like a power law of exponent {exponent:.2} ± {standard_error:.2}, from {from} on ({values} pages).")
    })
}

fn three(quantiles: Quantiles) -> String {
    format!("{}, {} and {}", short(quantiles.p10), short(quantiles.p50), short(quantiles.p90))
}

/// A number with two significant digits behind zeros.
fn short(number: f64) -> String {
    match number {
        whole if whole == whole.round() && whole.abs() < 1e6 => format!("{whole:.0}"),
        large if large >= 10.0 => format!("{large:.1}"),
        middle if middle >= 0.1 => format!("{middle:.2}"),
        small => format!("{small:.2e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plot_shows_both_distributions() {
        let point = |mean_intervals, observed_share, expected_share| LifePoint {
            mean_intervals,
            observed_share,
            expected_share,
        };
        let plot = plot(&[point(0.5, 0.1, 0.2), point(1.0, 0.5, 0.4)]);
        let lines: Vec<&str> = plot.lines().collect();
        assert_eq!(lines[2], format!("  0.50    10.0 %    20.0 %  {}     |", "#".repeat(5)));
        assert_eq!(lines[3], format!("  1.00    50.0 %    40.0 %  {}|{}", "#".repeat(20), "#".repeat(4)));
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!([3.0, 12.34, 0.456, 0.001_234].map(short), ["3", "12.3", "0.46", "1.23e-3"]);
        assert_eq!([0.5, 0.000_01].map(probability), ["p = 0.5000", "p < 0.0001"]);
    }
}
