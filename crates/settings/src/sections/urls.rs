//! The section `[urls]`.

use crate::form::{Flag, List, Text};
use page::UrlRules;

/// Most query parameters of a discovered page. More are the work of a crawler trap.
const MAX_PARAMETERS: usize = 32;
/// Most occurrences of one segment in the path of a discovered page.
const MAX_REPEATED_SEGMENTS: usize = 4;

section! {
    /// Rules for different URLs of the same page, and for crawler traps.
    urls: Urls {
        /// Query and path parameters that do not distinguish pages.
        drop_parameters: Vec<String> =
            List(Text("names of parameters, such as [\"utm_*\", \"jsessionid\"]", is_parameter_pattern)),
        /// Whether query parameters are sorted, because their order does not matter.
        sort_parameters: bool = Flag,
        /// Whether consecutive slashes are merged into one.
        merge_slashes: bool = Flag,
    }
}

impl Urls {
    pub fn rules(&self) -> UrlRules {
        UrlRules {
            drop_parameters: self.drop_parameters.clone(),
            sort_parameters: self.sort_parameters,
            merge_slashes: self.merge_slashes,
            max_parameters: MAX_PARAMETERS,
            max_repeated_segments: MAX_REPEATED_SEGMENTS,
        }
    }
}

/// A parameter name, optionally with a star at the end. A lone star would drop everything.
fn is_parameter_pattern(text: &str) -> bool {
    let name = text.strip_suffix('*').unwrap_or(text);
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic() && !b"*&=;/?#%".contains(&byte))
}
