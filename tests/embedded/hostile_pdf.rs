//! Documents that are made to harm their reader. Each is read within the limits of its process, or compared by its digest, and the
//! next document is read.

use crate::pdf_writer::{File, MANNERS, Making, Part, document, packed};
use chance::{Draws, SplitMix64};
use confined::ConfinedReader;
use document::{NotRead, ReadConfined};
use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Instant;

/// A reader whose documents are late by the time of their own process only, on a clock that stands still.
fn reader() -> ConfinedReader {
    static START: OnceLock<Instant> = OnceLock::new();
    let program = PathBuf::from(env!("CARGO_BIN_EXE_recrawl"));
    ConfinedReader::with_clock(program, vec!["read-document".into()], || *START.get_or_init(Instant::now))
}

fn good() -> Vec<u8> {
    let making = Making { manner: MANNERS[0], day: 1, is_packed: true, has_furniture: true };
    document("Rules", &[Part::Heading("Rules".into()), Part::Paragraph("Dogs are kept on a lead.".into())], making)
}

/// A document of one page with these resources, whose content is a stream with these entries and bytes.
fn one_page(mut file: File, resources: &str, entries: &str, content: &[u8]) -> Vec<u8> {
    let content = file.stream(entries, content);
    let tree = file.add(Vec::new());
    let page = file.add(format!(
        "<< /Type /Page /Parent {tree} 0 R /MediaBox [0 0 595 842] /Contents {content} 0 R /Resources << {resources} >> >>"
    ));
    file.set(tree, format!("<< /Type /Pages /Count 1 /Kids [{page} 0 R] >>"));
    let root = file.add(format!("<< /Type /Catalog /Pages {tree} 0 R >>"));
    file.finish(root, "")
}

const FONT: &str = "/Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Courier >> >>";

/// A page whose content lies in this many layers of compression, the first of which is made already.
fn layered(mut content: Vec<u8>, layers: usize) -> Vec<u8> {
    (1..layers).for_each(|_| content = packed(&content));
    let filters = "/FlateDecode ".repeat(layers);
    one_page(File::default(), FONT, &format!("/Filter [{filters}]"), &content)
}

/// This many bytes of spaces.
fn bomb(bytes: usize) -> Vec<u8> {
    let (mut encoder, piece) = (ZlibEncoder::new(Vec::new(), Compression::fast()), vec![b' '; 1 << 20]);
    for _ in 0..bytes >> 20 {
        encoder.write_all(&piece).unwrap();
    }
    encoder.finish().unwrap()
}

/// Forms that each draw the next one ten times.
fn forms_within_forms(levels: usize) -> Vec<u8> {
    let mut file = File::default();
    let mut inner = file.stream(
        &format!("/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << {FONT} >>"),
        b"BT /F 9 Tf (x) Tj ET",
    );
    for _ in 0..levels {
        let entries =
            format!("/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X {inner} 0 R >> >>");
        inner = file.stream(&entries, "/X Do ".repeat(10).as_bytes());
    }
    one_page(file, &format!("/XObject << /X {inner} 0 R >>"), "", b"/X Do")
}

fn form_within_itself() -> Vec<u8> {
    let mut file = File::default();
    file.stream(
        "/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 1 0 R >> >>",
        b"/X Do /X Do",
    );
    one_page(file, "/XObject << /X 1 0 R >>", "", b"/X Do")
}

/// A tree of pages, each of whose branches names the next one ten times.
fn branching_tree(levels: usize) -> Vec<u8> {
    let mut file = File::default();
    let mut inner = file.add("<< /Type /Page /MediaBox [0 0 9 9] >>");
    for _ in 0..levels {
        inner = file.add(format!("<< /Type /Pages /Count 10 /Kids [{}] >>", format!("{inner} 0 R ").repeat(10)));
    }
    let root = file.add(format!("<< /Type /Catalog /Pages {inner} 0 R >>"));
    file.finish(root, "")
}

fn tree_within_itself() -> Vec<u8> {
    let mut file = File::default();
    file.add("<< /Type /Pages /Count 9 /Kids [1 0 R 1 0 R] /Parent 1 0 R >>");
    let root = file.add("<< /Type /Catalog /Pages 1 0 R >>");
    file.finish(root, "")
}

fn one_page_many_times(count: usize) -> Vec<u8> {
    let mut file = File::default();
    let content = file.stream("", b"BT /F 9 Tf (word) Tj ET");
    let page =
        file.add(format!("<< /Type /Page /MediaBox [0 0 9 9] /Contents {content} 0 R /Resources << {FONT} >> >>"));
    let tree = file.add(format!("<< /Type /Pages /Count {count} /Kids [{}] >>", format!("{page} 0 R ").repeat(count)));
    let root = file.add(format!("<< /Type /Catalog /Pages {tree} 0 R >>"));
    file.finish(root, "")
}

fn many_objects(count: usize) -> Vec<u8> {
    let mut file = File::default();
    for number in 0..count {
        file.add(format!("[{number}]"));
    }
    one_page(file, FONT, "", b"BT /F 9 Tf (word) Tj ET")
}

/// An object stream in which many numbers name one long array.
fn one_array_many_times(objects: usize, length: usize) -> Vec<u8> {
    let mut file = File::default();
    let array = format!("[{}]", "0 ".repeat(length));
    let head = (0..objects).fold(String::new(), |mut head, number| {
        let _ = write!(head, "{} 0 ", 100 + number);
        head
    });
    let content = packed(format!("{head}{array}").as_bytes());
    file.stream(&format!("/Type /ObjStm /N {objects} /First {} /Filter /FlateDecode", head.len()), &content);
    one_page(file, FONT, "", b"BT /F 9 Tf (word) Tj ET")
}

