//! Markup without what never shows: names of tags and text.

use document::text_hash;

/// BUbiNG's digest of a page, by its documentation: tags keep nothing but their name in lower case (a frame its `src`),
/// digits of the text become white space, white space is folded; no text of scripts and styles, no comments.
pub(crate) fn bubing_digest(markup: &str) -> u64 {
    text_hash(simplified(markup, Keep::BubingsRule).as_bytes())
}

/// A digest that is another one whenever a renderer of text might render another text: digits stay, and attributes of
/// tags that have a style or an alignment.
pub(crate) fn rendered_digest(markup: &str) -> u64 {
    text_hash(simplified(markup, Keep::WhatRenders).as_bytes())
}

#[derive(Clone, Copy, PartialEq)]
enum Keep {
    BubingsRule,
    WhatRenders,
}

fn simplified(markup: &str, keep: Keep) -> String {
    let mut out = String::with_capacity(markup.len() / 2);
    let mut rest = markup;
    let mut skip_until = None;
    while let Some(start) = rest.find('<') {
        let (text, tag) = rest.split_at(start);
        if skip_until.is_none() {
            push_text(&mut out, text, keep);
        }
        rest = match skip_until {
            Some(end) if !starts_with(tag, end) => &tag[1..],
            _ => {
                let (next, raw_text_of) = read_tag(tag, &mut out, keep);
                skip_until = raw_text_of;
                next
            }
        };
    }
    if skip_until.is_none() {
        push_text(&mut out, rest, keep);
    }
    out
}

/// Reads what begins with `<`: what follows it, and the end tag up to which there is no text.
fn read_tag<'a>(tag: &'a str, out: &mut String, keep: Keep) -> (&'a str, Option<&'static str>) {
    if let Some(comment) = tag.strip_prefix("<!--") {
        return (comment.split_once("-->").map_or("", |(_, after)| after), None);
    }
    let inside = &tag[1..];
    let name_start = inside.strip_prefix('/').unwrap_or(inside);
    if !name_start.starts_with(|c: char| c.is_ascii_alphabetic()) {
        if inside.starts_with(['!', '?', '/']) {
            return (inside.split_once('>').map_or("", |(_, after)| after), None);
        }
        push_text(out, "<", keep);
        return (inside, None);
    }
    let name_end = name_start.find(|c: char| c.is_whitespace() || matches!(c, '>' | '/')).unwrap_or(name_start.len());
    let name = name_start[..name_end].to_ascii_lowercase();
    let end = tag_end(inside);
    let is_end_tag = inside.starts_with('/');
    out.push_str(if is_end_tag { "</" } else { "<" });
    out.push_str(&name);
    if matches!(name.as_str(), "frame" | "iframe") && !is_end_tag {
        out.push_str(source(&inside[..end]));
    }
    if keep == Keep::WhatRenders && ["style", "align"].iter().any(|name| inside[..end].contains(name)) {
        out.push_str(&inside[..end]);
    }
    out.push('>');
    let raw_text_of = match name.as_str() {
        "script" if !is_end_tag => Some("</script"),
        "style" if !is_end_tag => Some("</style"),
        _ => None,
    };
    (inside.get(end + 1..).unwrap_or_default(), raw_text_of)
}

/// Where a tag's `>` stands, which none within quotes is.
fn tag_end(inside: &str) -> usize {
    let mut quote = None;
    for (at, byte) in inside.bytes().enumerate() {
        match (quote, byte) {
            (Some(open), _) if open == byte => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'>') => return at,
            (None, _) => {}
        }
    }
    inside.len()
}

/// The value of `src`, quoted or not.
fn source(attributes: &str) -> &str {
    let Some((_, value)) = attributes.split_once("src=") else { return "" };
    match value.chars().next() {
        Some(quote @ ('"' | '\'')) => value[1..].split(quote).next().unwrap_or_default(),
        _ => value.split_whitespace().next().unwrap_or_default(),
    }
}

fn starts_with(tag: &str, end: &str) -> bool {
    tag.get(..end.len()).is_some_and(|start| start.eq_ignore_ascii_case(end))
}

fn push_text(out: &mut String, text: &str, keep: Keep) {
    for c in text.chars() {
        let is_space = c.is_whitespace() || keep == Keep::BubingsRule && c.is_numeric();
        match is_space {
            false => out.push(c),
            true if out.ends_with(' ') => {}
            true => out.push(' '),
        }
    }
}
