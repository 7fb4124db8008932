//! Whether the text of a page is made by its scripts, by what the page itself shows of that.

use crate::attributes::values_of;
use crate::markup::{StartTag, TextKind, Token, tokens};
use crate::tag_name::TagName;

const TEMPLATE: TagName = TagName::named(b"template");
const SCRIPT: TagName = TagName::named(b"script");
const NOSCRIPT: TagName = TagName::named(b"noscript");

/// Bytes of visible text below which a page with scripts of its site shows nearly nothing without them.
const NEARLY_NONE: usize = 200;
/// Bytes of visible text below which an empty place for a program is a sign: a header and a footer may be there.
const WITH_EMPTY_PLACE: usize = 1_500;
/// Bytes of visible text below which a word to readers without scripts is a sign.
const WITH_NOSCRIPT: usize = 600;
/// Most templates within one another that count.
const MOST_TEMPLATES: usize = 16;
/// Bytes of a script within the page that may make a page.
const PROGRAM: usize = 400;

/// The signs that a page is made by its scripts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScriptSigns {
    /// Bytes of text that is shown without scripts, white space left out.
    pub text_bytes: usize,
    /// Scripts that the site itself serves, or that stand in the page and are long enough.
    pub programs: usize,
    /// Empty elements that a program fills: with an `id`, custom elements, those of htmx.
    pub empty_places: usize,
    /// Whether readers without scripts are spoken to.
    pub has_noscript: bool,
}

impl ScriptSigns {
    /// The signs of an HTML page. `host` is the name of its host: scripts of others cannot be had for it.
    pub fn of_html(html: &str, host: &str) -> Self {
        let mut signs = Self::default();
        // The last start tag, while nothing has come behind it.
        let mut open: Option<StartTag<'_>> = None;
        // Whether each open template is hidden. One that is a shadow root is shown.
        let (mut script, mut templates) = (None, Vec::new());
        for token in tokens(html) {
            match token {
                Token::Start(tag) => {
                    match tag.name {
                        TEMPLATE if templates.len() < MOST_TEMPLATES => {
                            templates.push(values_of(tag.attributes(), ["shadowrootmode"])[0].is_none());
                        }
                        SCRIPT => {
                            script = Some(tag);
                            signs.programs += usize::from(is_served(tag.attributes(), host));
                        }
                        _ => {}
                    }
                    open = Some(tag);
                }
                Token::End(name) => {
                    if name == TEMPLATE {
                        templates.pop();
                    }
                    if let Some(tag) = open.take().filter(|tag| tag.name == name) {
                        signs.empty_places += usize::from(!templates.contains(&true) && is_place(&tag));
                    }
                }
                Token::Text(text, kind) => {
                    let bytes = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).count();
                    let within = open.take_if(|_| bytes > 0);
                    match kind {
                        TextKind::Data | TextKind::Verbatim if !templates.contains(&true) => {
                            signs.text_bytes += bytes;
                        }
                        TextKind::Script if is_program(script, bytes) => signs.programs += 1,
                        TextKind::Raw if within.is_some_and(|tag| tag.name == NOSCRIPT) => {
                            signs.has_noscript |= speaks(text);
                        }
                        _ => {}
                    }
                }
            }
        }
        signs
    }

    /// Whether a browser probably shows more of the page.
    pub fn need_a_browser(&self) -> bool {
        self.programs > 0
            && (self.text_bytes < NEARLY_NONE
                || (self.empty_places > 0 && self.text_bytes < WITH_EMPTY_PLACE)
                || (self.has_noscript && self.text_bytes < WITH_NOSCRIPT))
    }
}

/// Whether a script is served by the site itself.
fn is_served(attributes: &str, host: &str) -> bool {
    let [Some(source), kind] = values_of(attributes, ["src", "type"]) else { return false };
    let source = source.trim();
    let rest = source.split_once("//").filter(|(scheme, _)| scheme.is_empty() || scheme.ends_with(':'));
    let is_own = rest.is_none_or(|(_, rest)| {
        let of = rest.split(['/', ':', '?']).next().unwrap_or_default();
        !host.is_empty() && of.eq_ignore_ascii_case(host)
    });
    !source.is_empty() && is_own && runs(kind)
}

fn is_program(script: Option<StartTag<'_>>, bytes: usize) -> bool {
    bytes >= PROGRAM && script.is_some_and(|tag| runs(values_of(tag.attributes(), ["type"])[0]))
}

