//! Files of regular expressions, as Apache Nutch has them (`regex-urlfilter.txt`): `+` or `-`, then an expression. The
//! first line whose expression is found in an address decides. An address without such a line is left out.

use crate::Decision;
use crate::page_pattern::MOST_STEPS;
use fancy_regex::{Regex, RegexBuilder};
use settings::Permission;

/// The most lines of a filter.
const MAX_LINES: usize = 100_000;

#[derive(Clone, Debug)]
pub struct UrlFilter {
    file: String,
    lines: Vec<FilterLine>,
}

#[derive(Clone, Debug)]
struct FilterLine {
    number: usize,
    text: String,
    permission: Permission,
    expression: Regex,
}

impl PartialEq for UrlFilter {
    fn eq(&self, other: &Self) -> bool {
        let texts = |filter: &Self| filter.lines.iter().map(|line| line.text.clone()).collect::<Vec<_>>();
        self.file == other.file && texts(self) == texts(other)
    }
}

/// An invalid line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}; {remedy}")]
pub struct FilterFault {
    /// Its number, from 1.
    pub line: usize,
    /// The reason why the line is refused, as text for the operator.
    pub problem: String,
    /// The correction to make, as text for the operator.
    pub remedy: String,
}

impl UrlFilter {
    /// Parses the text of a file.
    ///
    /// # Errors
    /// Returns every invalid line.
    pub fn parse(file: &str, text: &str) -> Result<Self, Vec<FilterFault>> {
        let (mut lines, mut faults) = (Vec::new(), Vec::new());
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim_end();
            if line.trim_start().is_empty() || line.starts_with('#') {
                continue;
            }
            if lines.len() == MAX_LINES {
                let problem = format!("there are more than {MAX_LINES} lines");
                faults.push(FilterFault { line: number, problem, remedy: "let expressions share a line".to_owned() });
                break;
            }
            match FilterLine::parse(number, line) {
                Ok(line) => lines.push(line),
                Err((problem, remedy)) => faults.push(FilterFault { line: number, problem, remedy: remedy.to_owned() }),
            }
        }
        match faults.is_empty() {
            true => Ok(Self { file: file.to_owned(), lines }),
            false => Err(faults),
        }
    }

    /// Name of its file.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The decision about an address: by the first line that matches it.
    pub(crate) fn decide(&self, url: &str) -> Decision<'_> {
        match self.lines.iter().find(|line| line.is_of(url)) {
            Some(line) => Decision::FilterLine {
                file: &self.file,
                line: line.number,
                text: &line.text,
                permission: line.permission,
            },
            None => Decision::NoLine { file: &self.file },
        }
    }
}

impl FilterLine {
    fn parse(number: usize, text: &str) -> Result<Self, (String, &'static str)> {
        let (permission, expression) = match text.split_at_checked(1) {
            Some(("+", rest)) => (Permission::Allow, rest),
            Some(("-", rest)) => (Permission::Deny, rest),
            _ => return Err((format!("{text:?} begins with neither + nor -"), "write + or - before the expression")),
        };
        let expression = RegexBuilder::new(expression).backtrack_limit(MOST_STEPS).build();
        let expression = expression.map_err(|error| {
            (format!("{text:?} is no regular expression: {error}"), "mend it, or leave the line out")
        })?;
        Ok(Self { number, text: text.to_owned(), permission, expression })
    }

    /// Whether the line's expression is found in an address. A search that is given up leaves the address out.
    fn is_of(&self, url: &str) -> bool {
        self.expression.is_match(url).unwrap_or(self.permission == Permission::Deny)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines that Nutch is delivered with.
    const OF_NUTCH: &str = "\
# skip file: ftp: and mailto: urls
-^(?:file|ftp|mailto):

# skip image and other suffixes we can't yet parse
-\\.(?i:gif|jpg|png|ico|css|zip|ppt|mpg|xls|gz|rpm|tgz|mov|exe|jpeg|bmp|js)$
# skip URLs containing certain characters as probable queries, etc.
-[?*!@=]
# skip URLs with slash-delimited segment that repeats 3+ times, to break loops
-.*(/[^/]+)/[^/]+\\1/[^/]+\\1/
# accept anything else
+.
";

    #[test]
    fn the_file_that_nutch_is_delivered_with_works_as_it_is() {
        let filter = UrlFilter::parse("regex-urlfilter.txt", OF_NUTCH).unwrap();
        let line = |url: &str| match filter.decide(url) {
            Decision::FilterLine { line, permission, .. } => (line, permission == Permission::Allow),
            other => panic!("{other:?}"),
        };
        assert_eq!(line("http://a.test/x"), (11, true));
        assert_eq!(line("http://a.test/x.GIF"), (5, false));
        assert_eq!(line("http://a.test/?q"), (7, false));
        assert_eq!(line("http://a.test/b/x/b/y/b/"), (9, false));
        assert_eq!(line("http://a.test/b/x/c/y/b/"), (11, true));
    }

    #[test]
    fn lines_that_are_none_are_named() {
        let faults = UrlFilter::parse("f", "+.\nhttp://a.test/\n-(\n\n# fine\n").unwrap_err();
        assert_eq!(faults.iter().map(|fault| fault.line).collect::<Vec<_>>(), [2, 3]);
        assert!(faults[0].to_string().contains("neither + nor -"), "{}", faults[0]);
    }

    #[test]
    fn an_expression_that_would_take_for_ever_leaves_the_address_out() {
        let filter = UrlFilter::parse("f", "-^(?:(a+)(?!z))+\\1c\n+.").unwrap();
        assert!(!filter.decide(&"a".repeat(2_000)).allows());
    }
}
