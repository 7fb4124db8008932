//! Position of a reader of a topic.

use daemon::{CommandFailure, TopicReader};
use std::fmt;
use std::str::FromStr;

/// Position of a reader: the next offset of each partition, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor(pub Vec<u64>);

impl Cursor {
    /// The position before the first record that is kept.
    ///
    /// # Errors
    /// The log does not answer.
    pub fn at_start(reader: &mut TopicReader) -> Result<Self, CommandFailure> {
        let starts = (0..reader.partitions()).map(|partition| Ok(reader.bounds(partition)?.start));
        starts.collect::<Result<_, CommandFailure>>().map(Self)
    }

    /// The position behind the last record of a topic.
    ///
    /// # Errors
    /// The log does not answer.
    pub fn at_end(reader: &mut TopicReader) -> Result<Self, CommandFailure> {
        let ends = (0..reader.partitions()).map(|partition| Ok(reader.bounds(partition)?.end));
        ends.collect::<Result<_, CommandFailure>>().map(Self)
    }
}

impl FromStr for Cursor {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let offsets: Result<_, _> = text.split('.').map(str::parse).collect();
        offsets
            .map(Self)
            .map_err(|_| "not a cursor; give the field cursor of an earlier record, such as 47.53.53.48".to_owned())
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (partition, offset) in self.0.iter().enumerate() {
            write!(formatter, "{}{offset}", if partition == 0 { "" } else { "." })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_reads_back_what_it_wrote() {
        for offsets in [vec![0], vec![12, 0, 7], vec![u64::MAX, 1]] {
            let cursor = Cursor(offsets);
            assert_eq!(cursor.to_string().parse(), Ok(cursor));
        }
        for bad in ["", "1.", "a", "1,2", "-1"] {
            assert!(bad.parse::<Cursor>().is_err(), "{bad}");
        }
    }
}
