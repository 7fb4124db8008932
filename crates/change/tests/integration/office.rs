//! Documents as other programs write them: python-docx, openpyxl, python-pptx, odfpy and ebooklib. `a` is a document, `b` the
//! same made again on another day, and `c` has one row of its table less.

use change::{Diff, Version, VersionVerdict, diff};
use page::UrlRules;

/// A document of each kind, and what its program made of the edit.
const EDITED: [(&str, &[u8], &[u8]); 5] = [
    ("docx", include_bytes!("../office/a.docx"), include_bytes!("../office/c.docx")),
    ("pptx", include_bytes!("../office/a.pptx"), include_bytes!("../office/c.pptx")),
    ("xlsx", include_bytes!("../office/a.xlsx"), include_bytes!("../office/c.xlsx")),
    ("odt", include_bytes!("../office/a.odt"), include_bytes!("../office/c.odt")),
    ("epub", include_bytes!("../office/a.epub"), include_bytes!("../office/c.epub")),
];
const MADE_AGAIN: [(&str, &[u8], &[u8]); 3] = [
    ("xlsx", include_bytes!("../office/a.xlsx"), include_bytes!("../office/b.xlsx")),
    ("odt", include_bytes!("../office/a.odt"), include_bytes!("../office/b.odt")),
    ("epub", include_bytes!("../office/a.epub"), include_bytes!("../office/b.epub")),
];

fn compared(old: &[u8], new: &[u8]) -> Diff {
    let urls = UrlRules::none();
    diff(&Version::new(old, None, None, &urls), &Version::new(new, None, None, &urls))
}

#[test]
fn an_edit_is_reported_by_its_words_and_a_new_date_of_the_file_is_not() {
    for (kind, before, after) in EDITED {
        let Diff { verdict, record, .. } = compared(before, after);
        assert!(matches!(verdict, VersionVerdict::Minor | VersionVerdict::Major), "{kind}: {verdict:?}");
        let said: Vec<_> = record.added.iter().chain(&record.removed).collect();
        assert!(!said.is_empty() && said.iter().all(|text| !text.contains("digest")), "{kind}: {said:?}");
    }
    for (kind, before, again) in MADE_AGAIN {
        let verdict = compared(before, again).verdict;
        assert!(matches!(verdict, VersionVerdict::Unchanged | VersionVerdict::Cosmetic), "{kind}: {verdict:?}");
        assert_ne!(before, again, "{kind}");
    }
}
