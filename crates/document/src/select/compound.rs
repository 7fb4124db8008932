//! The test of one element: its name, id, classes and attributes, and its number among its siblings.

use crate::attributes::Attribute;
use crate::entities::decode_attribute;
use std::borrow::Cow;

pub(super) struct TestedElement<'e, 'a> {
    /// The name as written.
    pub(super) name: &'a str,
    pub(super) attributes: &'e [Attribute<'a>],
    /// Its number among the elements of its parent, from 1.
    pub(super) nth: u32,
}

/// Conditions that one element must satisfy.
#[derive(Clone, Debug, PartialEq, Default)]
pub(super) struct Compound(pub(super) Vec<Condition>);

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Condition {
    Name(String),
    Id(String),
    Class(String),
    Attribute {
        name: String,
        test: ValueTest,
        value: String,
        any_case: bool,
    },
    /// `:nth-child(An+B)`.
    NthChild(i64, i64),
    /// None of these.
    Not(Vec<Compound>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ValueTest {
    Exists,
    Equals,
    HasWord,
    /// The value, or the value and a hyphen at the start: `lang|=en`.
    IsLanguage,
    StartsWith,
    EndsWith,
    Contains,
}

impl Compound {
    pub(super) fn fits(&self, element: &TestedElement<'_, '_>) -> bool {
        self.0.iter().all(|condition| condition.fits(element))
    }
}

impl Condition {
    fn fits(&self, element: &TestedElement<'_, '_>) -> bool {
        match self {
            Self::Name(name) => element.name.eq_ignore_ascii_case(name),
            Self::Id(id) => element.value("id").is_some_and(|value| value == id.as_str()),
            Self::Class(class) => {
                element.value("class").is_some_and(|value| value.split_ascii_whitespace().any(|word| word == class))
            }
            Self::Attribute { name, test, value, any_case } => match element.value(name) {
                None => false,
                Some(theirs) if *any_case => test.fits(&theirs.to_ascii_lowercase(), &value.to_ascii_lowercase()),
                Some(theirs) => test.fits(&theirs, value),
            },
            Self::NthChild(step, first) => {
                let behind = i64::from(element.nth) - first;
                match step {
                    0 => behind == 0,
                    step => behind % step == 0 && behind / step >= 0,
                }
            }
            Self::Not(compounds) => !compounds.iter().any(|compound| compound.fits(element)),
        }
    }
}

impl<'a> TestedElement<'_, 'a> {
    /// The value of an attribute. The first of duplicates counts.
    fn value(&self, name: &str) -> Option<Cow<'a, str>> {
        let found = self.attributes.iter().find(|(attribute, _)| attribute.eq_ignore_ascii_case(name));
        found.map(|(_, value)| decode_attribute(value))
    }
}

impl ValueTest {
    /// Whether a value passes. No value has an empty part.
    fn fits(self, value: &str, part: &str) -> bool {
        match self {
            Self::Exists => true,
            Self::Equals => value == part,
            Self::HasWord => !part.is_empty() && value.split_ascii_whitespace().any(|word| word == part),
            Self::IsLanguage => value.strip_prefix(part).is_some_and(|rest| rest.is_empty() || rest.starts_with('-')),
            Self::StartsWith => !part.is_empty() && value.starts_with(part),
            Self::EndsWith => !part.is_empty() && value.ends_with(part),
            Self::Contains => !part.is_empty() && value.contains(part),
        }
    }
}

/// Attributes of HTML whose values are compared in any case (HTML standard, section 4.16.2).
pub(super) fn has_value_in_any_case(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "accept",
        "accept-charset",
        "align",
        "alink",
        "axis",
        "bgcolor",
        "charset",
        "checked",
        "clear",
        "codetype",
        "color",
        "compact",
        "declare",
        "defer",
        "dir",
        "direction",
        "disabled",
        "enctype",
        "face",
        "frame",
        "hreflang",
        "http-equiv",
        "lang",
        "language",
        "link",
        "media",
        "method",
        "multiple",
        "nohref",
        "noresize",
        "noshade",
        "nowrap",
        "readonly",
        "rel",
        "rev",
        "rules",
        "scope",
        "scrolling",
        "selected",
        "shape",
        "target",
        "text",
        "type",
        "valign",
        "valuetype",
        "vlink",
    ];
    NAMES.contains(&name)
}
