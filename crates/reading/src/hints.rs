//! Reads an element's role in a page from its name, ARIA role, class and id.

use document::attributes::attributes_of;
use document::markup::StartTag;

/// The role that an element's markup suggests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Hint {
    #[default]
    Neutral,
    /// The body of an article, explicitly.
    Body,
    /// An article or the main part of a page.
    Main,
    /// Something beside the main text: navigation, comments, advertisements, captions.
    Beside,
    /// Not shown.
    Hidden,
}

pub(crate) fn hint(tag: &StartTag<'_>) -> Hint {
    let name = tag.name.as_bytes();
    let mut hint = match name {
        b"article" | b"main" => Hint::Main,
        b"nav" | b"aside" | b"footer" | b"menu" | b"dialog" | b"figcaption" | b"select" | b"button" | b"form"
        | b"textarea" | b"object" | b"video" | b"audio" | b"canvas" | b"svg" | b"math" | b"fieldset" => Hint::Beside,
        _ => Hint::Neutral,
    };
    for (attribute, value) in attributes_of(tag.attributes()) {
        let said = match attribute.len() {
            2 if attribute.eq_ignore_ascii_case("id") => by_words(value),
            4 if attribute.eq_ignore_ascii_case("role") => by_role(value),
            5 if attribute.eq_ignore_ascii_case("class") => by_words(value),
            5 if attribute.eq_ignore_ascii_case("style") => by_style(value),
            6 if attribute.eq_ignore_ascii_case("hidden") => Hint::Hidden,
            8 if attribute.eq_ignore_ascii_case("itemprop") => by_property(value),
            11 if attribute.eq_ignore_ascii_case("aria-hidden") && value.eq_ignore_ascii_case("true") => Hint::Hidden,
            _ => Hint::Neutral,
        };
        hint = stronger(hint, said);
    }
    // These elements hold content, whatever their classes say.
    let holds_words = matches!(name, b"article" | b"blockquote" | b"pre" | b"table");
    if holds_words && hint == Hint::Beside { Hint::Neutral } else { hint }
}

fn stronger(one: Hint, other: Hint) -> Hint {
    let strength = |hint| match hint {
        Hint::Neutral => 0,
        Hint::Main => 1,
        Hint::Beside => 2,
        Hint::Body => 3,
        Hint::Hidden => 4,
    };
    if strength(other) > strength(one) { other } else { one }
}

fn by_role(role: &str) -> Hint {
    match role.trim() {
        "main" | "article" => Hint::Main,
        "navigation" | "complementary" | "banner" | "contentinfo" | "dialog" | "alertdialog" | "menu" | "menubar"
        | "search" | "toolbar" | "tooltip" | "button" | "form" => Hint::Beside,
        _ => Hint::Neutral,
    }
}

fn by_property(properties: &str) -> Hint {
    let has = |name: &str| properties.split_ascii_whitespace().any(|property| property.eq_ignore_ascii_case(name));
    if has("articleBody") {
        Hint::Body
    } else if has("comment") || has("author") || has("caption") {
        Hint::Beside
    } else {
        Hint::Neutral
    }
}

fn by_style(style: &str) -> Hint {
    let mut rules = style.split(';').filter_map(|rule| rule.split_once(':'));
    let hides = rules.any(|(property, value)| match property.trim() {
        "display" => value.trim().starts_with("none"),
        "visibility" => value.trim().starts_with("hidden"),
        _ => false,
    });
    if hides { Hint::Hidden } else { Hint::Neutral }
}

/// Prefixes of words that name something beside the main text.
const BESIDE: &[&str] = &[
    "addthis",
    "advert",
    "author",
    "banner",
    "breadcrumb",
    "breaking",
    "byline",
    "caption",
    "comment",
    "consent",
    "cookie",
    "copyright",
    "credit",
    "dateline",
    "discuss",
    "disqus",
    "follow",
    "foot",
    "gdpr",
    "infobox",
    "livefyre",
    "login",
    "masthead",
    "meta",
    "modal",
    "nav",
    "newsletter",
    "outbrain",
    "overlay",
    "pager",
    "paginat",
    "popular",
    "popup",
    "promo",
    "rating",
    "recirc",
    "recommend",
    "register",
    "related",
    "replies",
    "respond",
    "share",
    "sharing",
    "sidebar",
    "signup",
    "social",
    "sponsor",
    "subscri",
    "taboola",
    "tagcloud",
    "taglist",
    "tags",
    "teaser",
    "ticker",
    "timestamp",
    "toolbar",
    "topics",
    "trending",
    "widget",
];

