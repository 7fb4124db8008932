//! The demo's results as text for a terminal.

use super::report::DemoReport;

/// Width of the columns of figures.
const COLUMN: usize = 13;

impl DemoReport {
    /// The report as text for people.
    pub(super) fn text(&self) -> String {
        let polite = &self.politeness;
        let gap = polite.min_gap_s.map_or("none".to_owned(), |gap| format!("{gap:.1} s"));
        let mut lines = vec![
            format!("{} (simulated)", self.headline()),
            self.stale_sentence(),
            String::new(),
            format!(
                "{} pages on {} hosts, {:.0} days in {:.0} s: {}",
                self.pages, self.hosts, self.virtual_days, self.wall_s, self.replayed
            ),
            format!("Copies in days {:.0} to {:.0}:", self.scored_from_day, self.virtual_days),
            format!("{:<22}{:>COLUMN$}{:>COLUMN$}{:>COLUMN$}", "", "stale", "to the byte", "age, days"),
        ];
        let others = self.stale_share_any_byte.named().into_iter().zip(self.stale_age_days.named());
        for ((name, _, stale), ((_, _, byte), (_, _, age))) in self.stale_share.named().into_iter().zip(others) {
            let percent = |share: &f64| format!("{:.2} %", 100.0 * share);
            lines.push(format!("{name:<22}{:>COLUMN$}{:>COLUMN$}{age:>COLUMN$.3}", percent(stale), percent(byte)));
        }
        lines.extend([
            String::new(),
            format!(
                "cost: {} fetches and {} of robots.txt (budget {:.0}), {:.1} MB, {:.0} % answered 304, {:.1} s of CPU, {:.0} µs a fetch",
                self.fetches,
                polite.robots_requests,
                self.budget_fetches_per_day * self.virtual_days,
                self.bytes_fetched as f64 / 1e6,
                100.0 * self.not_modified_share,
                self.cpu_s,
                self.cpu_us_per_fetch
            ),
            format!(
                "changes: {} of {} meaningful ones seen (those between two looks count as one); {} of {} in all",
                self.meaningful_changes_seen, self.meaningful_changes_total, self.changes_seen, self.changes_total
            ),
            format!(
                "politeness: smallest gap on a host {gap} (virtual), at most {} in flight on a host, {} robots \
                 violations, {} forbidden requests, {} failed on purpose",
                polite.max_in_flight_per_host,
                polite.robots_violations,
                polite.forbidden_requests,
                polite.failed_requests
            ),
        ]);
        lines.join("\n")
    }
}
