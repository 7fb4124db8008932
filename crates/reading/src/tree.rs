//! A light tree of a page: elements and texts in document order, enough to judge the role of each part.
//!
//! It is not the tree that browsers build. End tags close the nearest element of their name, a few start tags close
//! elements that cannot contain them, and nothing is moved. The tree has bounded depth and takes linear time for any
//! page.

use document::entities;
use document::html::is_inline;
use document::markup::{StartTag, TakeTokens, TextKind, Wide, hand_tokens};
use document::tag_name::TagName;
use std::borrow::Cow;
use std::ops::Range;

/// Elements deeper than this become siblings of their parents.
const DEEPEST: usize = 256;

/// The nodes of a page in document order. The descendants of a node follow it, up to its `end`.
#[derive(Debug, Default)]
pub(crate) struct Tree<'a> {
    pub(crate) nodes: Vec<TreeNode<'a>>,
}

#[derive(Debug)]
pub(crate) struct TreeNode<'a> {
    pub(crate) content: NodeContent<'a>,
    /// Index one past the last descendant.
    pub(crate) end: usize,
}

#[derive(Debug)]
pub(crate) enum NodeContent<'a> {
    Element(StartTag<'a>),
    /// Text with references decoded, whitespace as written.
    Text(Cow<'a, str>),
}

impl<'a> Tree<'a> {
    /// The tree of a page.
    pub(crate) fn of(html: &'a str) -> Self {
        let mut tree = TreeBuilder::new(html);
        hand_tokens(html, &mut tree);
        tree.finish()
    }
}

/// Builds the tree from the tokens of a page.
#[derive(Debug, Default)]
pub(crate) struct TreeBuilder<'a> {
    html: &'a str,
    nodes: Vec<TreeNode<'a>>,
    /// Index and name of each open element.
    open: Vec<(usize, TagName)>,
    /// Whether the last tag was `<title>`, whose text is not part of the page's.
    in_title: bool,
    /// The number of open `<template>`s, whose content is not visible.
    templates: usize,
}

impl<'a> TakeTokens<'a> for TreeBuilder<'a> {
    fn text(&mut self, _: impl Wide, place: Range<usize>, kind: TextKind) {
        if self.templates > 0 || self.in_title {
            return;
        }
        let text = match kind {
            TextKind::Data => entities::decode(&self.html[place]),
            TextKind::Verbatim => Cow::Borrowed(&self.html[place]),
            // Text in form fields is not main text.
            TextKind::RcData | TextKind::Raw | TextKind::Script => return,
        };
        let end = self.nodes.len() + 1;
        self.nodes.push(TreeNode { content: NodeContent::Text(text), end });
    }

    fn start(&mut self, _: impl Wide, tag: StartTag<'a>) {
        let name = tag.name.as_bytes();
        self.in_title = name == b"title";
        if self.templates > 0 || name == b"template" {
            self.templates += usize::from(name == b"template");
            return;
        }
        if matches!(name, b"html" | b"head" | b"title" | b"meta" | b"link" | b"script" | b"style") {
            return;
        }
        if name == b"body" {
            self.close_to(0);
            return;
        }
        self.close_implied(tag.name);
        let place = self.nodes.len();
        self.nodes.push(TreeNode { content: NodeContent::Element(tag), end: place + 1 });
        if !tag.name.is_void() && self.open.len() < DEEPEST {
            self.open.push((place, tag.name));
        }
    }

    fn end(&mut self, name: TagName) {
        self.in_title = false;
        if self.templates > 0 {
            self.templates -= usize::from(name.as_bytes() == b"template");
            return;
        }
        let inline = is_inline(name);
        for (depth, (_, open)) in self.open.iter().enumerate().rev() {
            if *open == name {
                return self.close_to(depth);
            }
            let is_in_table = matches!(open.as_bytes(), b"td" | b"th" | b"table" | b"caption");
            if is_in_table && !matches!(name.as_bytes(), b"table" | b"tr" | b"tbody" | b"thead" | b"tfoot")
                || inline && !is_inline(*open)
            {
                return;
            }
        }
    }
}

impl<'a> TreeBuilder<'a> {
    pub(crate) fn new(html: &'a str) -> Self {
        Self { html, ..Self::default() }
    }

    pub(crate) fn finish(mut self) -> Tree<'a> {
        self.close_to(0);
        Tree { nodes: self.nodes }
    }

    /// Closes the elements that cannot contain an element of this name.
    fn close_implied(&mut self, name: TagName) {
        let (closes, within): (&[&[u8]], &[&[u8]]) = match name.as_bytes() {
            b"li" => (&[b"li"], &[b"ul", b"ol", b"menu"]),
            b"dt" | b"dd" => (&[b"dt", b"dd"], &[b"dl"]),
            b"tr" => (&[b"tr"], &[b"table"]),
            b"td" | b"th" => (&[b"td", b"th"], &[b"table", b"tr"]),
            b"option" => (&[b"option"], &[b"select"]),
            b"a" => (&[b"a"], &[b"td", b"th", b"li", b"div", b"p"]),
            _ if !is_inline(name) => (&[b"p"], &[b"td", b"th", b"button", b"div", b"li", b"blockquote"]),
            _ => return,
        };
        for depth in (0..self.open.len()).rev() {
            let open = self.open[depth].1;
            if closes.contains(&open.as_bytes()) {
                return self.close_to(depth);
            }
            if within.contains(&open.as_bytes()) {
                return;
            }
        }
    }

    fn close_to(&mut self, depth: usize) {
        let end = self.nodes.len();
        for (place, _) in self.open.drain(depth..) {
            self.nodes[place].end = end;
        }
    }
}
