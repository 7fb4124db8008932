//! Documents as other programs write them: python-docx, openpyxl, python-pptx, odfpy and ebooklib. `a` is a document, `b` the
//! same made again on another day, and `c` has one row of its table less.

use change::{Diff, Version, VersionVerdict, diff};
use page::UrlRules;

const DOCUMENTS: [(&str, &[u8], Option<&[u8]>, &[u8]); 5] = [
    ("docx", include_bytes!("../office/a.docx"), None, include_bytes!("../office/c.docx")),
    ("pptx", include_bytes!("../office/a.pptx"), None, include_bytes!("../office/c.pptx")),
    (
        "xlsx",
        include_bytes!("../office/a.xlsx"),
        Some(include_bytes!("../office/b.xlsx")),
        include_bytes!("../office/c.xlsx"),
    ),
    (
        "odt",
        include_bytes!("../office/a.odt"),
        Some(include_bytes!("../office/b.odt")),
        include_bytes!("../office/c.odt"),
    ),
    (
        "epub",
        include_bytes!("../office/a.epub"),
        Some(include_bytes!("../office/b.epub")),
        include_bytes!("../office/c.epub"),
    ),
];

fn compared(old: &[u8], new: &[u8]) -> Diff {
    let urls = UrlRules::none();
    diff(&Version::new(old, None, None, &urls), &Version::new(new, None, None, &urls))
}

#[test]
fn an_edit_is_reported_by_its_words_and_a_new_date_of_the_file_is_not() {
    for (kind, before, again, after) in DOCUMENTS {
        let Diff { verdict, record, .. } = compared(before, after);
        assert!(matches!(verdict, VersionVerdict::Minor | VersionVerdict::Major), "{kind}: {verdict:?}");
        let said: Vec<_> = record.added.iter().chain(&record.removed).collect();
        assert!(!said.is_empty() && said.iter().all(|text| !text.contains("digest")), "{kind}: {said:?}");
        if let Some(again) = again {
            assert_ne!(before, again, "{kind}");
            assert_eq!(compared(before, again).verdict, VersionVerdict::Cosmetic, "{kind}");
        }
    }
}
