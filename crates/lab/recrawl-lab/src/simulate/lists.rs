//! `--lists SHARE[:PRECISION[:RECALL]]`.

use serde::Serialize;
use simulate::lists::ListRules;

/// The rules of a simulation's lists, as its result prints them.
#[derive(Debug, Serialize)]
pub(super) struct ListRow {
    share: f64,
    precision: f64,
    recall: f64,
}

impl ListRow {
    pub(super) fn of(rules: ListRules) -> Self {
        let ListRules { share, precision, recall } = rules;
        Self { share, precision, recall }
    }
}

/// Reads the value of `--lists`.
pub(super) fn list_rules(written: &str) -> Result<ListRules, String> {
    let expected = || format!("{written:?} is not SHARE[:PRECISION[:RECALL]], such as 0.6:0.9:0.9");
    let parts = written.split(':').map(str::parse).collect::<Result<Vec<f64>, _>>().map_err(|_| expected())?;
    let (share, precision, recall) = match parts[..] {
        [share] => (share, 1.0, 1.0),
        [share, precision] => (share, precision, 1.0),
        [share, precision, recall] => (share, precision, recall),
        _ => return Err(expected()),
    };
    let rules = ListRules { share, precision, recall };
    rules.check().map_err(|error| error.to_string())?;
    Ok(rules)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_right() {
        let read =
            |written| list_rules(written).map(|ListRules { share, precision, recall }| [share, precision, recall]);
        assert_eq!(read("0.6"), Ok([0.6, 1.0, 1.0]));
        assert_eq!(read("0.6:0.9"), Ok([0.6, 0.9, 1.0]));
        assert_eq!(read("0.6:0.9:0.8"), Ok([0.6, 0.9, 0.8]));
        for bad in ["", "a", "1:1:1:1", "2", "1:0", "1:1:-1"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
