//! Writes PDF documents in the manners of several programs.

use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::fmt::Write as _;
use std::io::Write as _;

/// A part of a document.
#[derive(Clone, Debug)]
pub(crate) enum Part {
    Heading(String),
    Paragraph(String),
    Row(Vec<String>),
    Link(String, String),
}

/// How a program writes text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Manner {
    /// A string for each line.
    Lines,
    /// A string for each word, without spaces.
    Words,
    /// An array for each line, with gaps in place of spaces.
    Gaps,
    /// Codes of glyphs, with a map to Unicode.
    Codes,
}

pub(crate) const MANNERS: [Manner; 4] = [Manner::Lines, Manner::Words, Manner::Gaps, Manner::Codes];

/// The additions of a program of its own, and the differences of a document that is made again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Making {
    pub(crate) manner: Manner,
    /// The day of the dates and the identifier.
    pub(crate) day: u32,
    pub(crate) is_packed: bool,
    /// Whether pages have heads and numbers.
    pub(crate) has_furniture: bool,
}

const PAGE_HEIGHT: f64 = 842.0;
const MARGIN: f64 = 72.0;
const SIZE: f64 = 10.0;
/// Courier has glyphs of one width.
const ADVANCE: f64 = 6.0;
/// Characters of a line.
const COLUMNS: usize = 75;
const TOP: f64 = PAGE_HEIGHT - 2.0 * MARGIN;

/// Objects of a file, by number from 1.
#[derive(Default)]
pub(crate) struct File(Vec<Vec<u8>>);

impl File {
    /// Adds an object and gives its number.
    pub(crate) fn add(&mut self, object: impl Into<Vec<u8>>) -> usize {
        self.0.push(object.into());
        self.0.len()
    }

    /// Replaces an object.
    pub(crate) fn set(&mut self, number: usize, object: impl Into<Vec<u8>>) {
        self.0[number - 1] = object.into();
    }

    /// Adds a stream with these entries in its dictionary.
    pub(crate) fn stream(&mut self, entries: &str, content: &[u8]) -> usize {
        let mut object = format!("<< {entries} /Length {} >>\nstream\n", content.len()).into_bytes();
        object.extend_from_slice(content);
        object.extend_from_slice(b"\nendstream");
        self.add(object)
    }

    /// The file, with its root and further entries of its trailer.
    pub(crate) fn finish(self, root: usize, trailer: &str) -> Vec<u8> {
        let mut file = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n".to_vec();
        let mut places = Vec::new();
        for (index, object) in self.0.iter().enumerate() {
            places.push(file.len());
            file.extend_from_slice(format!("{} 0 obj\n", index + 1).as_bytes());
            file.extend_from_slice(object);
            file.extend_from_slice(b"\nendobj\n");
        }
        let start = file.len();
        let _ = writeln!(file, "xref\n0 {}\n0000000000 65535 f ", self.0.len() + 1);
        places.iter().for_each(|place| drop(writeln!(file, "{place:010} 00000 n ")));
        let size = self.0.len() + 1;
        let _ = writeln!(file, "trailer\n<< /Size {size} /Root {root} 0 R {trailer} >>\nstartxref\n{start}\n%%EOF");
        file
    }
}

/// A line on its page: place, size and text.
struct Placed(f64, f64, f64, String);

/// Writes a document.
pub(crate) fn document(title: &str, parts: &[Part], making: Making) -> Vec<u8> {
    let mut file = File::default();
    let (pages, links) = laid_out(parts);
    let (font, tree) = (font(&mut file, making.manner), file.add(Vec::new()));
    let count = pages.len();
    let mut kids = String::new();
    for (index, mut lines) in pages.into_iter().enumerate() {
        if making.has_furniture {
            lines.insert(0, Placed(MARGIN, PAGE_HEIGHT - 40.0, SIZE, "Harbour office, list of the year".to_owned()));
            lines.push(Placed(280.0, 40.0, SIZE, format!("Page {} of {count}", index + 1)));
        }
        let content = content(&lines, making.manner);
        let content = match making.is_packed {
            true => file.stream("/Filter /FlateDecode", &packed(content.as_bytes())),
            false => file.stream("", content.as_bytes()),
        };
        let mut annotations = String::new();
        for (_, (x, y, width), address) in links.iter().filter(|(page, ..)| *page == index) {
            let rect = format!("[{x} {} {} {}]", y - 2.0, x + width, y + SIZE);
            let link = format!("<< /Type /Annot /Subtype /Link /Rect {rect} /A << /S /URI /URI ({address}) >> >>");
            let _ = write!(annotations, "{} 0 R ", file.add(link));
        }
        let page = file.add(format!(
            "<< /Type /Page /Parent {tree} 0 R /MediaBox [0 0 595 {PAGE_HEIGHT}] /Contents {content} 0 R \
             /Resources << /Font << /F {font} 0 R >> >> /Annots [{annotations}] >>"
        ));
        let _ = write!(kids, "{page} 0 R ");
    }
    file.set(tree, format!("<< /Type /Pages /Count {count} /Kids [{kids}] >>"));
    let root = file.add(format!("<< /Type /Catalog /Pages {tree} 0 R /Lang (en-GB) >>"));
    let day = making.day;
    let info =
        format!("<< /Title ({title}) /Producer (Writer {day}) /CreationDate (D:202601{:02}120000Z) >>", day % 28 + 1);
    let info = file.add(info);
    file.finish(root, &format!("/Info {info} 0 R /ID [<{day:032x}> <{day:032x}>]"))
}

