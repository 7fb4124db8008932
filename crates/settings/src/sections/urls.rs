//! The section `[urls]`.

use crate::form::{Count, Flag, List, Text};
use page::UrlRules;

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
        /// Most query parameters of a discovered page.
        max_parameters: usize = Count::new(0, 1_000),
        /// Most occurrences of one segment in the path of a discovered page.
        max_repeated_segments: usize = Count::new(1, 1_000),
    }
}

impl Urls {
    /// These settings as [`UrlRules`].
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

/// A parameter name, optionally with a star at the end. A lone star would drop everything.
fn is_parameter_pattern(text: &str) -> bool {
    let name = text.strip_suffix('*').unwrap_or(text);
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic() && !b"*&=;/?#%".contains(&byte))
}
