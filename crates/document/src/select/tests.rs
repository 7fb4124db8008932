//! Selectors, compared with a table that a browser is asked about, too.

use super::elements::OpenElements;
use super::{PartUse, Selection};
use crate::attributes::attribute;
use crate::markup::{Token, tokens};
use proptest::prelude::*;
use std::fmt::Write;
use std::process::Command;

/// Pages with the selectors asked of them, and the numbers (the attribute `n`) of the elements that each selects.
const TABLE: &[(&str, &[(&str, &str)])] = &[
    (
        "<div n=1 id=top class='a b'><p n=2 class=A>x<p n=3 class='b  c'>y<span n=4 lang=en-GB>z</span></div><p n=5 ID=Top>",
        &[
            ("#top", "1"),
            (".b", "1 3"),
            (".a.b", "1"),
            ("p", "2 3 5"),
            ("P.b", "3"),
            ("*", "1 2 3 4 5"),
            ("div p", "2 3"),
            ("div > span", ""),
            ("[lang|=en]", "4"),
            ("[lang|='EN' i]", "4"),
            ("p:not(.b)", "2 5"),
            ("p:not(.b, .A)", "5"),
            (":not([class])", "4 5"),
            ("div, span", "1 4"),
            ("p + p", "3"),
            ("div ~ p", "5"),
            ("#Top", "5"),
        ],
    ),
    (
        "<ul n=1><li n=2>a<li n=3>b<ul n=4><li n=5>c</ul>d<li n=6>e<li n=7>f</ul>",
        &[
            ("li:first-child", "2 5"),
            ("li:nth-child(2)", "3"),
            ("li:nth-child(odd)", "2 5 6"),
            ("li:nth-child(even)", "3 7"),
            ("li:nth-child( 2n + 1 )", "2 5 6"),
            ("li:nth-child(-n+2)", "2 3 5"),
            ("li:nth-child(n+3)", "6 7"),
            ("ul > li > ul > li", "5"),
            ("li + li", "3 6 7"),
            ("li ~ li", "3 6 7"),
            ("li:nth-child(2) ~ li", "6 7"),
            ("html > body > ul", "1"),
            ("body :first-child", "1 2 4 5"),
        ],
    ),
    (
        "<table n=1><tr n=2><th n=3>a<td n=4>b<tr n=5><td n=6>c<p n=7>d<td n=8>e<tbody n=9><tr n=10><td n=11></table>\
         <table n=12><caption n=13>x<col n=14><col n=15><td n=16>y<div n=17>z</div><thead n=18><td n=19></table><td n=20>",
        &[
            ("table > tr", ""),
            ("table > tbody > tr", "2 5 10"),
            ("table > tbody:nth-child(2) > tr > td", "11"),
            ("tr > td:nth-child(2)", "4 8"),
            ("td p", "7"),
            ("table > colgroup > col", "14 15"),
            ("td", "4 6 8 11 16 19"),
            ("tr:first-child td:first-child", "11 16 19"),
            ("th + td", "4"),
            ("table:nth-child(2) thead td", "19"),
        ],
    ),
    (
        "<table n=1><tr n=2><td n=3>a<div n=4>b<table n=5><tr n=6><td n=7>c</table></div><tr n=8><div n=9><b n=10>d</b></div>\
         <td n=11>e</table><p n=12>",
        &[
            ("table td", "3 7 11"),
            ("table div", "4"),
            ("body > div", "9"),
            ("body > p", "12"),
            ("td td", "7"),
            ("tr + tr td", "11"),
        ],
    ),
    (
        "<p n=1>a<b n=2>b<div n=3>c</div></b><p n=4>d<a n=5 href=x>e<a n=6 href=y>f</a><h1 n=7>g<h2 n=8>h</h2><dl n=9><dt n=10>\
         i<dd n=11>j<dd n=12>k<div n=13><dt n=14>l</dl><button n=15>m<button n=16>n</button>",
        &[
            ("p > b", "2"),
            ("p div", ""),
            ("a", "5 6"),
            ("a a", ""),
            ("h1 + h2", "8"),
            ("h1 h2", ""),
            ("dl > dd", "11 12"),
            ("dd dt", ""),
            ("dt + dd", "11"),
            ("button button", ""),
            ("body > *:nth-child(2)", "3"),
        ],
    ),
    (
        "<head n=1><title n=2>t</title><meta n=3 name=x></head><link n=4 rel='Next Prev' href=a><body n=5 class=home><form n=6>\
         <input n=7 TYPE=Text name=q><form n=8><select n=9><option n=10>a<option n=11>b<optgroup n=12><option n=13>c</select>\
         </form><img n=14 src='/a.PNG'><br n=15><textarea n=16><p n=0></textarea><x-price n=17 data-v='1 2'><x-old n=18></x-old>\
         </x-price>",
        &[
            ("head > *", "2 3 4"),
            ("body.home > form", "6"),
            ("form form", ""),
            ("[type=text]", "7"),
            ("[name=Q]", ""),
            ("[rel~=next]", "4"),
            ("option", "10 11 13"),
            ("select > option:nth-child(2)", "11"),
            ("optgroup > option", "13"),
            ("img[src$='.png']", ""),
            ("img[src$='.png' i]", "14"),
            ("img[src^='/a']", "14"),
            ("[src*='a.']", "14"),
            ("[src*='']", ""),
            ("x-price > x-old", "18"),
            ("x-price[data-v~='2']", "17"),
            ("body > br + textarea", "16"),
            ("textarea p", ""),
        ],
    ),
    (
        "<template n=1><p n=2>no</p></template><svg n=3><g n=4><path n=5 /><path n=6 /><title n=7>t</title></g><p n=8>out</p>\
         </svg><math n=9><mi n=10><b n=11>x</b></mi></math></p n=0><p n=12>y</br><i n=13>z</i>",
        &[
            ("p", "8 12"),
            ("path", "5 6"),
            ("svg path + path", "6"),
            ("g > title", "7"),
            ("svg p", ""),
            ("math b", "11"),
            ("p > br + i", "13"),
            ("p:nth-child(5)", "12"),
            ("template *", ""),
        ],
    ),
    (
        "<div n=1 class='md:flex 2col' id='1a' title='a &amp; \"b\"' data-x=''><p n=2 title=\"it's\" class=käse></div>",
        &[
            (".md\\:flex", "1"),
            (".\\32 col", "1"),
            ("[class~='2col']", "1"),
            ("[id='1a']", "1"),
            ("[title='a & \"b\"']", "1"),
            ("[title=\"it's\"]", "2"),
            ("[title='it\\'s']", "2"),
            ("[title^='']", ""),
            ("[data-x='']", "1"),
            (".käse", "2"),
            ("[ title |= \"it's\" ]", "2"),
        ],
    ),
];

