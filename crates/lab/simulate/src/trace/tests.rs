//! The selection of judged pages, and the errors for invalid tables.

use super::*;

const DAY: i64 = 86_400;

fn read(pages: &str, changes: &str) -> Result<Recording, RecordingError> {
    Recording::read(
        TraceTable { name: "pages.csv".to_owned(), bytes: pages.as_bytes() },
        TraceTable { name: "changes.csv".to_owned(), bytes: changes.as_bytes() },
    )
}

fn all() -> Cut {
    Cut { sources: Vec::new(), max_pages_per_source: usize::MAX, draw: 1 }
}

/// Pages `/0`, `/1`… of one source, each with its rows (day, kind) counted from the start of the window. The last page
/// ends the window.
fn cut(pages: &[&[(f64, &str)]]) -> JudgedTrace {
    let opens = 1_000_000_000;
    let mut page_table = "page_id,host,path,source\n".to_owned();
    let mut change_table = "page_id,unix_time,kind\n".to_owned();
    let last: &[(f64, &str)] = &[(0.0, "I"), (WINDOW_DAYS, "M")];
    for (id, rows) in pages.iter().copied().chain([last]).enumerate() {
        page_table += &format!("{id},www.one.test,/{id},one\n");
        for (day, kind) in rows {
            change_table += &format!("{id},{},{kind}\n", opens + (day * DAY as f64) as i64);
        }
    }
    JudgedTrace::cut(&read(&page_table, &change_table).unwrap(), &all()).unwrap()
}

#[test]
fn changes_are_days_since_the_window_opened_and_one_second_is_one_change() {
    let trace = cut(&[&[(-40.0, "A"), (-1.0, "M"), (0.0, "M"), (1.5, "M"), (1.5, "M"), (700.0, "M")]]);
    let page = trace.pages.iter().find(|page| page.changes_days.len() == 2).unwrap();
    assert_eq!(page.changes_days, [1.5, 700.0]);
    assert_eq!(page.changes_between(0.0, LEARNING_DAYS), 1);
    assert_eq!(page.smoothed_rate_per_day(), 1.5 / 395.0);
    assert_eq!(page.rate_per_day(LEARNING_DAYS, WINDOW_DAYS), 1.0 / 365.0);
}

#[test]
fn the_change_before_the_window_is_known_unless_recording_began_later() {
    let before = |rows: &[(f64, &str)]| {
        cut(&[rows]).pages.iter().find(|page| page.changes_days == [1.5]).unwrap().changed_before_days
    };
    assert_eq!(before(&[(-40.0, "A"), (-2.0, "M"), (1.5, "M")]), Some(-2.0));
    assert_eq!(before(&[(-40.0, "A"), (1.5, "M")]), Some(-40.0), "its appearance");
    assert_eq!(before(&[(-40.0, "I"), (1.5, "M")]), None, "it may have changed long before");
}

#[test]
fn only_pages_that_live_through_both_years_are_judged() {
    let judged = |rows: &[(f64, &str)]| cut(&[rows]).pages.len() == 2;
    assert!(judged(&[(-1.0, "A")]));
    assert!(judged(&[(0.0, "A")]), "there when the window opens");
    assert!(!judged(&[(0.1, "A")]), "appeared after the window opened");
    assert!(!judged(&[(-1.0, "A"), (-0.5, "D")]), "gone before");
    assert!(judged(&[(-1.0, "A"), (-0.5, "D"), (-0.2, "A")]), "gone and back before");
    assert!(!judged(&[(-1.0, "A"), (3.0, "D"), (4.0, "A")]), "gone for a day");
    assert!(!judged(&[(-1.0, "A"), (WINDOW_DAYS, "D")]), "gone at the last second");
    assert!(judged(&[(-1.0, "A"), (3.0, "D"), (3.0, "A")]), "gone for no time at all: the later row wins");
}

#[test]
fn the_draw_keeps_the_same_pages_whatever_else_is_read() {
    let rows: &[(f64, &str)] = &[(-1.0, "A"), (1.0, "M")];
    let many = vec![rows; 40];
    let recording = |pages: usize| {
        let mut page_table = "source,page_id,path,host,note\n".to_owned();
        let mut change_table = "page_id,unix_time,kind,blob_id\n".to_owned();
        for id in 0..pages {
            page_table += &format!("one,{id},/{id}.html,one.test,\"a, b\"\n");
            change_table += &format!("{id},0,I,{id}\n{id},{},M,{id}\n", (800 + id as i64 % 2) * DAY);
        }
        read(&page_table, &change_table).unwrap()
    };
    let draw = |count, draw| {
        JudgedTrace::cut(&recording(40), &Cut { max_pages_per_source: count, draw, ..all() }).unwrap().pages
    };
    assert_eq!(draw(10, 1), draw(40, 1)[..10]);
    assert_ne!(draw(10, 1), draw(10, 2));
    assert_eq!(cut(&many).pages.len(), 41);
}

