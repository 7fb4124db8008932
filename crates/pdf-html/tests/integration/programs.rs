//! Documents as other programs write them: reportlab, fpdf2 and WeasyPrint. `a` is a document, `b` the same made again on another
//! day, and `c` has one row of its table less.

use crate::edits::compared;
use change::VersionVerdict;

/// A program, and its three documents.
const MADE: [(&str, [&[u8]; 3]); 3] = [
    (
        "reportlab",
        [
            include_bytes!("../pdf/reportlab-a.pdf"),
            include_bytes!("../pdf/reportlab-b.pdf"),
            include_bytes!("../pdf/reportlab-c.pdf"),
        ],
    ),
    (
        "fpdf2",
        [
            include_bytes!("../pdf/fpdf2-a.pdf"),
            include_bytes!("../pdf/fpdf2-b.pdf"),
            include_bytes!("../pdf/fpdf2-c.pdf"),
        ],
    ),
    (
        "WeasyPrint",
        [
            include_bytes!("../pdf/weasyprint-a.pdf"),
            include_bytes!("../pdf/weasyprint-b.pdf"),
            include_bytes!("../pdf/weasyprint-c.pdf"),
        ],
    ),
];

#[test]
fn an_edit_is_reported_by_its_words_and_a_new_date_of_the_file_is_not() {
    for (program, [before, again, after]) in MADE {
        let same = compared(before, again).verdict;
        assert!(matches!(same, VersionVerdict::Unchanged | VersionVerdict::Cosmetic), "{program}: {same:?}");
        let edited = compared(before, after);
        assert!(matches!(edited.verdict, VersionVerdict::Minor | VersionVerdict::Major), "{program}: {edited:?}");
        assert!(edited.record.removed.iter().any(|text| text.contains("Boats up to 10 m")), "{program}: {edited:?}");
        assert_eq!(edited.record.added, Vec::<String>::new(), "{program}");
    }
}
