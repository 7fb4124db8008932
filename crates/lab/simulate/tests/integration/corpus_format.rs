//! The example of a corpus in the documentation is one.

use simulate::trace::{Cut, JudgedTrace, Recording, TraceTable};

/// The first block of CSV after the heading of a table.
fn example<'a>(text: &'a str, name: &str) -> &'a str {
    let (_, after) = text.split_once(&format!("| `{name}` |")).expect("the table is described");
    let (_, block) = after.split_once("```csv\n").expect("an example follows");
    block.split_once("```").expect("the example ends").0
}

/// The columns that a table describes.
fn described<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let (_, after) = text.split_once(&format!("| `{name}` |")).expect("the table is described");
    let rows = after.lines().skip(2).take_while(|line| line.starts_with('|'));
    rows.filter_map(|row| row.split('`').nth(1)).collect()
}

#[test]
fn the_example_in_the_documentation_is_a_corpus() {
    let text = std::fs::read_to_string(corpora::workspace().join("docs/simulate.md")).expect("the documentation");
    let [pages, changes] = ["pages.csv", "changes.csv"].map(|name| {
        let example = example(&text, name);
        // All columns are described, and the reader needs each.
        let header: Vec<&str> = example.lines().next().expect("a header").split(',').collect();
        assert_eq!(header, described(&text, name));
        example
    });
    let read = |pages: &str, changes: &str| {
        let table =
            |name: &str, text: &str| TraceTable { name: name.to_owned(), bytes: std::io::Cursor::new(text.to_owned()) };
        Recording::read(table("pages.csv", pages), table("changes.csv", changes))
    };
    let recording = read(pages, changes).expect("the example");
    assert_eq!((recording.pages.len(), recording.rows()), (2, 4));
    assert_eq!(
        (&*recording.pages[1].path, &recording.hosts, &recording.sources),
        ("/news?page=1", &vec!["www.example.org".to_owned()], &vec!["example".to_owned()])
    );
    let cut = Cut { sources: Vec::new(), max_pages_per_source: 10, draw: 1 };
    let judged = JudgedTrace::cut(&recording, &cut).expect("both pages live through two years");
    let changes_of: Vec<usize> = judged.pages.iter().map(|page| page.changes_days.len()).collect();
    assert_eq!(changes_of, [1, 1]);
    for (table, column) in
        [(pages, "host"), (pages, "path"), (pages, "source"), (changes, "unix_time"), (changes, "kind")]
    {
        let renamed = table.replacen(column, "other", 1);
        let read = if table == pages { read(&renamed, changes) } else { read(pages, &renamed) };
        assert!(read.expect_err("a column is missing").to_string().contains(column), "{column}");
    }
}