#[test]
fn each_source_has_its_own_window_and_those_too_short_are_left_out() {
    let recording = read(
        "page_id,host,path,source\n0,a.test,/,long\n1,b.test,/,short\n2,c.test,/,later\n3,d.test,/,silent\n",
        &format!(
            "page_id,unix_time,kind\n0,0,I\n0,{},M\n1,0,A\n1,{},M\n2,{},A\n2,{},M\n",
            730 * DAY,
            300 * DAY,
            1000 * DAY,
            1731 * DAY
        ),
    )
    .unwrap();
    let trace = JudgedTrace::cut(&recording, &all()).unwrap();
    assert_eq!(trace.sources, ["long", "later"]);
    assert!(trace.pages.iter().all(|page| page.changes_days == [WINDOW_DAYS]));
    let left: Vec<_> = trace.left_out.iter().map(|it| (it.source.as_str(), it.reason.as_str())).collect();
    assert_eq!(left, [("short", "its rows span 300 days, but a window needs 730"), ("silent", "no rows")]);

    let only = Cut { sources: vec!["later".to_owned()], ..all() };
    assert_eq!(JudgedTrace::cut(&recording, &only).unwrap().sources, ["later"]);
    let none = Cut { sources: vec!["tomorrow".to_owned()], ..all() };
    let error = JudgedTrace::cut(&recording, &none).unwrap_err().to_string();
    assert_eq!(error, "unknown source \"tomorrow\"; give one of: long, short, later, silent");
    let short = Cut { sources: vec!["short".to_owned()], ..all() };
    let error = JudgedTrace::cut(&recording, &short).unwrap_err().to_string();
    assert_eq!(error, "no page can be judged: short: its rows span 300 days, but a window needs 730");
}

#[test]
fn pages_of_a_site_share_its_groups() {
    let place = place_of("Www.One.test", "/guide/start.html?print=1");
    assert_eq!(place, PagePlace::of("one.test", "www.one.test", "/guide/start.html"));
    assert_eq!(place_of("not a host", "/a?b"), PagePlace::of("not a host", "not a host", "/a"));
}

#[test]
fn a_fault_in_a_table_is_named_with_its_row_and_column() {
    let pages = "page_id,host,path,source\n0,a.test,/,one\n1,a.test,/b,one\n";
    let check = |pages: &str, changes: &str, expected: &str| {
        assert_eq!(read(pages, changes).unwrap_err().to_string(), expected);
    };
    let changes = |rows: &str| format!("page_id,unix_time,kind\n{rows}");
    check(
        pages,
        &changes("1,5,I\n0,6,M\n"),
        "changes.csv, row 2 (line 3), column page_id: page 0 comes after page 1; sort the rows by page_id, then unix_time",
    );
    check(
        pages,
        &changes("0,5,I\n0,9,M\n0,8,M\n"),
        "changes.csv, row 3 (line 4), column unix_time: 8 comes after 9 of the same page 0; sort the rows by page_id, then unix_time",
    );
    check(
        pages,
        &changes("0,5,X\n"),
        "changes.csv, row 1 (line 2), column kind: kind \"X\" is unknown; write I (existed), A (appeared), M (changed) or D (deleted)",
    );
    check(
        pages,
        &changes("7,5,I\n"),
        "changes.csv, row 1 (line 2), column page_id: page 7 is not in the table of pages",
    );
    check(
        pages,
        &changes("0,noon,I\n"),
        "changes.csv, row 1 (line 2), column unix_time: \"noon\" is not a whole number",
    );
    check(pages, &changes("-1,5,I\n"), "changes.csv, row 1 (line 2), column page_id: \"-1\" is not a whole number");
    check(pages, &changes(""), "changes.csv has no rows");
    check("page_id,host,path,source\n", &changes("0,5,I\n"), "pages.csv has no rows");
    check(
        "page_id,host,source\n0,a.test,one\n",
        "",
        "pages.csv, line 1: column path is missing; the header has page_id,host,source",
    );
    check(
        "page_id,host,path,source\n0,a.test,/,one\n0,a.test,/b,one\n",
        "",
        "pages.csv, row 2 (line 3), column page_id: page 0 has two rows; give each page one row",
    );
    check(
        "page_id,host,path,source\n0,a.test,/,\n",
        "",
        "pages.csv, row 1 (line 2), column source: is empty; write the page's source",
    );
    check(pages, "", "changes.csv, line 1: column page_id is missing; the header has nothing");
    assert!(
        read(pages, "page_id,unix_time,kind\n0,1\n")
            .unwrap_err()
            .to_string()
            .starts_with("changes.csv is not readable CSV")
    );
}

#[test]
fn extents_are_a_column_that_not_every_recording_has() {
    let pages = "page_id,host,path,source\n0,www.one.test,/0,one\n1,www.one.test,/1,one\n";
    let at = |day: i64| 1_000_000_000 + day * DAY;
    let end = WINDOW_DAYS as i64;
    let changes = |cells: [&str; 3]| {
        let rows = [
            format!("0,{},I,", at(0)),
            format!("0,{},M,{}", at(10), cells[0]),
            format!("0,{},M,{}", at(20), cells[1]),
            format!("1,{},I,", at(0)),
            format!("1,{},M,{}", at(end), cells[2]),
        ];
        format!("page_id,unix_time,kind,extent\n{}\n", rows.join("\n"))
    };
    let trace = JudgedTrace::cut(&read(pages, &changes(["0.25", "", "1"])).unwrap(), &all()).unwrap();
    let page = trace.pages.iter().find(|page| page.changes_days.len() == 2).unwrap();
    assert_eq!(page.extents, [0.25, 1.0], "of an unknown extent it counts as a change of everything");
    assert!(cut(&[&[(0.0, "I"), (1.0, "M")]]).pages.iter().all(|page| page.extents.is_empty()));
    for wrong in ["1.5", "-0.1", "much", "NaN"] {
        let fault = read(pages, &changes([wrong, "", ""])).unwrap_err().to_string();
        assert!(fault.contains("row 2 (line 3), column extent") && fault.contains("0 to 1"), "{fault}");
    }
}
