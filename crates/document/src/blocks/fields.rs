//! Reads content that a page shows by attributes: fields and buttons and their state, embedded content, bars that
//! measure.

use crate::attributes::values_of;
use crate::blocks::kinds::TagEffect;
use crate::blocks::reader::BlockReader;
use crate::entities;
use crate::hash::text_hash;
use crate::markup::{StartTag, TextKind};
use crate::tag_name::TagName;
use chance::splitmix64;

/// The states of a control, as text before or behind its label.
const DISABLED: &str = " (disabled)";
const SELECTED: &str = " (selected)";
/// Before the label of a choice that is made.
pub const CHECKED: &str = "(checked)";
/// Written around struck-through text, as in Markdown.
pub const STRUCK: &str = "~~";
/// The kinds of field whose value is not shown, or has no meaning.
const UNSHOWN: &[&str] = &["hidden", "password", "file", "image"];

/// Text read for an element that shows no text of its own.
pub(super) struct Label {
    element: TagName,
    text: String,
    /// The length of the page's text at its start.
    from: usize,
}

impl BlockReader<'_> {
    /// Reads the state of a control, whose block has just begun. The state goes to the end of the text, so that the
    /// place stays the same.
    pub(super) fn control(&mut self, tag: StartTag<'_>) {
        if self.skipped {
            return;
        }
        let attributes = tag.attributes();
        let [disabled, by_role, selected, label, action] =
            values_of(attributes, ["disabled", "aria-disabled", "selected", "aria-label", "action"]);
        let is_disabled = disabled.is_some() || by_role.is_some_and(|said| said.eq_ignore_ascii_case("true"));
        match tag.name.as_bytes() {
            b"form" => {
                if let Some(action) = action.filter(|action| !action.is_empty()) {
                    self.target(action, false);
                    self.flush();
                }
            }
            b"select" | b"fieldset" => {
                if is_disabled {
                    self.control_text(DISABLED);
                }
            }
            _ => {
                let state = if is_disabled { Some(DISABLED) } else { None };
                self.state = if selected.is_some() { Some(SELECTED) } else { state };
                let text = label.map(|label| entities::decode_attribute(label).into_owned());
                self.begin_label(tag.name, text.unwrap_or_default());
            }
        }
    }

    /// Reads an input: its value or placeholder, and its state.
    pub(super) fn input(&mut self, attributes: &str) {
        let [kind, value, placeholder, checked, disabled] =
            values_of(attributes, ["type", "value", "placeholder", "checked", "disabled"]);
        let is_kind = |kinds: &[&str]| kind.is_some_and(|kind| kinds.iter().any(|one| kind.eq_ignore_ascii_case(one)));
        self.blocks.asks_password |= !self.skipped && is_kind(&["password"]);
        if self.skipped || is_kind(UNSHOWN) {
            return;
        }
        if is_kind(&["checkbox", "radio"]) {
            // Its place distinguishes it from others.
            let state = [checked.map_or("", |_| CHECKED), disabled.map_or("", |_| DISABLED)].concat();
            return self.text.push(&format!(" {state} "));
        }
        let shown = value.filter(|value| !value.is_empty()).or(placeholder).unwrap_or_default();
        let state = if disabled.is_some() { DISABLED } else { "" };
        self.control_text(&format!("{}{state}", entities::decode_attribute(shown)));
    }

    /// Reads an element in a line of text.
    pub(super) fn inline_control(&mut self, kind: TagEffect, tag: StartTag<'_>) {
        match kind {
            TagEffect::Struck => self.text.push(STRUCK),
            TagEffect::Media => self.media(tag),
            _ => self.begin_field(tag),
        }
    }

    /// Reads what a field shows by its attributes.
    fn begin_field(&mut self, tag: StartTag<'_>) {
        let attributes = tag.attributes();
        match tag.name.as_bytes() {
            b"time" => {
                if let [Some(time)] = values_of(attributes, ["datetime"]) {
                    self.begin_label(tag.name, time.to_owned());
                }
            }
            b"textarea" => {
                let [placeholder] = values_of(attributes, ["placeholder"]);
                self.control_text(&entities::decode_attribute(placeholder.unwrap_or_default()));
                self.expected = Some(TextKind::RcData);
                self.in_field = true;
            }
            _ => {
                let [value, most] = values_of(attributes, ["value", "max"]);
                if let Some(value) = value {
                    let of = if most.is_some() { " of " } else { "" };
                    self.text.push(&format!(" {value}{of}{} ", most.unwrap_or_default()));
                }
            }
        }
    }

    /// Reads the text of a `textarea`.
    pub(super) fn field(&mut self, text: &str) {
        if !self.skipped {
            self.control_text(&entities::decode(text));
        }
    }

    /// Reads the address of embedded content.
    pub(super) fn media(&mut self, tag: StartTag<'_>) {
        let [source, data, href, width, height] =
            values_of(tag.attributes(), ["src", "data", "href", "width", "height"]);
        let address = match tag.name.as_bytes() {
            b"object" => data,
            b"area" => href,
            _ => source,
        };
        // Media without a size count visitors.
        let is_dot = [width, height].iter().flatten().any(|size| matches!(*size, "0" | "1"));
        let is_address = |address: &&str| !address.is_empty() && !address.starts_with("data:");
        if let Some(address) = address.filter(is_address).filter(|_| !is_dot) {
            self.target(address, false);
        }
    }

    /// Adds a block with the text of a control.
    fn control_text(&mut self, text: &str) {
        self.flush();
        let (path, part) = (self.path, self.part);
        self.path = splitmix64(path ^ text_hash(b"input"));
        self.part.control = true;
        self.text.push(text);
        self.flush();
        (self.path, self.part) = (path, part);
    }

    /// Keeps the label of an element, for the case that it shows no text.
    fn begin_label(&mut self, element: TagName, text: String) {
        self.label = Some(Label { element, text, from: self.text.len() });
    }

    /// Ends an element. If it is the one with a label and has shown no text, the label is its text.
    pub(super) fn end_label(&mut self, element: TagName) {
        let Some(label) = self.label.take_if(|label| label.element == element) else { return };
        if self.text.len() == label.from && !self.skipped {
            self.text.push(&label.text);
            self.text.push(self.state.take().unwrap_or_default());
        }
    }

    /// Appends the state of a control to the text of its block, unless the block has no text.
    pub(super) fn end_state(&mut self, is_empty: bool) {
        if !is_empty && let Some(state) = self.state.take() {
            self.text.push(state);
        }
    }
}
