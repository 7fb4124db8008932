//! The section `[urls]`.

use crate::form::{Count, Flag, List, Text};
use page::UrlRules;

section! {
    /// Which addresses are one page, and which lead into a trap.
    urls: Urls {
        /// Query and path parameters that do not make another page.
        drop_parameters: Vec<String> =
            List(Text("names of parameters, such as [\"utm_*\", \"jsessionid\"]", is_parameter_pattern)),
        /// Whether the order of query parameters means nothing.
        sort_parameters: bool = Flag,
        /// Whether several slashes in a row are one.
        merge_slashes: bool = Flag,
        /// The most query parameters of a discovered page.
        max_parameters: usize = Count::new(0, 1_000),
        /// The most times that one segment may stand in the path of a discovered page.
        max_repeated_segments: usize = Count::new(1, 1_000),
    }
}

impl Urls {
    /// The same, to be applied.
    pub fn rules(&self) -> UrlRules {
        UrlRules {
            drop_parameters: self.drop_parameters.clone(),
            sort_parameters: self.sort_parameters,
            merge_slashes: self.merge_slashes,
            max_parameters: self.max_parameters,
            max_repeated_segments: self.max_repeated_segments,
        }
    }
}

/// A name, with a star at its end for any ending; a star alone would drop everything.
fn is_parameter_pattern(text: &str) -> bool {
    let name = text.strip_suffix('*').unwrap_or(text);
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic() && !b"*&=;/?#%".contains(&byte))
}
