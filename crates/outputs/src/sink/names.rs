//! Names of files: PREFIX-TIME-NUMBER and an ending.

use page::Timestamp;

/// The names of an output's files.
#[derive(Debug)]
pub(super) struct NumberedNames {
    pub(super) prefix: String,
    /// `.warc.gz` …
    pub(super) ending: &'static str,
    /// Number of the next one.
    pub(super) next: u32,
}

impl NumberedNames {
    /// The next name. `first` is the time of the first record.
    pub(super) fn next(&mut self, first: Timestamp) -> String {
        let digits: String = first.to_string().chars().filter(char::is_ascii_digit).collect();
        let name = format!("{}-{digits}-{:05}{}", self.prefix, self.next, self.ending);
        self.next += 1;
        name
    }

    /// Numbering continues behind this name. Returns whether it is one of these.
    pub(super) fn pass(&mut self, name: &str) -> bool {
        let number = self.number_of(name);
        self.next = self.next.max(number.map_or(0, |number| number + 1));
        number.is_some()
    }

    /// The number in a name of these.
    pub(super) fn number_of(&self, name: &str) -> Option<u32> {
        let name = name.strip_suffix(self.ending)?;
        let (_, number) = name.strip_prefix(&self.prefix)?.strip_prefix('-')?.split_once('-')?;
        number.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbering_goes_on_behind_the_files_that_are_there() {
        let mut names = NumberedNames { prefix: "my_crawl".to_owned(), ending: ".jsonl", next: 0 };
        for name in
            ["my_crawl-20261121000000000-00007.jsonl", "other-20261121000000000-00009.jsonl", "my_crawl-1.jsonl"]
        {
            names.pass(name);
        }
        let first = Timestamp::from_secs(1_800_000_000);
        assert_eq!(names.next(first), "my_crawl-20270115080000000-00008.jsonl");
        assert_eq!(names.next, 9);
    }
}
