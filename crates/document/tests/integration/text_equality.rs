//! The text of a page is the one html5ever's tokenizer finds, on every page of the corpora.
//!
//! Compared without whitespace, which is ours to fold; everything else must be equal character by character.

use document::{decode, extract};
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::{Rawtext, Rcdata, ScriptData};
use html5ever::tokenizer::{BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};
use std::cell::RefCell;

/// The visible text of a page's tokens, and the open elements that decide whether text is visible.
#[derive(Default)]
struct Seen {
    text: String,
    templates: usize,
    /// Open `<svg>` and `<math>`.
    foreign: Vec<String>,
    /// The open element whose text is not visible.
    hidden: Option<String>,
}

#[derive(Default)]
struct Sink(RefCell<Seen>);

impl TokenSink for Sink {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let seen = &mut *self.0.borrow_mut();
        match token {
            Token::CharacterTokens(text) if seen.hidden.is_none() && seen.templates == 0 => {
                seen.text.extend(text.chars().filter(|character| !character.is_whitespace()));
            }
            Token::TagToken(tag) => return seen.tag(&tag),
            _ => {}
        }
        TokenSinkResult::Continue
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        !self.0.borrow().foreign.is_empty()
    }
}

impl Seen {
    fn tag(&mut self, tag: &Tag) -> TokenSinkResult<()> {
        let name = &*tag.name;
        if tag.kind == TagKind::EndTag {
            if self.hidden.as_deref() == Some(name) {
                self.hidden = None;
            }
            if name == "template" {
                self.templates = self.templates.saturating_sub(1);
            }
            if let Some(place) = self.foreign.iter().rposition(|open| open == name) {
                self.foreign.truncate(place);
            }
            return TokenSinkResult::Continue;
        }
        if !self.foreign.is_empty() {
            if matches!(name, "title" | "desc" | "metadata" | "style" | "script") && !tag.self_closing {
                self.hidden.get_or_insert_with(|| name.to_owned());
            }
            return TokenSinkResult::Continue;
        }
        let (hidden, state) = match name {
            "svg" | "math" if !tag.self_closing => {
                self.foreign.push(name.to_owned());
                return TokenSinkResult::Continue;
            }
            "template" => {
                self.templates += 1;
                return TokenSinkResult::Continue;
            }
            "title" => (true, Rcdata),
            "textarea" => (false, Rcdata),
            "style" | "xmp" | "iframe" | "noembed" | "noframes" | "noscript" => (true, Rawtext),
            "script" => (true, ScriptData),
            "plaintext" => return TokenSinkResult::Plaintext,
            _ => return TokenSinkResult::Continue,
        };
        if hidden {
            self.hidden = Some(name.to_owned());
        }
        TokenSinkResult::RawData(state)
    }
}

fn html5ever_text(html: &str) -> String {
    let input = BufferQueue::default();
    input.push_back(StrTendril::from_slice(html));
    let tokenizer = Tokenizer::new(Sink::default(), TokenizerOpts::default());
    while !matches!(tokenizer.feed(&input), html5ever::TokenizerResult::Done) {}
    tokenizer.end();
    tokenizer.sink.0.into_inner().text
}

fn our_text(html: &str) -> String {
    extract(Some("text/html; charset=utf-8"), html.as_bytes())
        .text
        .chars()
        .filter(|character| !character.is_whitespace())
        .collect()
}

#[test]
fn the_text_of_real_pages_is_that_of_html5ever() {
    let archives = ["article-benchmark", "readability", "trafilatura"];
    for archive in archives {
        let Some(files) = corpora::unpack(&format!("conformance/maintext-{archive}.tar.zst")) else { continue };
        let pages: Vec<_> = files.iter().filter(|(path, _)| path.ends_with(".html")).collect();
        assert!(pages.len() > 80, "{archive}");
        for (path, bytes) in &pages {
            let html = decode(bytes, Some("text/html")).text;
            let (ours, theirs) = (our_text(&html), html5ever_text(&html));
            if ours != theirs {
                let at = ours.chars().zip(theirs.chars()).take_while(|(one, other)| one == other).count();
                let near = |text: &str| text.chars().skip(at.saturating_sub(20)).take(80).collect::<String>();
                panic!("{path}: at {at} of {}\nours: {}\ntheirs: {}", theirs.len(), near(&ours), near(&theirs));
            }
        }
        println!("{archive}: {} pages have equal texts", pages.len());
    }
}

#[test]
fn the_text_of_hard_markup_is_that_of_html5ever() {
    let pages = [
        "a<b a='>' =\"x>y\" c=d\"e>f</b/>g<!-- > -- > --!>h<!-->i<!--->j<!x>k</>l</ >m<?n>o< p<3",
        "<title>a</titlex></title>b<textarea><p>&amp;&notit;&#x80;&copy=</textarea>c",
        "<script><!-- <script> </script> --></script>a<script><!--></script>b<script>'</scr'</script >c",
        "<svg><style>a<x>b</x></style><title>c</title><text>d<![CDATA[<e>]]></text></svg><![CDATA[f]]>g",
        "<style></stylex></style>a<noscript><p>b</noscript>c<iframe>d</iframe>e<template>f<template></template>g</template>h",
        "a<p title=\"never closed>b",
        "a<plaintext>b</plaintext><c>",
    ];
    for page in pages {
        assert_eq!(our_text(page), html5ever_text(page), "{page}");
    }
}
