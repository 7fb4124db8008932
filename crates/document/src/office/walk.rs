//! The elements and texts of XML, in order.

use quick_xml::Reader;
use quick_xml::escape::{resolve_predefined_entity, unescape};
use quick_xml::events::attributes::Attribute;
use quick_xml::events::{BytesStart, Event};
use std::borrow::Cow;

/// A step through XML. Names are without prefixes.
pub(super) enum Step<'a> {
    Open(&'a str, Attributes<'a>),
    Close(&'a str),
    Text(&'a str),
}

/// The attributes of an element.
pub(super) struct Attributes<'a>(&'a BytesStart<'a>);

impl Attributes<'_> {
    /// The value of an attribute, by its name without prefix.
    pub(super) fn get(&self, name: &str) -> Option<String> {
        self.all(name).next()
    }

    /// The values of the attributes of this name, which may have several prefixes.
    pub(super) fn all(&self, name: &str) -> impl Iterator<Item = String> {
        let attributes = self.0.attributes().flatten();
        let named = attributes.filter(move |attribute| attribute.key.local_name().as_ref() == name.as_bytes());
        named.filter_map(|attribute: Attribute<'_>| {
            let value = std::str::from_utf8(&attribute.value).ok()?;
            Some(unescape(value).map_or_else(|_| value.to_owned(), Cow::into_owned))
        })
    }
}

/// Walks through XML. `None` if it is not well-formed. Entities that the document declares itself are not replaced.
pub(super) fn walk(xml: &str, visit: &mut dyn FnMut(Step<'_>)) -> Option<()> {
    walk_while(xml, &mut |step| {
        visit(step);
        true
    })
}

/// As [`walk`], but ends with `None` once a step is not taken.
pub(super) fn walk_while(xml: &str, visit: &mut dyn FnMut(Step<'_>) -> bool) -> Option<()> {
    let mut reader = Reader::from_str(xml);
    reader.config_mut().expand_empty_elements = true;
    loop {
        let goes_on = match reader.read_event().ok()? {
            Event::Start(element) => {
                let name = element.local_name();
                visit(Step::Open(std::str::from_utf8(name.as_ref()).ok()?, Attributes(&element)))
            }
            Event::End(element) => visit(Step::Close(std::str::from_utf8(element.local_name().as_ref()).ok()?)),
            Event::Text(text) => visit(Step::Text(&text.decode().ok()?)),
            Event::CData(text) => visit(Step::Text(&text.decode().ok()?)),
            Event::GeneralRef(reference) => match reference.resolve_char_ref().ok()? {
                Some(character) => visit(Step::Text(character.encode_utf8(&mut [0; 4]))),
                None => visit(Step::Text(resolve_predefined_entity(&reference.decode().ok()?).unwrap_or_default())),
            },
            Event::Eof => return Some(()),
            _ => true,
        };
        if !goes_on {
            return None;
        }
    }
}

/// The name of the outermost element, without its prefix.
pub(super) fn root_name(xml: &str) -> Option<String> {
    let mut name = None;
    let _ = walk_while(xml, &mut |step| {
        if let Step::Open(root, _) = step {
            name = Some(root.to_owned());
        }
        name.is_none()
    });
    name
}

/// The text of the first element of this name. Empty if the XML has no such element.
pub(super) fn text_of_first(xml: &str, name: &str) -> Option<String> {
    let (mut text, mut is_in, mut is_done) = (String::new(), false, false);
    walk(xml, &mut |step| match step {
        Step::Open(opened, _) if opened == name && !is_done => is_in = true,
        Step::Close(closed) if closed == name => (is_in, is_done) = (false, true),
        Step::Text(part) if is_in => text.push_str(part),
        _ => {}
    })?;
    Some(text)
}
