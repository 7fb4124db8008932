//! Two versions of a made page that say the same in another shape, or another thing in a shape that is hard to read.

use super::{ADDRESS, HTML, HistoryRow, PAGES, Surroundings};
use crate::looks::is_reported;
use archives::LivePage;
use change::{ChangeRecord, Judgement};
use page::UrlRules;

/// Two versions, and the change that should be reported.
struct PairKind {
    name: &'static str,
    /// The type of two documents; `None` if the two are blocks of a page.
    content_type: Option<&'static str>,
    versions: [&'static str; 2],
    /// Words of the change, other spellings behind a bar; `None` if nothing is to be reported.
    says: Option<&'static [&'static str]>,
    /// The most texts that come and go.
    most_lines: usize,
}

const fn same(name: &'static str, old: &'static str, new: &'static str) -> PairKind {
    PairKind { name, content_type: None, versions: [old, new], says: None, most_lines: 0 }
}

const fn edit(
    name: &'static str,
    old: &'static str,
    new: &'static str,
    says: &'static [&'static str],
    most_lines: usize,
) -> PairKind {
    PairKind { name, content_type: None, versions: [old, new], says: Some(says), most_lines }
}

const fn of_type(content_type: &'static str, kind: PairKind) -> PairKind {
    PairKind { content_type: Some(content_type), ..kind }
}

const CALENDAR: &str = "text/calendar; charset=utf-8";
const JSON: &str = "application/json";
const XML: &str = "application/xml";
const TEXT: &str = "text/plain; charset=utf-8";

