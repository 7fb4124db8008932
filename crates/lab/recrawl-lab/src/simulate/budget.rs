//! Parses fetch budgets.

use std::fmt;
use std::str::FromStr;

/// Fetches per page and day.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct BudgetArgument {
    /// The operator's notation.
    pub(super) written: String,
    pub(super) fetches_per_page_per_day: f64,
}

const FORMS: &str = "write fetches per page and day: 1/15d (one in fifteen days), 1/15, 2/d or 0.0667";

impl FromStr for BudgetArgument {
    type Err = String;

    /// Parses `1/15d`, `1/15`, `2/d` or `0.0667`: a number of fetches, and the days they are for.
    fn from_str(text: &str) -> Result<Self, String> {
        let written = text.trim();
        let number =
            |text: &str| text.trim().parse::<f64>().map_err(|_| format!("{written:?} is not a budget; {FORMS}"));
        let value = match written.split_once('/') {
            None => number(written)?,
            Some((fetches, days)) => {
                let days = days.trim();
                let days = ["days", "day", "d"].iter().find_map(|unit| days.strip_suffix(unit)).unwrap_or(days);
                number(fetches)? / if days.is_empty() { 1.0 } else { number(days)? }
            }
        };
        // Values below one fetch in 2,700 years or above one per 0.1 s are mistakes.
        if (1e-6..=1e6).contains(&value) {
            Ok(Self { written: written.to_owned(), fetches_per_page_per_day: value })
        } else {
            Err(format!("{written:?} is {value} fetches per page and day; the budget must be above zero; {FORMS}"))
        }
    }
}

impl fmt::Display for BudgetArgument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_fetches_over_days() {
        let check = |text: &str, expected: f64| {
            assert_eq!(text.parse::<BudgetArgument>().unwrap().fetches_per_page_per_day, expected, "{text}");
        };
        check("1/15d", 1.0 / 15.0);
        check("1/15", 1.0 / 15.0);
        check(" 1 / 15 days ", 1.0 / 15.0);
        check("0.0667", 0.0667);
        check("2/d", 2.0);
        check("3/7day", 3.0 / 7.0);
        check("2", 2.0);
    }

    #[test]
    fn what_is_no_budget_is_reported_how_to_write_one() {
        for text in ["0", "-1/15d", "NaN", "inf", "1/0d", "0/15d", "", "/", "d", "1/15w", "often", "1/2/3", "1e-9"] {
            let error = text.parse::<BudgetArgument>().unwrap_err();
            assert!(error.contains("1/15d"), "{text}: {error}");
        }
    }
}
