//! Changes and fetches as they are published: their fields as JSON, and the same as rows of tables.

mod change;
mod change_row;
mod change_text;
mod content;
mod digest;
mod failure;
mod fetch;
mod fetch_row;
mod owners;
mod presence;
mod sentence;

pub(crate) use self::change::quoted;
pub use self::change::{CHANGES, ChangeSelection, PublishedChange, change_lines};
pub use self::change_row::ChangeRow;
pub use self::change_text::excerpt;
pub use self::change_text::{ColorOptions, LineStyle, UnitTexts, passed_over_line, watched_lines};
pub use self::content::PublishedContent;
pub use self::digest::{ChangeDigest, DigestGroup, DigestHost, DigestLine};
pub use self::fetch::{BodyForm, FETCHES, FetchLine, unpacked_body};
pub use self::fetch_row::FetchRow;
pub use self::owners::{
    UseSelection, fetch_preferences, refusal_of_models, without_snippets, without_texts_for_models,
};
pub use self::presence::{kind_in_words, presence_lines, stand_in_line};
pub use self::sentence::{headline, sentence};