const PAIRS: &[PairKind] = &[
    same(
        "composed and decomposed letters",
        "<p>Café, Gemüse, señor</p>",
        "<p>Cafe\u{301}, Gemu\u{308}se, sen\u{303}or</p>",
    ),
    same("soft hyphens", "<p>Lighthouse keeper wanted</p>", "<p>Light\u{ad}house keep\u{ad}er wanted</p>"),
    same(
        "signs without width",
        "<p>Lighthouse keeper wanted</p>",
        "<p>Light\u{200b}house\u{feff} keeper\u{2060} wanted</p>",
    ),
    same("marks of direction", "<p>Call 555 0123</p>", "<p>\u{200e}Call \u{202a}555 0123\u{202c}\u{200f}</p>"),
    same("variation selectors", "<p>Sunny ☀ and warm ☕</p>", "<p>Sunny ☀\u{fe0f} and warm ☕\u{fe0e}</p>"),
    same("typographic signs", "<p>\"Soon\" -- it's near...</p>", "<p>“Soon” – it’s near…</p>"),
    same(
        "blanks that do not break",
        "<p>Deposit of 20 EUR per key</p>",
        "<p>Deposit of 20\u{a0}EUR per\u{202f}key</p>",
    ),
    same(
        "other elements for the same look",
        "<p>The <b>upper</b> <i>gate</i></p>",
        "<p>The <strong>upper</strong> <em>gate</em></p>",
    ),
    same(
        "no white space between elements",
        "<table>\n<tr> <td>Oar</td> <td>4</td> </tr>\n</table>\n<div>\n<span>Adults</span>\n<b>6 EUR</b>\n</div>",
        "<table><tr><td>Oar</td><td>4</td></tr></table><div><span>Adults</span><b>6 EUR</b></div>",
    ),
    of_type(
        TEXT,
        same(
            "lines broken elsewhere",
            "Boats wait at the outer buoy until the light is\ngreen. Then they enter one by one.\n\nNobody overtakes.\n",
            "Boats wait at the outer buoy\nuntil the light is green. Then they\nenter one by one.\n\nNobody overtakes.\n",
        ),
    ),
    of_type(
        JSON,
        same(
            "numbers of JSON in another form",
            "{\"oars\":12,\"depth\":2.5,\"load\":3000}",
            "{\"oars\":12.0,\"depth\":2.50,\"load\":3e3}",
        ),
    ),
    of_type(
        JSON,
        same(
            "keys of JSON in another order",
            "{\"id\":\"a\",\"oars\":12,\"sails\":2}",
            "{\"sails\":2,\"id\":\"a\",\"oars\":12}",
        ),
    ),
    of_type(
        XML,
        same(
            "attributes of XML in another order",
            "<quay><berth id=\"1\" depth=\"2\" free=\"yes\"/></quay>",
            "<quay><berth free=\"yes\" id=\"1\" depth=\"2\"/></quay>",
        ),
    ),
    same(
        "number of JSON-LD in another form",
        "<script type=\"application/ld+json\">{\"@type\":\"Offer\",\"price\":\"149.9\"}</script>",
        "<script type=\"application/ld+json\">{\"@type\":\"Offer\",\"price\":\"149.90\"}</script>",
    ),
    same(
        "number of microdata in another form",
        "<div itemscope itemtype=\"https://schema.org/Offer\"><meta itemprop=\"price\" content=\"149.9\"></div>",
        "<div itemscope itemtype=\"https://schema.org/Offer\"><meta itemprop=\"price\" content=\"149.90\"></div>",
    ),
    edit(
        "state moves between cards",
        "<div class=g><div><h4>Oar</h4><p>few left</p></div><div><h4>Sail</h4><p>9 EUR</p></div><div><h4>Buoy</h4><p>9 EUR</p></div></div>",
        "<div class=g><div><h4>Oar</h4><p>9 EUR</p></div><div><h4>Sail</h4><p>9 EUR</p></div><div><h4>Buoy</h4><p>few left</p></div></div>",
        &["Oar", "Buoy"],
        4,
    ),
    edit(
        "state moves between cards without headings",
        "<div class=g><div><a href=/o>Oar</a><span>few left</span></div><div><a href=/s>Sail</a><span>9 EUR</span></div><div><a \
         href=/b>Buoy</a><span>9 EUR</span></div></div>",
        "<div class=g><div><a href=/o>Oar</a><span>9 EUR</span></div><div><a href=/s>Sail</a><span>9 EUR</span></div><div><a \
         href=/b>Buoy</a><span>few left</span></div></div>",
        &["Oar", "Buoy"],
        4,
    ),
    edit(
        "state moves between rows by role",
        "<div role=table><div role=row><div role=cell>Oar</div><div role=cell>few left</div></div><div role=row><div \
         role=cell>Sail</div><div role=cell>9 EUR</div></div></div>",
        "<div role=table><div role=row><div role=cell>Oar</div><div role=cell>9 EUR</div></div><div role=row><div \
         role=cell>Sail</div><div role=cell>few left</div></div></div>",
        &["Oar", "Sail"],
        4,
    ),
    edit(
        "price of one card",
        "<div class=g><section><h4>Oar</h4><p>8 EUR</p></section><section><h4>Sail</h4><p>9 EUR</p></section></div>",
        "<div class=g><section><h4>Oar</h4><p>8 EUR</p></section><section><h4>Sail</h4><p>7 EUR</p></section></div>",
        &["Sail", "7 EUR"],
        2,
    ),
    edit(
        "event moves in a calendar",
        "<table><tr><td>1</td><td>2</td><td>3 Regatta</td><td>4</td></tr><tr><td>5</td><td>6</td><td>7</td><td>8</td></tr></table>",
        "<table><tr><td>1</td><td>2</td><td>3</td><td>4</td></tr><tr><td>5</td><td>6 Regatta</td><td>7</td><td>8</td></tr></table>",
        &["Regatta", "3", "6"],
        4,
    ),
    of_type(
        CALENDAR,
        edit(
            "day of an event in a calendar's file",
            "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:1@a\r\nDTSTART:20260503T100000Z\r\nSUMMARY:Regatta\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n",
            "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:1@a\r\nDTSTART:20260510T100000Z\r\nSUMMARY:Regatta\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n",
            &["Regatta"],
            2,
        ),
    ),
    edit(
        "word in a paragraph that is cut in two",
        "<p>The gate opens at nine. Whoever comes late rings twice. Dogs wait outside the gate.</p>",
        "<p>The gate opens at nine.</p><p>Whoever comes late rings thrice. Dogs wait outside the gate.</p>",
        &["twice", "thrice"],
        2,
    ),
    edit(
        "word in a section that moves",
        "<h3>Keys</h3><p>Keys are kept at the desk.</p><h3>Bikes</h3><p>Bikes stand in the yard.</p>",
        "<h3>Bikes</h3><p>Bikes stand in the cellar.</p><h3>Keys</h3><p>Keys are kept at the desk.</p>",
        &["cellar"],
        2,
    ),
    edit(
        "order of a list of links",
        "<ol><li><a href=/1>Northern team</a></li><li><a href=/2>Southern team</a></li><li><a href=/3>Eastern team</a></li></ol>",
        "<ol><li><a href=/3>Eastern team</a></li><li><a href=/1>Northern team</a></li><li><a href=/2>Southern team</a></li></ol>",
        &["Eastern team"],
        6,
    ),
    edit(
        "JSON-LD with a line break in a string",
        "<script type=\"application/ld+json\">{\"@type\":\"Product\",\"name\":\"Big\nbag\",\"offers\":{\"price\":\"31.00\"}}</script>",
        "<script type=\"application/ld+json\">{\"@type\":\"Product\",\"name\":\"Big\nbag\",\"offers\":{\"price\":\"27.00\"}}</script>",
        &["27"],
        2,
    ),
    edit(
        "JSON-LD within CDATA",
        "<script type=\"application/ld+json\">//<![CDATA[\n{\"@type\":\"Offer\",\"price\":\"31.00\"}\n//]]></script>",
        "<script type=\"application/ld+json\">//<![CDATA[\n{\"@type\":\"Offer\",\"price\":\"27.00\"}\n//]]></script>",
        &["27"],
        2,
    ),
    edit(
        "JSON-LD with a comma too many",
        "<script type=\"application/ld+json\">{\"@type\":\"Offer\",\"price\":\"31.00\",}</script>",
        "<script type=\"application/ld+json\">{\"@type\":\"Offer\",\"price\":\"27.00\",}</script>",
        &["27"],
        2,
    ),
    edit(
        "JSON-LD of two objects",
        "<script type=\"application/ld+json\">{\"@type\":\"WebSite\"}{\"@type\":\"Offer\",\"price\":\"31.00\"};</script>",
        "<script type=\"application/ld+json\">{\"@type\":\"WebSite\"}{\"@type\":\"Offer\",\"price\":\"27.00\"};</script>",
        &["27"],
        2,
    ),
    edit(
        "price in RDFa",
        "<div vocab=\"https://schema.org/\" typeof=\"Offer\"><span property=\"price\" content=\"31.00\"></span></div>",
        "<div vocab=\"https://schema.org/\" typeof=\"Offer\"><span property=\"price\" content=\"27.00\"></span></div>",
        &["27"],
        2,
    ),
    edit(
        "text of a shadow root",
        "<gate-state><template shadowrootmode=open><p>The gate is open</p></template></gate-state>",
        "<gate-state><template shadowrootmode=open><p>The gate is shut</p></template></gate-state>",
        &["The gate is shut"],
        2,
    ),
    edit(
        "cents set above the line",
        "<p>Now $1,450<sup>50</sup></p>",
        "<p>Now $1,390<sup>25</sup></p>",
        &["1,390.25|1,390 25"],
        2,
    ),
    of_type(
        "image/svg+xml",
        edit(
            "text of an SVG",
            "<svg xmlns=\"http://www.w3.org/2000/svg\"><title>tide: rising</title><text>rising</text></svg>",
            "<svg xmlns=\"http://www.w3.org/2000/svg\"><title>tide: falling</title><text>falling</text></svg>",
            &["falling"],
            4,
        ),
    ),
];

