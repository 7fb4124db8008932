//! A light tree of a page: elements and texts in document order, enough to judge the role of each part.
//!
//! It is not the tree that browsers build. End tags close the nearest element of their name, a few start tags close
//! elements that cannot contain them, and nothing is moved. The tree has bounded depth and takes linear time for any
//! page.

use document::entities;
use document::markup::{StartTag, TextKind, Token};
use document::tag_name::TagName;
use std::borrow::Cow;

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

/// Builds the tree from the tokens of a page.
#[derive(Debug, Default)]
pub(crate) struct TreeBuilder<'a> {
    nodes: Vec<TreeNode<'a>>,
    /// Index and name of each open element.
    open: Vec<(usize, TagName)>,
    /// Whether the last tag was `<title>`, whose text is not part of the page's.
    in_title: bool,
    /// The number of open `<template>`s, whose content is not visible.
    templates: usize,
}

impl<'a> TreeBuilder<'a> {
    pub(crate) fn take(&mut self, token: &Token<'a>) {
        match *token {
            Token::Text(text, kind) => self.text(text, kind),
            Token::Start(tag) => self.start(tag),
            Token::End(name) => self.end(name),
        }
    }

    pub(crate) fn finish(mut self) -> Tree<'a> {
        self.close_to(0);
        Tree { nodes: self.nodes }
    }

    fn text(&mut self, text: &'a str, kind: TextKind) {
        if self.templates > 0 || self.in_title {
            return;
        }
        let text = match kind {
            TextKind::Data => entities::decode(text),
            TextKind::Verbatim => Cow::Borrowed(text),
            // Text in form fields is not main text.
            TextKind::RcData | TextKind::Raw | TextKind::Script => return,
        };
        let end = self.nodes.len() + 1;
        self.nodes.push(TreeNode { content: NodeContent::Text(text), end });
    }

    fn start(&mut self, tag: StartTag<'a>) {
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
        self.close_implied(name);
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
        let inline = is_inline(name.as_bytes());
        for (depth, (_, open)) in self.open.iter().enumerate().rev() {
            if *open == name {
                return self.close_to(depth);
            }
            let open = open.as_bytes();
            if is_cell_or_table(open) && !matches!(name.as_bytes(), b"table" | b"tr" | b"tbody" | b"thead" | b"tfoot")
                || inline && !is_inline(open)
            {
                return;
            }
        }
    }

    /// Closes the elements that cannot contain an element of this name.
    fn close_implied(&mut self, name: &[u8]) {
        let (closes, within): (&[&[u8]], &[&[u8]]) = match name {
            b"li" => (&[b"li"], &[b"ul", b"ol", b"menu"]),
            b"dt" | b"dd" => (&[b"dt", b"dd"], &[b"dl"]),
            b"tr" => (&[b"tr"], &[b"table"]),
            b"td" | b"th" => (&[b"td", b"th"], &[b"table", b"tr"]),
            b"option" => (&[b"option"], &[b"select"]),
            b"a" => (&[b"a"], &[b"td", b"th", b"li", b"div", b"p"]),
            name if !is_inline(name) => (&[b"p"], &[b"td", b"th", b"button", b"div", b"li", b"blockquote"]),
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

fn is_cell_or_table(name: &[u8]) -> bool {
    matches!(name, b"td" | b"th" | b"table" | b"caption")
}

/// Whether an element is laid out within a line of text.
pub(crate) fn is_inline(name: &[u8]) -> bool {
    matches!(
        name,
        b"a" | b"abbr"
            | b"acronym"
            | b"b"
            | b"bdi"
            | b"bdo"
            | b"big"
            | b"br"
            | b"cite"
            | b"code"
            | b"data"
            | b"del"
            | b"dfn"
            | b"em"
            | b"font"
            | b"i"
            | b"img"
            | b"ins"
            | b"kbd"
            | b"label"
            | b"mark"
            | b"nobr"
            | b"q"
            | b"rb"
            | b"rp"
            | b"rt"
            | b"ruby"
            | b"s"
            | b"samp"
            | b"small"
            | b"span"
            | b"strike"
            | b"strong"
            | b"sub"
            | b"sup"
            | b"time"
            | b"tt"
            | b"u"
            | b"var"
            | b"wbr"
    )
}
