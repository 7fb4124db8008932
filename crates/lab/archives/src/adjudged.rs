//! Edits that no label covers. A label says whether the archive's selection of a page differs; a reader sees the whole
//! page. Each reported change that the labels call noise was read by eye (2026-11-24, one reader).

/// Edits of the labelled collections that a reader of the page sees: the host, and the second of a fetch that found
/// it. The other names under which the page is archived were fetched within the hour.
const EDITS: &[(&str, i64)] = &[
    // A legal page of one service, of which each archived document is a section. Names added to or removed from its list
    // of thanks, with their links.
    ("buffer.ota-demo.test", 1_748_521_805),
    ("buffer.ota-demo.test", 1_754_958_606),
    ("buffer.ota-demo.test", 1_755_649_807),
    ("buffer.ota-demo.test", 1_766_017_803),
    ("buffer.ota-demo.test", 1_773_837_008),
    ("buffer.ota-demo.test", 1_779_280_208),
    ("buffer.ota-demo.test", 1_782_736_210),
    ("buffer.ota-demo.test", 1_782_822_610),
    ("buffer.ota-demo.test", 1_783_686_607),
    // The same page: sentences, sections, dates, and rows of the table of processors.
    ("buffer.ota-demo.test", 1_750_725_006),
    ("buffer.ota-demo.test", 1_752_021_006),
    ("buffer.ota-demo.test", 1_752_798_606),
    ("buffer.ota-demo.test", 1_757_550_605),
    ("buffer.ota-demo.test", 1_759_883_406),
    ("buffer.ota-demo.test", 1_763_598_607),
    ("buffer.ota-demo.test", 1_768_609_808),
    ("buffer.ota-demo.test", 1_770_165_008),
    ("buffer.ota-demo.test", 1_773_707_407),
    ("buffer.ota-demo.test", 1_784_853_008),
    ("buffer.ota-demo.test", 1_786_581_009),
    ("buffer.ota-demo.test", 1_787_185_809),
    ("buffer.ota-demo.test", 1_787_358_610),
    // Dates and sentences.
    ("open-collective.ota-demo.test", 1_786_105_817),
    ("open-terms-archive.ota-demo.test", 1_710_786_608),
    // The list of processors.
    ("uptimerobot.ota-demo.test", 1_787_142_622),
    // A button above the text, "View page as Markdown", and later another in its place (read on 2026-11-25).
    ("github.ota-demo.test", 1_768_005_012),
    ("github.ota-demo.test", 1_773_275_419),
    // The description in the head, and the languages that a page is offered in (read on 2026-11-25).
    ("grok.ota-genai.test", 1_779_100_424),
    ("chatgpt.ota-genai.test", 1_779_100_241),
    // Sentences and contacts.
    ("grok.ota-genai.test", 1_779_489_186),
    ("grok.ota-genai.test", 1_782_729_196),
    ("grok.ota-genai.test", 1_783_031_616),
    // The date from which it holds.
    ("grok.ota-genai.test", 1_782_772_422),
    // The titles of three pages: the company has another name.
    ("grok.ota-genai.test", 1_783_377_196),
    // The name and the target of a download.
    ("grok.ota-genai.test", 1_783_506_824),
];

/// Two fetches within this time found the same edit.
const SAME_EDIT_S: i64 = 3_600;

/// Whether a change of a page of this host at this time is an edit by this table.
pub(crate) fn is_edit(host: &str, unix_time: i64) -> bool {
    EDITS.iter().any(|(of, found)| *of == host && (unix_time - found).abs() <= SAME_EDIT_S)
}