/// Plays each pair: on each made page, or as two documents.
pub(super) fn rows(urls: &UrlRules) -> impl Iterator<Item = HistoryRow> {
    PAIRS.iter().map(move |kind| row(kind, urls))
}

fn row(kind: &PairKind, urls: &UrlRules) -> HistoryRow {
    let mut row = HistoryRow::new(kind.name.to_owned());
    let pages = if kind.content_type.is_some() { &PAGES[..1] } else { &PAGES[..] };
    for page in pages.iter().map(|page| Surroundings::of_made(page)) {
        let mut live = LivePage::new(urls, kind.content_type.unwrap_or(HTML), ADDRESS);
        let [_, judgement] = [0, 1].map(|version| {
            let text = kind.versions[version];
            let body = if kind.content_type.is_some() { text.to_owned() } else { page.with(text) };
            live.look(body.as_bytes(), version as i64 * 3_600)
        });
        let (rate, counts) = match kind.says {
            None => (&mut row.noise, is_reported(&judgement)),
            Some(says) => (&mut row.edits, reports_all(&judgement, says, kind.most_lines)),
        };
        rate.of += 1;
        rate.reported += usize::from(counts);
    }
    row
}

/// Whether a change is reported with all of these words, where it stands or as it reads, and in no more lines than these.
fn reports_all(judgement: &Judgement, says: &[&str], most_lines: usize) -> bool {
    let ChangeRecord { changes, left_out, .. } = &judgement.record;
    let sides = || changes.iter().flat_map(|unit| [unit.before.as_deref(), unit.after.as_deref()]).flatten();
    let text: Vec<&str> = sides().chain(changes.iter().map(|unit| unit.place.as_str())).collect();
    let lines = sides().count() + left_out;
    let is_said = |words: &&str| words.split('|').any(|words| text.iter().any(|text| text.contains(words)));
    is_reported(judgement) && lines <= most_lines && says.iter().all(is_said)
}
