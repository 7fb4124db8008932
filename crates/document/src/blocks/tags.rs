//! Reads the tags that have something to say themselves: links, images, fields, and statements about the page.

use crate::attributes::{attribute, values_of};
use crate::blocks::block::BlockElement;
use crate::blocks::facts::{FACT_NAMES, Fact, MODIFIED, ValueKind, json_ld};
use crate::blocks::microdata::{is_description, is_read_property};
use crate::blocks::reader::BlockReader;
use crate::blocks::things::local_name;
use crate::entities;
use crate::hidden_mail::{mail_link, protected_mail};
use crate::markup::{StartTag, TextKind};
use crate::unseen::shown;
use std::borrow::Cow;

/// Before the words that stand for an image, behind a space and its address.
pub const ALT_START: char = '“';
/// Behind the words of [`ALT_START`].
pub const ALT_END: char = '”';
/// The names of `<meta>` elements that are read: the description that other sites show, and the directives for robots.
const HEAD_NAMES: &[&str] = &["description", "robots"];
/// The most links read per page.
const MAX_LINKS: usize = crate::page_text::MAX_LINKS;

/// A link, and the element that it is for the blocks in it.
pub(super) struct LinkElement {
    pub(super) around: usize,
    /// 0 before its first block.
    pub(super) node: usize,
}

impl<'a> BlockReader<'a> {
    /// The reader of a page that was fetched from this address.
    pub(super) fn at(mut self, address: Option<&'a str>) -> Self {
        self.address = address;
        self
    }

    /// Reads the title, of which only the first counts, and structured data.
    pub(super) fn fact_text(&mut self, text: &str, kind: TextKind) {
        if self.expected.take() != Some(kind) {
            return;
        }
        match kind {
            TextKind::RcData if std::mem::take(&mut self.in_field) => self.field(text),
            TextKind::Script => json_ld(text, self.selected, &mut self.facts),
            _ if self.facts.list.iter().any(|fact| fact.name == "title") => {}
            _ => self.facts.add(Fact::unnamed("title", entities::decode(text).into_owned(), self.selected)),
        }
    }

    pub(super) fn image(&mut self, attributes: &str) {
        let [source, later, alt, width, height] = values_of(attributes, ["src", "data-src", "alt", "width", "height"]);
        let is_dot = [width, height].contains(&Some("1")) || [width, height].contains(&Some("0"));
        let is_address = |source: &&str| !source.is_empty() && !source.starts_with("data:");
        let source = source.filter(is_address).or(later).unwrap_or_default();
        let alt = alt.map(str::trim).filter(|alt| !alt.is_empty());
        if is_dot || self.skipped || (source.is_empty() && alt.is_none()) {
            return;
        }
        // The rest of the address selects the size, and the client it is sent to.
        let source = source.split(['?', '#']).next().unwrap_or_default();
        match alt {
            Some(alt) => self.target(&format!("{source} {ALT_START}{alt}{ALT_END}"), true),
            None => self.target(source, true),
        };
    }

    pub(super) fn head(&mut self, tag: StartTag<'_>) {
        match tag.name.as_bytes() {
            b"meta" => {
                self.blocks.robots_meta.take(tag.attributes());
                if !self.selected.ignored {
                    self.meta(tag.attributes());
                }
            }
            b"link" => self.link(tag.attributes()),
            b"base" if self.blocks.base.is_none() => self.blocks.base = attribute(tag.attributes(), "href"),
            _ => {}
        }
    }

