use super::*;
use crate::body::Body;
use crate::content_kind::ContentKind;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use proptest::prelude::*;
use rawzip::time::UtcDateTime;
use rawzip::{CompressionMethod, ZipArchiveWriter};
use std::io::Write;

const WORD: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
const RELATIONS: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

fn archive_of(year: u16, files: &[(&str, &str)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut archive = ZipArchiveWriter::new(&mut bytes);
    let time = UtcDateTime::from_components(year, 1, 1, 0, 0, 0, 0).unwrap();
    for (name, text) in files {
        let file = archive.new_file(name).last_modified(time).compression_method(CompressionMethod::DEFLATE);
        let (mut entry, config) = file.start().unwrap();
        let mut writer = config.wrap(DeflateEncoder::new(&mut entry, Compression::default()));
        writer.write_all(text.as_bytes()).unwrap();
        let (encoder, descriptor) = writer.finish().unwrap();
        encoder.finish().unwrap();
        entry.finish(descriptor).unwrap();
    }
    archive.finish().unwrap();
    bytes
}

fn archive(files: &[(&str, &str)]) -> Vec<u8> {
    archive_of(2024, files)
}

fn relations(list: &[(&str, &str, &str)]) -> String {
    let one = |(id, kind, target): &(&str, &str, &str)| {
        let mode = if target.contains("://") { " TargetMode='External'" } else { "" };
        format!("<Relationship Id='{id}' Type='{RELATIONS}/{kind}' Target='{target}'{mode}/>")
    };
    format!("<Relationships>{}</Relationships>", list.iter().map(one).collect::<String>())
}

fn lines(body: &[u8]) -> Vec<String> {
    let text = Body::new(body, Some(WORD), None).text().text;
    text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

fn blocks(body: &[u8]) -> Vec<String> {
    let blocks = Body::new(body, None, None).blocks();
    blocks.list.iter().map(|block| blocks.text(block).to_owned()).collect()
}

fn memo(year: u16, text: &str) -> Vec<u8> {
    let root =
        relations(&[("a", "officeDocument", "word/document2.xml"), ("b", "core-properties", "docProps/core.xml")]);
    let of_document = relations(&[
        ("s", "styles", "styles.xml"),
        ("h", "hyperlink", "https://a.test/?x=1&amp;y=2"),
        ("f", "footnotes", "/word/footnotes.xml"),
    ]);
    let styles =
        "<w:styles xmlns:w='w'><w:style w:styleId='berschrift1'><w:name w:val='heading 1'/></w:style></w:styles>";
    let core = format!(
        "<c:x xmlns:c='c' xmlns:dc='d'><dc:title>A &amp; B</dc:title><c:modified>{year}-01-01</c:modified></c:x>"
    );
    archive_of(
        year,
        &[
            ("[Content_Types].xml", "<Types/>"),
            ("_rels/.rels", &root),
            ("docProps/core.xml", &core),
            ("word/_rels/document2.xml.rels", &of_document),
            ("word/styles.xml", styles),
            ("word/footnotes.xml", "<w:footnotes xmlns:w='w'><w:p><w:r><w:t>A note.</w:t></w:r></w:p></w:footnotes>"),
            (
                "word/document2.xml",
                &format!("<w:document xmlns:w='w' xmlns:r='r'><w:body>{text}</w:body></w:document>"),
            ),
        ],
    )
}

const PARAGRAPHS: &str = "<w:p><w:pPr><w:pStyle w:val='berschrift1'/><w:tabs><w:tab w:val='left'/></w:tabs></w:pPr><w:r><w:t>Fees</w:t></w:r></w:p>
    <w:p><w:r><w:t xml:space='preserve'>From </w:t></w:r><w:ins><w:r><w:t>May &lt; June</w:t></w:r></w:ins>
    <w:del><w:r><w:delText>April</w:delText></w:r></w:del><w:r><w:tab/><w:t>on</w:t><w:br/><w:t>the list</w:t></w:r></w:p>
    <w:p><w:hyperlink r:id='h'><w:r><w:t>here</w:t></w:r></w:hyperlink><w:r><w:instrText>PAGE</w:instrText></w:r></w:p>
    <w:tbl><w:tr><w:tc><w:p><w:r><w:t>Adults</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>12 €</w:t></w:r></w:p></w:tc></w:tr></w:tbl>";

#[test]
fn a_word_document_is_read_as_its_readers_see_it() {
    let body = memo(2024, PARAGRAPHS);
    let page = crate::extract(Some(WORD), &body);
    assert_eq!(page.title, "A & B");
    assert_eq!(lines(&body), ["Fees", "From May < June on", "the list", "here", "Adults 12 €", "A note."]);
    assert_eq!(page.links.get(0).map(|link| link.href.to_owned()).as_deref(), Some("https://a.test/?x=1&y=2"));
    let html = office_html(&body).unwrap();
    assert!(html.contains("<h1>Fees</h1>") && html.contains("<td>Adults</td>"), "{html}");
}

#[test]
fn a_document_that_is_made_again_is_the_same_and_an_edit_is_not() {
    assert_ne!(memo(2024, PARAGRAPHS), memo(2025, PARAGRAPHS));
    assert_eq!(office_html(&memo(2024, PARAGRAPHS)), office_html(&memo(2025, PARAGRAPHS)));
    assert_ne!(blocks(&memo(2024, PARAGRAPHS)), blocks(&memo(2024, &PARAGRAPHS.replace("12", "13"))));
}

fn book_of_cells(rows: &str) -> Vec<u8> {
    archive(&[
        ("_rels/.rels", &relations(&[("a", "officeDocument", "/xl/workbook.xml")])),
        (
            "xl/_rels/workbook.xml.rels",
            &relations(&[
                ("s1", "worksheet", "worksheets/sheet1.xml"),
                ("s2", "worksheet", "worksheets/sheet2.xml"),
                ("t", "sharedStrings", "sharedStrings.xml"),
                ("y", "styles", "styles.xml"),
            ]),
        ),
        (
            "xl/workbook.xml",
            "<workbook xmlns:r='r'><sheets><sheet name='Prices' sheetId='7' r:id='s1'/><sheet name='Old' state='hidden' sheetId='8' r:id='s2'/></sheets></workbook>",
        ),
        (
            "xl/sharedStrings.xml",
            "<sst><si><t>Lamp</t></si><si><r><t>Bi</t></r><r><t>ke</t></r><rPh><t>x</t></rPh></si></sst>",
        ),
        (
            "xl/styles.xml",
            "<styleSheet><numFmts><numFmt numFmtId='164' formatCode='d/m/yy'/></numFmts><cellStyleXfs><xf numFmtId='14'/></cellStyleXfs><cellXfs><xf numFmtId='0'/><xf numFmtId='164'/></cellXfs></styleSheet>",
        ),
        ("xl/worksheets/sheet1.xml", &format!("<worksheet><sheetData>{rows}</sheetData></worksheet>")),
        (
            "xl/worksheets/sheet2.xml",
            "<worksheet><sheetData><row><c t='str'><v>secret</v></c></row></sheetData></worksheet>",
        ),
    ])
}

#[test]
fn a_spreadsheet_is_its_visible_sheets_with_values_in_their_columns() {
    let body = book_of_cells(
        "<row r='1'><c r='A1' t='s'><v>0</v></c><c r='C1'><f>A2*2</f><v>0.30000000000000004</v></c><c r='D1' s='1'><v>45292</v></c></row>
         <row r='2'><c r='A2' t='s'><v>1</v></c><c r='B2' t='inlineStr'><is><t>red &amp; blue</t></is></c><c r='C2' t='b'><v>1</v></c></row>",
    );
    let html = office_html(&body).unwrap();
    assert!(html.contains("<tr><td>Lamp</td><td></td><td>0.3</td><td>2024-01-01</td></tr>"), "{html}");
    assert!(html.contains("<tr><td>Bike</td><td>red &amp; blue</td><td>TRUE</td></tr>"), "{html}");
    assert!(html.contains("<h2>Prices</h2>") && !html.contains("secret"), "{html}");
    // The last column of a sheet does not make sixteen thousand cells.
    let far = office_html(&book_of_cells("<row><c r='XFD1'><v>7</v></c></row>")).unwrap();
    assert_eq!((far.matches("<td></td>").count(), far.matches("<td>7</td>").count()), (256, 1));
}

#[test]
fn slides_are_in_their_order_and_their_numbers_are_left_out() {
    let slide = |title: &str| {
        format!(
            "<p:sld xmlns:p='p' xmlns:a='a'><p:sp><p:nvPr><p:ph type='title'/></p:nvPr><a:p><a:r><a:t>{title}</a:t></a:r></a:p></p:sp><p:sp><a:p><a:fld type='slidenum'><a:t>4</a:t></a:fld></a:p></p:sp></p:sld>"
        )
    };
    let body = archive(&[
        ("_rels/.rels", &relations(&[("a", "officeDocument", "ppt/presentation.xml")])),
        (
            "ppt/_rels/presentation.xml.rels",
            &relations(&[("r1", "slide", "slides/slide1.xml"), ("r2", "slide", "slides/slide2.xml")]),
        ),
        (
            "ppt/presentation.xml",
            "<p:presentation xmlns:p='p' xmlns:r='r'><p:sldIdLst><p:sldId id='300' r:id='r2'/><p:sldId id='256' r:id='r1'/></p:sldIdLst></p:presentation>",
        ),
        ("ppt/slides/slide1.xml", &slide("Questions")),
        ("ppt/slides/slide2.xml", &slide("Aims")),
    ]);
    assert_eq!(lines(&body), ["Aims", "Questions"]);
}

#[test]
fn open_documents_are_read_with_headings_cells_and_spaces() {
    let content = "<o:x xmlns:o='o' xmlns:text='t' xmlns:table='b' xmlns:xlink='l'>
        <text:tracked-changes><text:p>gone</text:p></text:tracked-changes>
        <text:h text:outline-level='2'>Hours</text:h><text:p>Mon<text:s text:c='2'/>to <text:a xlink:href='https://a.test/'>Fri</text:a><office:annotation xmlns:office='f'><text:p>hm</text:p></office:annotation></text:p>
        <table:table table:name='T'><table:table-row><table:table-cell><text:p>A</text:p></table:table-cell><table:table-cell table:number-columns-repeated='2'/><table:table-cell><text:p>B</text:p></table:table-cell><table:table-cell table:number-columns-repeated='16000'/></table:table-row></table:table></o:x>";
    let body = archive(&[
        ("mimetype", "application/vnd.oasis.opendocument.text"),
        ("content.xml", content),
        ("meta.xml", "<m xmlns:dc='d'><dc:title>Plan</dc:title></m>"),
    ]);
    let html = office_html(&body).unwrap();
    assert!(html.contains("<h2>Hours</h2>\n<p>Mon  to <a href=\"https://a.test/\">Fri</a></p>"), "{html}");
    assert!(html.contains("<tr><td>A</td><td></td><td></td><td>B</td></tr>"), "{html}");
    assert!(html.contains("<title>Plan</title>") && !html.contains("gone") && !html.contains("hm"), "{html}");
}

#[test]
fn a_book_is_its_chapters_in_their_order() {
    let body = archive(&[
        ("mimetype", "application/epub+zip"),
        (
            "META-INF/container.xml",
            "<container><rootfiles><rootfile full-path='OPS/book.opf'/></rootfiles></container>",
        ),
        (
            "OPS/book.opf",
            "<package xmlns:dc='d'><metadata><dc:title>Tales</dc:title></metadata><manifest><item id='b' href='two%20b.xhtml'/><item id='a' href='../one.xhtml'/></manifest><spine><itemref idref='a'/><itemref idref='b'/></spine></package>",
        ),
        ("one.xhtml", "<html><head><title>x</title></head><body class='c'><p>Once.</p></body></html>"),
        ("OPS/two b.xhtml", "<html><body><p>Then.</p></body></html>"),
    ]);
    assert_eq!(lines(&body), ["Once.", "Then."]);
    assert_eq!(crate::extract(None, &body).title, "Tales");
}

#[test]
fn what_cannot_be_read_counts_by_its_digest() {
    let whole = memo(2024, PARAGRAPHS);
    let bomb = memo(2024, &format!("<w:p><w:r><w:t>{}</w:t></w:r></w:p>", "a".repeat(MAX_PART_BYTES as usize + 1)));
    assert!(bomb.len() < 100_000);
    let cases = [
        &whole[..whole.len() - 30],
        &bomb,
        b"PK\x03\x04",
        &archive(&[("word/document.xml", "<w:document/>")]),
        &memo(2024, "<w:p>"),
        &memo(2024, ""),
    ];
    for (number, body) in cases.into_iter().enumerate() {
        // A document without paragraphs still has its note.
        assert_eq!(office_html(body).is_none(), number != 5, "case {number}");
        let blocks = Body::new(body, Some(WORD), None).blocks();
        assert_eq!(blocks.is_opaque, number != 5, "case {number}");
    }
    assert_eq!(ContentKind::of(None, &whole), ContentKind::Html);
    assert_eq!(ContentKind::of(None, &archive(&[("photo.jpg", "x")])), ContentKind::Opaque);
}

/// A document with one paragraph and this relation.
fn linked(target: &str, paragraph: &str) -> Vec<u8> {
    let root = relations(&[("a", "officeDocument", "d.xml")]);
    let document = format!("<w:document xmlns:w='w'><w:p>{paragraph}</w:p></w:document>");
    archive(&[
        ("_rels/.rels", &root),
        ("_rels/d.xml.rels", &relations(&[("h", "hyperlink", target)])),
        ("d.xml", &document),
    ])
}

#[test]
fn a_document_may_not_grow_by_what_it_repeats() {
    let text = "<w:r><w:t>x</w:t></w:r>";
    let link = format!("<w:hyperlink r:id='h'>{text}</w:hyperlink>");
    assert!(office_html(&linked("https://a.test/", &link)).unwrap().contains("https://a.test/"));
    let far = format!("https://a.test/{}", "x".repeat(8_000));
    assert!(office_html(&linked(&far, &link)).is_some());
    assert_eq!(office_html(&linked(&far, &link.repeat(1_000))), None);
    let too_far = format!("https://a.test/{}", "x".repeat(9_000));
    assert!(!office_html(&linked(&too_far, &link)).unwrap().contains("a.test"));
    let title = format!("<c:x xmlns:c='c' xmlns:d='d'><d:title>{}</d:title></c:x>", "t".repeat(5 << 20));
    assert_eq!(office_html(&archive(&[("content.xml", "<o><p>x</p></o>"), ("meta.xml", &title)])), None);
}

#[test]
fn what_has_a_part_that_cannot_be_read_counts_by_its_digest() {
    let strings = format!("<sst><si><t>{}</t></si></sst>", "s".repeat(MAX_PART_BYTES as usize));
    let root = relations(&[("a", "officeDocument", "w.xml")]);
    let of_book = relations(&[("s", "worksheet", "s.xml"), ("t", "sharedStrings", "t.xml")]);
    let book = "<workbook xmlns:r='r'><sheets><sheet name='A' r:id='s'/></sheets></workbook>";
    let files = [("_rels/.rels", root.as_str()), ("_rels/w.xml.rels", &of_book), ("w.xml", book)];
    let sheet = ("s.xml", "<worksheet><row><c><v>1</v></c></row></worksheet>");
    assert!(office_html(&archive(&[&files[..], &[sheet]].concat())).is_some());
    assert_eq!(office_html(&archive(&[&files[..], &[sheet, ("t.xml", &strings)]].concat())), None);
    // Charts and pictures alone.
    assert_eq!(office_html(&archive(&[&files[..], &[("s.xml", "<worksheet/>")]].concat())), None);
    assert_eq!(office_html(&linked("https://a.test/", "<w:r><w:drawing/></w:r>")), None);
}

#[test]
fn tables_within_cells_and_hidden_sheets_of_open_documents() {
    let of = |content: &str| office_html(&archive(&[("content.xml", content)])).unwrap();
    let nested = "<o><table name='Table1'><table-row><table-cell><p>outer</p><table><table-row><table-cell><p>inner</p></table-cell></table-row></table><p>last</p></table-cell></table-row></table></o>";
    assert!(of(nested).contains("<table>\n<tr><td>outer<br>inner<br>last</td></tr>\n</table>"), "{}", of(nested));
    let sheets = "<o><style name='ta2'><table-properties display='false'/></style><spreadsheet><table name='Seen'><table-row><table-cell><p>1</p></table-cell></table-row></table><table name='Old' style-name='ta2'><table-row><table-cell><p>2</p></table-cell></table-row></table></spreadsheet></o>";
    assert!(of(sheets).contains("<h2>Seen</h2>") && !of(sheets).contains("Old") && !of(sheets).contains("<td>2"));
}

#[test]
fn chapters_are_read_as_xhtml() {
    let body = archive(&[
        ("mimetype", "application/epub+zip"),
        ("META-INF/container.xml", "<container><rootfile full-path='b.opf'/></container>"),
        (
            "b.opf",
            "<package><manifest><item id='a' href='a.xhtml'/><item id='s' href='s.svg'/></manifest><spine><itemref idref='a'/><itemref idref='s'/></spine></package>",
        ),
        ("a.xhtml", "<html><body><p>One.</p><script src='x.js'/><p>Two.<br/></p><![CDATA[<b>]]></body></html>"),
        ("s.svg", "<svg><text>Three.</text></svg>"),
    ]);
    let html = office_html(&body).unwrap();
    assert!(html.contains("<script src='x.js'></script><p>Two.<br></p>&lt;b&gt;"), "{html}");
    assert_eq!(lines(&body), ["One.", "Two.", "<b>", "Three."]);
}

#[test]
fn documents_are_known_where_servers_call_them_something_else() {
    let body = memo(2024, PARAGRAPHS);
    for name in ["application/octet-stream", "application/zip", "application/msword"] {
        assert!(crate::extract(Some(name), &body).text.contains("Fees"), "{name}");
    }
    assert_eq!(ContentKind::of(Some("image/png"), &body), ContentKind::Opaque);
    // Programs write the files in any order, and other archives have such names, too.
    let of =
        |names: &[&str]| ContentKind::of(None, &archive(&names.iter().map(|name| (*name, "")).collect::<Vec<_>>()));
    for names in [["customXml/item1.xml", "[Content_Types].xml"], ["META-INF/", "META-INF/container.xml"]] {
        assert_eq!(of(&names), ContentKind::Html, "{names:?}");
    }
    assert_eq!(of(&["content.xml", "META-INF/manifest.xml", "mimetype"]), ContentKind::Html);
    assert_eq!(of(&["META-INF/MANIFEST.MF", "word/list.txt"]), ContentKind::Opaque);
}

#[test]
fn entities_that_a_part_declares_are_not_replaced() {
    let laughs = "<!DOCTYPE x [<!ENTITY a 'ha'><!ENTITY b '&a;&a;&a;'>]>";
    let root = relations(&[("a", "officeDocument", "d.xml")]);
    let document = format!("{laughs}<w:document xmlns:w='w'><w:p><w:r><w:t>A&b;B&#x21;</w:t></w:r></w:p></w:document>");
    assert_eq!(lines(&archive(&[("_rels/.rels", &root), ("d.xml", &document)])), ["AB!"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn no_damage_makes_it_fail(places in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..30), cut in any::<prop::sample::Index>()) {
        let rows = "<row><c r='B1' t='s'><v>0</v></c></row>";
        for mut body in [memo(2024, PARAGRAPHS), book_of_cells(rows)] {
            for (place, byte) in &places {
                let at = place.index(body.len());
                body[at] = *byte;
            }
            let _ = office_html(&body);
            let _ = office_html(&body[..cut.index(body.len())]);
        }
    }

    #[test]
    fn no_xml_makes_it_fail(text in "(<|>|/|w:p|w:r|w:t|w:tc|w:tbl|w:del| a='|&lt;|&x;|'|\\PC){0,60}") {
        let _ = office_html(&memo(2024, &text));
    }
}