/// The numbers of the elements that a selector selects, in the order of the page.
fn selected(html: &str, selector: &str) -> String {
    let mut selection = Selection::default();
    selection.add(PartUse::Watch, selector).unwrap_or_else(|fault| panic!("{selector}: {fault}"));
    let mut elements = OpenElements::new(&selection);
    for token in tokens(html) {
        match token {
            Token::Text(text, crate::markup::TextKind::Data) => elements.text(text),
            Token::Text(..) => {}
            Token::Start(tag) => {
                elements.start(tag);
                elements.end_void();
            }
            Token::End(name) => elements.end(name),
        }
    }
    let numbers = elements.tags.iter().filter_map(|tag| attribute(tag.attributes(), "n"));
    numbers.collect::<Vec<_>>().join(" ")
}

fn page(body: &str) -> String {
    format!("<!doctype html>{body}")
}

#[test]
fn selectors_select_what_the_table_says() {
    let mut wrong = String::new();
    for (html, selectors) in TABLE {
        for (selector, expected) in *selectors {
            let found = selected(&page(html), selector);
            if found != *expected {
                writeln!(wrong, "{selector:?}: {found:?} instead of {expected:?} in {html}")
                    .expect("a string takes it");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// The same table, asked of a browser: `querySelectorAll`.
#[test]
fn a_browser_says_what_the_table_says() {
    let browsers = ["chromium", "chromium-browser", "google-chrome", "chrome"];
    let is_there = |name: &&&str| Command::new(name).arg("--version").output().is_ok_and(|made| made.status.success());
    let Some(browser) = browsers.iter().find(is_there) else {
        assert!(std::env::var_os("RECRAWL_KAFKA_REQUIRED").is_none(), "no browser here; make setup installs one");
        println!("LEFT OUT: no browser here ({}) to compare selectors with", browsers.join(", "));
        return;
    };
    let cases: Vec<_> = TABLE.iter().flat_map(|(html, list)| list.iter().map(move |case| (page(html), case))).collect();
    let asked: Vec<_> = cases.iter().map(|(html, (selector, _))| (html, selector)).collect();
    let asked = serde_json::to_string(&asked).expect("texts are JSON").replace('<', "\\u003c");
    let script = "const found = cases.map(([html, selector]) => [...new DOMParser().parseFromString(html, 'text/html')\
                  .querySelectorAll(selector)].map(element => element.getAttribute('n')).filter(n => n).join(' '));\
                  document.body.textContent = JSON.stringify(found);";
    let directory = std::env::temp_dir().join(format!("recrawl-selectors-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory for the browser");
    let file = directory.join("cases.html");
    let asking = format!("<!doctype html><meta charset=utf-8><body><script>const cases = {asked};{script}</script>");
    std::fs::write(&file, asking).expect("a page for the browser");
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--dump-dom"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .arg(format!("--user-data-dir={}", directory.join("browser").display()))
        .arg(format!("file://{}", file.display()))
        .output()
        .expect("the browser starts");
    drop(std::fs::remove_dir_all(&directory));
    let shown = String::from_utf8_lossy(&output.stdout);
    let answers = shown.split("<body>").nth(1).and_then(|rest| rest.split("</body>").next()).unwrap_or_default();
    let reported: Vec<String> = serde_json::from_str(answers).unwrap_or_else(|error| panic!("{error}: {shown}"));
    let differing = cases.iter().zip(&reported).filter(|((_, (_, expected)), reported)| expected != reported);
    let wrong: Vec<_> = differing.map(|((_, (selector, _)), reported)| format!("{selector:?}: {reported:?}")).collect();
    assert!(wrong.is_empty(), "a browser says {}", wrong.join("\n"));
}

#[test]
fn what_is_no_selector_is_refused_with_what_to_write() {
    let check = |text: &str, problem: &str| {
        let fault = Selection::default().add(PartUse::Watch, text).expect_err(text);
        assert_eq!(fault.problem, problem);
        assert!(fault.remedy.starts_with("write ") || fault.remedy.starts_with("leave "), "{}", fault.remedy);
    };
    check("", "a selector is missing at the end");
    check("p,", "a selector is missing at the end");
    check("p >", "a selector is missing at the end");
    check("> p", "no selector begins with '>'");
    check(".", "a name is missing at the end");
    check("#1a", "a name cannot begin with the digit 1");
    check("p:last-child", ":last-child is not supported");
    check("p:has(b)", ":has is not supported");
    check("p::before", "::before is not supported");
    check("p:not(a b)", ":not() of more than one element is not supported");
    check("p:nth-child(x)", ":nth-child(x) has no number");
    check("p:nth-child(2 of .a)", ":nth-child(2 of .a) has no number");
    check("[a=1]", "the value of the attribute a needs quotes");
    check("[a='b'", "']' is missing before \"\"");
    check("[a='b", "the quote ' is not closed");
    check("p$", "'$' is not expected here: \"$\"");
    check("svg|a", "namespaces are not supported");
    check("p\\", "nothing is behind the last backslash");
    check("fact:colour", "there is no fact \"colour\"");
    check("/a/~2", "the step \"~2\" of the pointer has a ~ that stands for nothing");
    check(&"p ".repeat(129), "the selectors of the rule have more than 128 steps together");
    check(&"p".repeat(2_001), "the selector has more than 2000 bytes");
}

proptest! {
    #[test]
    fn any_text_is_a_selection_or_refused(text in "([a-z#.:*>+~,()\\[\\]='\"\\\\ 0-9é-]|nth-child|not){0,30}") {
        let mut selection = Selection::default();
        if selection.add(PartUse::Watch, &text).is_ok() {
            let _ = selected("<p n=1 class=a>x<b id=b>y</b>", &text);
        }
    }
}