    fn meta(&mut self, attributes: &str) {
        let [item, property, name, content] = values_of(attributes, ["itemprop", "property", "name", "content"]);
        let Some(content) = content.map(entities::decode_attribute) else { return };
        let is_fact = |name: &str| {
            let last = name.rsplit(':').next().unwrap_or_default();
            FACT_NAMES.contains(&last) || last == "amount" || self.selected.watched
        };
        let says_modified = |name: &str| name == MODIFIED || name.ends_with(":modified_time");
        if item.or(property).is_some_and(says_modified) {
            self.facts.modified_at(&content);
        }
        if property == Some("og:url") && self.facts.address.is_none() {
            self.facts.address = Some(content.clone().into_owned());
        }
        // Within a thing of RDFa, a property without the prefix of another vocabulary is that of the thing.
        let of_thing = property.filter(|name| self.item > 0 && (!name.contains(':') || name.contains("schema")));
        let of_thing = item.or(of_thing.map(local_name));
        if let Some(property) = of_thing.filter(|property| is_fact(property) || is_description(property)) {
            return self.facts.add_property(property, &content, self.item, self.selected);
        }
        let of_head = name.and_then(|name| HEAD_NAMES.iter().find(|known| known.eq_ignore_ascii_case(name)));
        let named = property.filter(|name| is_fact(name)).or(of_head.copied());
        let named = named.or(name.filter(|_| self.selected.watched));
        if let Some("robots") = named {
            // `index` and `follow` are the defaults.
            let mut limits: Vec<String> = content.split(',').map(|limit| limit.trim().to_lowercase()).collect();
            limits.retain(|limit| limit.starts_with("no") || limit.starts_with("unavailable"));
            limits.sort_unstable();
            if !limits.is_empty() {
                self.facts.add(Fact::named("robots", &limits.join(", "), ValueKind::Text, self.selected));
            }
        } else if let Some(name) = named {
            self.facts.add(Fact::named(name, &content, ValueKind::Text, self.selected));
        }
    }

    /// Reads a property that leads to a value of a vocabulary, or the address that the page says is its own.
    fn link(&mut self, attributes: &str) {
        let [relation, item, property, href] = values_of(attributes, ["rel", "itemprop", "property", "href"]);
        let Some(href) = href.map(entities::decode_attribute) else { return };
        let is_read = |property: &&str| !self.selected.ignored && is_read_property(property);
        match item.or(property).map(local_name).filter(is_read) {
            Some(property) => self.facts.add_property(property, &href, self.item, self.selected),
            None if self.blocks.canonical.is_none() && relation.is_some_and(is_canonical) => {
                self.blocks.canonical = Some(href.into_owned());
            }
            None => {}
        }
    }

    pub(super) fn begin_link(&mut self, attributes: &str) {
        let [Some(href)] = values_of(attributes, ["href"]) else { return };
        let start = self.blocks.hrefs.len();
        let mail = if self.skipped { None } else { mail_link(href, attributes) };
        if self.skipped || !self.target(mail.as_deref().unwrap_or(href), false) {
            return;
        }
        self.leads_elsewhere = true;
        // A heading that links to itself is still a heading, so its text does not count as link text.
        self.in_link = !self.blocks.hrefs[start..].starts_with('#');
        self.link = Some(LinkElement { around: self.node, node: 0 });
    }

    /// Reads the protected mail address of an element instead of its text, which is for browsers without scripts. Returns
    /// false if it has none.
    pub(super) fn protected_mail(&mut self, tag: StartTag<'_>) -> bool {
        let mail = protected_mail(tag.attributes());
        if let Some(mail) = &mail {
            if !self.skipped {
                self.text.push(mail);
            }
            self.open(tag, false, true, "");
        }
        mail.is_some()
    }

    /// The element around a block that begins here. A link that holds blocks is one: it may be a card.
    pub(super) fn around_block(&mut self) -> usize {
        let Some(link) = self.link.as_mut().filter(|link| self.in_link && link.around == self.node) else {
            return self.node;
        };
        if link.node == 0 {
            self.blocks.nodes.push(BlockElement { parent: self.node, is_paragraph: false });
            link.node = self.blocks.nodes.len() - 1;
        }
        link.node
    }

    /// Notes a target of the current block. Returns false if there are too many.
    pub(super) fn target(&mut self, href: &str, is_image: bool) -> bool {
        if self.blocks.href_ends.len() >= MAX_LINKS {
            self.pass_over(href);
            return false;
        }
        let target = entities::decode_attribute(href);
        // The words of an image are text.
        self.blocks.hrefs.push_str(&if is_image { shown(&target) } else { Cow::Borrowed(&*target) });
        self.blocks.href_ends.push(self.blocks.hrefs.len());
        self.blocks.images.push(is_image);
        true
    }
}

fn is_canonical(relation: &str) -> bool {
    entities::decode_attribute(relation).trim().eq_ignore_ascii_case("canonical")
}
