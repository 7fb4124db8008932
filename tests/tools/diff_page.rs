//! `recrawl diff --html` in a real browser: its layout, its colours, and texts that try to be more than text.

use crate::recrawl;
use serde_json::{Value, json};
use std::fs::write;
use std::path::Path;
use tests::{Browser, READABLE, Scheme};

/// Elements that the page is made of. A text that became an element would be another.
const ELEMENTS: [&str; 26] = [
    "html", "head", "meta", "title", "style", "body", "main", "h1", "dl", "dt", "dd", "bdi", "strong", "span", "table",
    "thead", "tbody", "tr", "th", "td", "div", "del", "ins", "p", "s", "time",
];

const HOSTILE: [&str; 4] = [
    "<script>parent.ran=1</script>",
    "\"><img src=x onerror=parent.ran=1>",
    "</div></td></tr></table></title></style><script>parent.ran=1</script>",
    "a &amp; b <!-- <b onmouseover='parent.ran=1'>",
];

/// Page in two versions, whose texts, places and links are hostile.
fn versions() -> [String; 2] {
    let text = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;");
    let rest = "<p>Bring your own cup and a friend who likes tea.</p>".repeat(3);
    let version = |word: &str, target: &str| {
        let paragraphs = HOSTILE.iter().map(|hostile| format!("<h2>{0}</h2><p>{word} {0}</p>", text(hostile)));
        format!(
            "<main><h1>House</h1>{}<h2>{}</h2><p>The {word} \u{202e}of the other direction</p><p>{word} {}</p>\
             <h2>\u{5d1}\u{5d9}\u{5ea}</h2><p>\u{5e9}\u{5dc}\u{5d5}\u{5dd} \u{5dc}\u{5db}\u{5d5}\u{5dc}\u{5dd} {word}</p>\
             <p>See <a href='{target}?a=\"><script>parent.ran=1</script>'>{}</a>.</p>{rest}</main>",
            paragraphs.collect::<String>(),
            text(HOSTILE[2]),
            "x".repeat(190),
            text(HOSTILE[0])
        )
    };
    [version("old", "/old"), version("new", "/new") + "<p>A text that nobody has seen before stands here.</p>"]
}

fn page(directory: &Path) -> std::path::PathBuf {
    let names = ["<img src=x onerror=parent.ran=1>.html", "new & \"newer\".html"];
    for (name, version) in names.iter().zip(versions()) {
        write(directory.join(name), version).unwrap();
    }
    let arguments = ["diff", names[0], names[1], "--url", "https://a.test/<b>", "--html", "page.html"];
    let output = recrawl(directory, &arguments).exits_with(0).says(&["page: page.html"]);
    assert!(output.stdout.starts_with("m") && output.stdout.contains("\n+ new "), "{}", output.stdout);
    directory.join("page.html")
}

#[test]
fn versions_stand_side_by_side_or_below_each_other_and_hostile_texts_stay_text() {
    let directory = tempfile::tempdir().unwrap();
    let page = page(directory.path());
    let html = std::fs::read_to_string(&page).unwrap();
    assert!(!html.contains("src=\"") && !html.contains("href=") && !html.contains("url("), "the page stands alone");
    let Some(browser) = Browser::find(directory.path()) else { return };

    let wide = browser.evaluate(&page, 1200, Scheme::Light, LAYOUT);
    let narrow = browser.evaluate(&page, 400, Scheme::Light, LAYOUT);
    for (layout, columns) in [(&wide, 2), (&narrow, 1)] {
        assert_eq!(layout["overflows"], json!(false), "{layout:#}");
        let rows = layout["rows"].as_array().unwrap();
        assert!(rows.len() > 6, "{layout:#}");
        for row in rows {
            let [before, after] = [&row[0], &row[1]]
                .map(|cell| ["left", "top", "right", "bottom"].map(|side| cell[side].as_f64().unwrap()));
            match columns {
                2 => assert!(before[1] == after[1] && before[2] <= after[0] + 1.0, "{row}"),
                _ => assert!(before[0] == after[0] && before[3] <= after[1] + 1.0, "{row}"),
            }
            assert!(before[2] - before[0] > 300.0, "{row}");
        }
    }
    assert_eq!((&wide["label_shown"], &narrow["label_shown"]), (&json!(false), &json!(true)));

    let shown = browser.evaluate(&page, 1200, Scheme::Light, CONTENT);
    assert_eq!(shown["ran"], Value::Null, "a text of the page ran");
    let elements: Vec<&str> = shown["elements"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    for name in &elements {
        assert!(ELEMENTS.contains(name), "<{name}>");
    }
    assert!(["del", "ins", "bdi", "th"].iter().all(|name| elements.contains(name)), "{elements:?}");
    let texts = shown["texts"].to_string();
    for hostile in HOSTILE.map(|text| json!(text).to_string()) {
        assert!(texts.contains(hostile.trim_matches('"')), "{hostile}");
    }
    assert_eq!((&shown["lang"], &shown["title"]), (&json!("en"), &json!("What changed: https://a.test/<b>")));
    assert_eq!(shown["heads"], json!(["Before", "After"]));
    assert_eq!(shown["right_to_left"], json!(4), "the Hebrew texts on both sides and beside a change");
    assert_eq!(shown["said"], json!(["\" [removed: \"", "\" [added: \""]), "to those who listen");
    assert!(texts.contains("https://a.test/old") && texts.contains("https://a.test/new"), "{texts}");
}

#[test]
fn every_word_can_be_read_on_light_and_dark_screens() {
    let directory = tempfile::tempdir().unwrap();
    let page = page(directory.path());
    let Some(browser) = Browser::find(directory.path()) else { return };
    let mut grounds = Vec::new();
    for scheme in [Scheme::Light, Scheme::Dark] {
        // The narrow page shows everything that the wide one does, and the labels of the cells.
        let colours = browser.evaluate(&page, 400, scheme, READABLE);
        assert!(colours["words"].as_u64() > Some(20), "{colours:#}");
        assert!(colours["least"].as_f64() >= Some(4.5), "{scheme:?}: {colours:#}");
        grounds.push(colours["ground"].clone());
    }
    assert_ne!(grounds[0], grounds[1], "the page follows the reader's colour scheme");
}

const LAYOUT: &str = "(() => {
  const root = page.document.documentElement;
  const box = cell => { const { left, top, right, bottom } = cell.getBoundingClientRect(); return { left, top, right, bottom } };
  const rows = [...page.document.querySelectorAll('tbody tr')].map(row => [...row.querySelectorAll('td')].map(box));
  return {
    overflows: root.scrollWidth > root.clientWidth,
    rows: rows.filter(row => row.length == 2),
    label_shown: page.getComputedStyle(page.document.querySelector('.side')).display != 'none',
  };
})()";

const CONTENT: &str = "(() => {
  const all = [...page.document.querySelectorAll('*')];
  const texts = selector => [...page.document.querySelectorAll(selector)].map(found => found.textContent);
  const direction = cell => page.getComputedStyle(cell).direction;
  return {
    ran: window.ran ?? page.ran ?? null,
    elements: [...new Set(all.map(found => found.localName))],
    texts: [...texts('td div'), ...texts('th bdi'), ...texts('dd')],
    lang: page.document.documentElement.lang,
    title: page.document.title,
    heads: texts('thead th'),
    said: ['del', 'ins'].map(name => page.getComputedStyle(page.document.querySelector(name), '::before').content),
    right_to_left: [...page.document.querySelectorAll('td div')].filter(cell => direction(cell) == 'rtl').length,
  };
})()";