/// Whether a script of this type is run: not data, not a template.
fn runs(kind: Option<&str>) -> bool {
    let kind = kind.unwrap_or_default().trim().to_ascii_lowercase();
    kind.is_empty() || kind == "module" || kind.contains("javascript") || kind.contains("ecmascript")
}

/// Whether an element without content is there to be filled.
fn is_place(tag: &StartTag<'_>) -> bool {
    let name = tag.written_name();
    let is_block = ["div", "main", "section", "article", "body", "tbody", "ul", "ol"];
    let is_block = is_block.iter().any(|block| name.eq_ignore_ascii_case(block));
    let [id, htmx] = values_of(tag.attributes(), ["id", "hx-get"]);
    let is_custom = name.contains('-') && name.starts_with(|first: char| first.is_ascii_alphabetic());
    is_custom || htmx.is_some() || (is_block && id.is_some_and(|id| !id.trim().is_empty()))
}

/// Whether the content of a `<noscript>` says something: it is no picture that counts visitors.
fn speaks(text: &str) -> bool {
    let (mut characters, mut in_tag) = (0, false);
    for character in text.chars() {
        match character {
            '<' => in_tag = true,
            '>' => in_tag = false,
            _ => characters += usize::from(!in_tag && character.is_alphabetic()),
        }
    }
    characters >= 6
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needs(html: &str) -> bool {
        ScriptSigns::of_html(html, "shop.test").need_a_browser()
    }

    const TEXT: &str = "A sentence of some length that a reader reads without any program, and which says something. ";

    #[test]
    fn shells_of_programs_need_a_browser() {
        let shells = [
            // React, Vue, Angular, Nuxt, Svelte, Ember, Web Components, htmx.
            "<title>App</title><noscript>You need to enable JavaScript to run this app.</noscript><div id=root></div>\
             <script src=/static/js/main.js></script>",
            "<div id=app></div><script type=module src=/assets/index-4f.js></script>",
            "<body><app-root></app-root><script src=runtime.js defer></script><script src=main.js></script>",
            "<div id=__nuxt></div><script>window.__NUXT__={}</script><script src=/_nuxt/entry.js></script>",
            "<div id=svelte></div><script type=module src=/build/app.js></script>",
            "<body class=ember-application><script src=//shop.test/assets/vendor.js></script>",
            "<header>Shop, cart, account</header><product-list></product-list><script src=/c.js></script>",
            "<h1>News</h1><div hx-get=/news hx-trigger=load></div><script src=/htmx.min.js></script>",
            "<div id=root><div class=spinner>Loading…</div></div><script src=/main.js></script>",
        ];
        for shell in shells {
            assert!(needs(shell), "{shell}: {:?}", ScriptSigns::of_html(shell, "shop.test"));
        }
        let header = format!("<header>{}</header><main id=app></main><script src=/a.js></script>", TEXT.repeat(10));
        assert!(needs(&header), "the texts around the empty place are not the page");
        let shadow = format!("<x-a><template shadowrootmode=open><p>{}</template></x-a>", TEXT.repeat(3));
        assert!(ScriptSigns::of_html(&shadow, "").text_bytes > 200, "a shadow root is shown");
        let within = format!("<div id=x></div><script>{}</script>", "document.body.append(1);".repeat(30));
        assert!(needs(&within));
    }

    #[test]
    fn pages_with_text_or_without_programs_of_their_own_do_not() {
        let article = format!("<div id=ad></div><h1>Title</h1><p>{}<script src=/a.js></script>", TEXT.repeat(20));
        let pages = [
            article.as_str(),
            "<h1>It works!</h1>",
            "<h1>Closed today</h1><script src=https://counter.test/c.js></script><noscript><img src=/c.gif></noscript>",
            "<p>short</p><script type=application/ld+json src=/d.json></script><script type=text/template>{{x}}</script>",
            "<template><div id=root></div></template><p>short",
        ];
        for page in pages {
            assert!(!needs(page), "{page}: {:?}", ScriptSigns::of_html(page, "shop.test"));
        }
        let spoken = format!(
            "<noscript>Please turn on scripts to comment</noscript><p>{}<script src=/a.js></script>",
            TEXT.repeat(8)
        );
        assert!(!needs(&spoken));
    }
}
