//! Which elements an end tag ends, and which a start tag ends implicitly.

use super::elements::{FORM, OpenElements, P, PageStage, TABLE, TEMPLATE};
use super::names::{Scope, ends_in_scope, is_formatting, is_heading, is_marker, is_special, is_table_part};
use crate::tag_name::TagName;

impl OpenElements<'_, '_> {
    /// Ends the last element if its tag has no content.
    pub(crate) fn end_void(&mut self) {
        if std::mem::take(&mut self.is_void) {
            self.pop_to(self.open.len() - 1);
        }
    }

    /// Takes in an end tag.
    pub(crate) fn end(&mut self, name: TagName) {
        if self.beyond.of(name) > 0 {
            *self.beyond.of_mut(name) -= 1;
            return;
        }
        if self.top().foreign {
            for index in (1..self.open.len()).rev().take_while(|index| self.open[*index].foreign) {
                if self.open[index].name == name {
                    return self.pop_to(index);
                }
            }
        }
        match name.as_bytes() {
            b"html" | b"body" => {}
            b"head" => {
                if self.stage == PageStage::Head {
                    self.pop_to(3);
                }
            }
            b"p" => self.end_paragraph_tag(),
            b"br" => {
                self.begin_body();
                self.is_void = self.begin(name, None, self.open.len() - 1, false);
                self.end_void();
            }
            b"form" => {
                if let Some(index) = self.find(FORM, Scope::Default) {
                    // What is open inside stays open.
                    self.open.remove(index);
                }
            }
            b"li" => self.end_in(name, Scope::Item),
            _ if is_heading(name) => {
                let open = self.open.iter().rposition(|open| is_heading(open.name));
                if let Some(index) = open.filter(|index| self.find(self.open[*index].name, Scope::Default).is_some()) {
                    self.pop_to(index);
                }
            }
            _ if ends_in_scope(name) => self.end_in(name, Scope::Default),
            _ if is_table_part(name) || name == TABLE || name == TEMPLATE => self.end_in(name, Scope::Table),
            _ if is_formatting(name) => self.end_formatting(name),
            _ => self.end_other(name),
        }
    }

    /// An end tag without its paragraph is an empty paragraph.
    fn end_paragraph_tag(&mut self) {
        if self.find(P, Scope::Button).is_some() {
            return self.end_in(P, Scope::Button);
        }
        self.begin_body();
        self.begin(P, None, self.open.len() - 1, false);
        self.end_in(P, Scope::Button);
    }

    /// Ends the item of a list that is open here.
    pub(super) fn end_item(&mut self, is_item: impl Fn(TagName) -> bool) {
        for index in (1..self.open.len()).rev() {
            let name = self.open[index].name;
            if is_item(name) {
                return self.pop_to(index);
            }
            if is_special(name) && !matches!(name.as_bytes(), b"address" | b"div" | b"p") {
                return;
            }
        }
    }

    pub(super) fn end_formatting(&mut self, name: TagName) {
        let Some(listed) = self.formatting.take(name) else { return self.end_other(name) };
        let Some(index) = self.open.iter().rposition(|open| open.serial == listed.serial) else { return };
        match self.open[index + 1..].iter().any(|open| is_special(open.name)) {
            // A block inside goes on without it.
            true => drop(self.open.remove(index)),
            false => self.pop_to(index),
        }
    }

    fn end_other(&mut self, name: TagName) {
        for index in (1..self.open.len()).rev() {
            if self.open[index].name == name {
                return self.pop_to(index);
            }
            if is_special(self.open[index].name) {
                return;
            }
        }
    }

    pub(super) fn end_in(&mut self, name: TagName, scope: Scope) {
        if let Some(index) = self.find(name, scope) {
            self.pop_to(index);
        }
    }

    /// The innermost open element of this name, if it is in scope.
    pub(super) fn find(&self, name: TagName, scope: Scope) -> Option<usize> {
        for (index, open) in self.open.iter().enumerate().skip(1).rev() {
            if open.name == name && !open.foreign {
                return Some(index);
            }
            if scope.ends_at(open.name) {
                return None;
            }
        }
        None
    }

    /// Ends the element of this depth, and those inside.
    pub(super) fn pop_to(&mut self, depth: usize) {
        for ended in self.open.drain(depth.min(self.open.len())..).rev() {
            if is_marker(ended.name) {
                self.formatting.clear_to_marker();
            }
            self.may_renew |= is_formatting(ended.name);
        }
    }
}
