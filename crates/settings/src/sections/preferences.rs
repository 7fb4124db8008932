//! The section `[preferences]`.

use crate::form::Flag;

section! {
    /// Which preferences of owners bind recrawl itself. All are kept with the page and shown, whatever is said here.
    preferences: Preferences {
        /// Whether links of a page that says `nofollow` are left alone.
        nofollow: bool = Flag,
        /// Whether texts of a page that says `nosnippet` are kept out of feeds and deliveries.
        nosnippet: bool = Flag,
    }
}