/// Such words that count only as a whole.
const BESIDE_WHOLE: &[&str] = &[
    "ad", "ads", "bio", "dfp", "menu", "more", "mpu", "noprint", "print", "rail", "rss", "side", "skip", "toc", "tool",
];

/// Words that make a name refer to another element: `content-with-sidebar`.
const BESIDE_ANOTHER: &[&str] = &["with", "has", "no", "without", "elementor"];

/// Names that alone mark an element as an entry, whatever its other names say.
const ENTRY: &[&str] = &["entry", "hentry", "post", "article", "story"];

/// Class names and ids of article bodies, without separators.
const BODY: [&str; 12] = [
    "articlebody",
    "articlecontent",
    "articletext",
    "entrycontent",
    "postcontent",
    "postbody",
    "storybody",
    "storytext",
    "storycontent",
    "bodycopy",
    "maincontent",
    "articlebodycontent",
];

fn by_words(names: &str) -> Hint {
    let mut hint = Hint::Neutral;
    for name in names.split_ascii_whitespace() {
        if is_body(name) {
            return Hint::Body;
        }
        if is_one_of(name.as_bytes(), ENTRY) {
            return Hint::Neutral;
        }
        if words(name).any(|word| is_one_of(word, BESIDE_ANOTHER)) {
            continue;
        }
        if words(name).any(names_beside) {
            hint = Hint::Beside;
        }
    }
    hint
}

fn is_body(name: &str) -> bool {
    let characters = || name.bytes().filter(u8::is_ascii_alphanumeric).map(|byte| byte.to_ascii_lowercase());
    BODY.iter().any(|body| characters().eq(body.bytes()))
}

fn names_beside(word: &[u8]) -> bool {
    let begins = |with: &&str| word.get(..with.len()).is_some_and(|start| start.eq_ignore_ascii_case(with.as_bytes()));
    BESIDE.iter().any(begins) || is_one_of(word, BESIDE_WHOLE)
}

fn is_one_of(word: &[u8], words: &[&str]) -> bool {
    words.iter().any(|other| word.eq_ignore_ascii_case(other.as_bytes()))
}

/// The words of names such as `related-posts`, `relatedPosts` and `related_posts`.
fn words(names: &str) -> impl Iterator<Item = &[u8]> {
    let bytes = names.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        at += bytes[at..].iter().position(u8::is_ascii_alphabetic)?;
        let start = at;
        at += 1;
        while at < bytes.len()
            && bytes[at].is_ascii_alphabetic()
            && !(bytes[at].is_ascii_uppercase() && bytes[at - 1].is_ascii_lowercase())
        {
            at += 1;
        }
        Some(&bytes[start..at])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use document::markup::{Token, tokens};

    #[test]
    fn elements_say_what_they_are() {
        let check = |html: &str, expected| {
            let Some(Token::Start(tag)) = tokens(html).next() else { panic!("{html} begins with a tag") };
            assert_eq!(hint(&tag), expected, "{html}");
        };
        check("<div>", Hint::Neutral);
        check("<main class=page>", Hint::Main);
        check("<div role=main>", Hint::Main);
        check("<nav>", Hint::Beside);
        check("<div class='x relatedPosts'>", Hint::Beside);
        check("<div id=comments-12>", Hint::Beside);
        check("<div role=complementary>", Hint::Beside);
        check("<div class='entry share'>", Hint::Neutral);
        check("<div class=content-with-sidebar>", Hint::Neutral);
        check("<div class=advice>", Hint::Neutral);
        check("<blockquote class=social-embed>", Hint::Neutral);
        check("<div class=article__body>", Hint::Body);
        check("<div class=sidebar itemprop='x articleBody'>", Hint::Body);
        check("<p style='color:red; display: none'>", Hint::Hidden);
        check("<p hidden>", Hint::Hidden);
        check("<p aria-hidden=true>", Hint::Hidden);
        check("<p aria-hidden=false>", Hint::Neutral);
    }
}