pub(crate) fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

type PlacedLink<'a> = (usize, (f64, f64, f64), &'a str);

/// The lines of each page, and the places of links.
fn laid_out(parts: &[Part]) -> (Vec<Vec<Placed>>, Vec<PlacedLink<'_>>) {
    let (mut pages, mut links, mut y) = (vec![Vec::new()], Vec::new(), TOP);
    let mut line = |x: f64, size: f64, text: &str, distance: f64, pages: &mut Vec<Vec<Placed>>| {
        y -= distance;
        if y < 1.5 * MARGIN {
            y = TOP;
            pages.push(Vec::new());
        }
        pages.last_mut().unwrap().push(Placed(x, y, size, text.to_owned()));
        y
    };
    for part in parts {
        match part {
            Part::Heading(text) => drop(line(MARGIN, 16.0, text, 30.0, &mut pages)),
            Part::Paragraph(text) => {
                for (index, wrapped) in wrapped(text).iter().enumerate() {
                    line(MARGIN, SIZE, wrapped, if index == 0 { 22.0 } else { 12.0 }, &mut pages);
                }
            }
            Part::Row(cells) => {
                let y = line(MARGIN, SIZE, &cells[0], 16.0, &mut pages);
                for (index, cell) in cells.iter().enumerate().skip(1) {
                    let x = MARGIN + index as f64 * 160.0;
                    pages.last_mut().unwrap().push(Placed(x, y, SIZE, cell.clone()));
                }
            }
            Part::Link(text, address) => {
                let y = line(MARGIN, SIZE, text, 22.0, &mut pages);
                links.push((pages.len() - 1, (MARGIN, y, text.len() as f64 * ADVANCE), address.as_str()));
            }
        }
    }
    (pages, links)
}

fn wrapped(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.last_mut().unwrap();
        if !last.is_empty() && last.len() + 1 + word.len() > COLUMNS {
            lines.push(word.to_owned());
        } else {
            *last = format!("{last}{}{word}", if last.is_empty() { "" } else { " " });
        }
    }
    lines
}

fn content(lines: &[Placed], manner: Manner) -> String {
    let mut content = String::new();
    for Placed(x, y, size, text) in lines {
        let _ = write!(content, "BT /F {size} Tf 1 0 0 1 {x} {y} Tm ");
        let _ = match manner {
            Manner::Lines => write!(content, "({text}) Tj"),
            Manner::Words => {
                let advance = ADVANCE / SIZE * size;
                text.split(' ')
                    .try_for_each(|word| write!(content, "({word}) Tj {} 0 Td ", (word.len() + 1) as f64 * advance))
            }
            Manner::Gaps => write!(content, "[({})] TJ", text.replace(' ', ") -600 (")),
            Manner::Codes => {
                let codes: String = text.bytes().map(|byte| format!("{:04x}", u16::from(byte) - 29)).collect();
                write!(content, "<{codes}> Tj")
            }
        };
        content.push_str(" ET\n");
    }
    content
}

fn font(file: &mut File, manner: Manner) -> usize {
    if manner != Manner::Codes {
        return file.add("<< /Type /Font /Subtype /Type1 /BaseFont /Courier /Encoding /WinAnsiEncoding >>");
    }
    let mut map = String::from("/CIDInit /ProcSet findresource begin begincmap\n");
    map.push_str("1 begincodespacerange <0000> <ffff> endcodespacerange\n");
    map.push_str("1 beginbfrange <0003> <0061> <0020> endbfrange\nendcmap end\n");
    let map = file.stream("", map.as_bytes());
    let descriptor = file.add(
        "<< /Type /FontDescriptor /FontName /ABCDEF+Mono /Flags 5 /FontBBox [0 0 600 800] /ItalicAngle 0 /Ascent 800 \
         /Descent 0 /CapHeight 700 /StemV 80 >>",
    );
    let glyphs = file.add(format!(
        "<< /Type /Font /Subtype /CIDFontType2 /BaseFont /ABCDEF+Mono /DW 600 /FontDescriptor {descriptor} 0 R \
         /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /CIDToGIDMap /Identity >>"
    ));
    file.add(format!(
        "<< /Type /Font /Subtype /Type0 /BaseFont /ABCDEF+Mono /Encoding /Identity-H /DescendantFonts [{glyphs} 0 R] \
         /ToUnicode {map} 0 R >>"
    ))
}