/// A font whose map to Unicode has these lines.
fn mapped_font(lines: &str, widths: &str) -> Vec<u8> {
    let mut file = File::default();
    let map = file.stream(
        "",
        format!("begincmap 1 begincodespacerange <0000> <ffff> endcodespacerange\n{lines}\nendcmap").as_bytes(),
    );
    let glyphs = format!(
        "<< /Type /Font /Subtype /CIDFontType2 /BaseFont /A /W [{widths}] /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> >>"
    );
    let font = file.add(format!(
        "<< /Type /Font /Subtype /Type0 /BaseFont /A /Encoding /Identity-H /DescendantFonts [{glyphs}] /ToUnicode {map} 0 R >>"
    ));
    one_page(file, &format!("/Font << /F {font} 0 R >>"), "", b"BT /F 9 Tf <00410042> Tj ET")
}

/// A drawn glyph that shows itself.
fn glyph_within_itself() -> Vec<u8> {
    let mut file = File::default();
    file.stream("", b"9 0 d0 BT /F 9 Tf (aaaa) Tj ET");
    file.add(
        "<< /Type /Font /Subtype /Type3 /FontBBox [0 0 9 9] /FontMatrix [1 0 0 1 0 0] /CharProcs << /a 1 0 R >> \
         /Encoding << /Differences [97 /a] >> /FirstChar 97 /LastChar 97 /Widths [9] /Resources << /Font << /F 2 0 R >> >> >>",
    );
    one_page(file, "/Font << /F 2 0 R >>", "", "BT /F 9 Tf (aaaa) Tj ET ".repeat(50).as_bytes())
}

fn table_within_itself() -> Vec<u8> {
    let making = Making { manner: MANNERS[0], day: 1, is_packed: false, has_furniture: false };
    let file = document("Rules", &[Part::Paragraph("Dogs are kept on a lead.".into())], making);
    let file = String::from_utf8_lossy(&file).into_owned();
    let start = file.rfind("startxref\n").map(|at| file[at + 10..].split('\n').next().unwrap_or_default().to_owned());
    file.replace("/Root", &format!("/Prev {} /Root", start.unwrap_or_default())).into_bytes()
}

#[test]
fn hostile_documents_do_no_harm() {
    let deep = |open: &str| one_page(File::default(), FONT, "", open.repeat(200_000).as_bytes());
    let in_dictionary = |open: &str| one_page(File::default(), &format!("/Deep {}", open.repeat(200_000)), "", b"");
    let bomb = bomb(280 << 20);
    let text = "BT /F 9 Tf 9 Tj 1 0 0 1 5 5 Tm (words of a page) Tj ET\n";
    let documents: [(&str, Vec<u8>); 24] = [
        ("a page of 280 MB in two layers", layered(bomb.clone(), 2)),
        ("a page of 280 MB", layered(bomb, 1)),
        ("a page of 60 MB of text", layered(packed(text.repeat((60 << 20) / text.len()).as_bytes()), 1)),
        ("100 layers", layered(packed(text.as_bytes()), 100)),
        ("forms within forms", forms_within_forms(40)),
        ("a form within itself", form_within_itself()),
        ("a branching tree", branching_tree(30)),
        ("a tree within itself", tree_within_itself()),
        ("a page named 300,000 times", one_page_many_times(300_000)),
        ("a million objects", many_objects(1_000_000)),
        ("an array named 4,000 times", one_array_many_times(4_000, 500_000)),
        ("a map of all codes", mapped_font("1 beginbfrange <0000> <ffffffff> <0041> endbfrange", "")),
        ("a map of many ranges", mapped_font(&"100 beginbfrange <0000> <ffff> <0041> endbfrange\n".repeat(50_000), "")),
        (
            "a map to long texts",
            mapped_font(&format!("1 beginbfrange <0000> <ffff> <{}> endbfrange", "0041".repeat(60_000)), ""),
        ),
        ("widths of all codes", mapped_font("", "0 4294967295 600 ".repeat(20).as_str())),
        ("a glyph within itself", glyph_within_itself()),
        ("a table within itself", table_within_itself()),
        ("deep arrays", deep("[")),
        ("deep dictionaries", deep("<<")),
        ("deep states", deep("q ")),
        ("deep texts", deep("(")),
        ("deep resources", in_dictionary("[")),
        ("deep dictionaries of resources", in_dictionary("<< /A ")),
        ("a short start", b"%PDF-1.7".to_vec()),
    ];
    let (reader, good) = (reader(), good());
    for (name, document) in documents {
        let read = reader.html(&document);
        println!("{name}, {} bytes: {:?}", document.len(), read.as_ref().map(String::len));
        assert_ne!(read, Err(NotRead::NoReader), "{name}");
        assert!(reader.html(&good).is_ok_and(|html| html.contains("<p>Dogs are kept on a lead.</p>")), "after {name}");
    }
}

#[test]
fn damaged_documents_do_no_harm() {
    let (reader, mut chance) = (reader(), SplitMix64(7));
    let making = |manner| Making { manner, day: 1, is_packed: false, has_furniture: true };
    let whole = MANNERS
        .map(|manner| document("Rules", &[Part::Paragraph("Dogs are kept on a lead. ".repeat(30))], making(manner)));
    for number in 0..120 {
        let mut damaged = whole[number % 4].clone();
        for _ in 0..1 + number % 30 {
            let at = (chance.bits() % damaged.len() as u64) as usize;
            damaged[at] = chance.bits() as u8;
        }
        if number % 5 == 0 {
            damaged.truncate((chance.bits() % damaged.len() as u64) as usize);
        }
        assert_ne!(reader.html(&damaged), Err(NotRead::NoReader), "{number}");
    }
    assert!(reader.html(&whole[0]).is_ok());
}
