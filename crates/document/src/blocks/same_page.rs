//! Whether an address in the data of a page is the page's own.

use crate::blocks::things::{Thing, ThingKey};

/// The addresses of a page: where it was fetched, and those that it declares for itself.
pub(super) struct PageAddresses<'p> {
    /// The address that the page was fetched from.
    pub(super) own: Option<&'p str>,
    pub(super) declared: Vec<&'p str>,
}

/// The parts of an address that decide which page it is.
#[derive(Debug, PartialEq)]
struct AddressParts<'a> {
    /// Empty for an address on the same host.
    host: &'a str,
    path: &'a str,
    query: &'a str,
}

impl PageAddresses<'_> {
    /// Whether the address of a thing is the page's. An address without a query is that of the page with any.
    pub(super) fn include(&self, thing: &Thing) -> bool {
        let urls = thing.names.iter().filter(|(key, _)| matches!(key, ThingKey::Url | ThingKey::Id));
        urls.into_iter().any(|(_, address)| self.is_page(address))
    }

    /// Whether the address of a thing is the one that the page was fetched from, with its query.
    pub(super) fn is_exactly(&self, thing: &Thing) -> bool {
        let Some(own) = self.own.map(AddressParts::of) else { return false };
        let urls = thing.names.iter().filter(|(key, _)| *key == ThingKey::Url);
        urls.into_iter().any(|(_, address)| {
            let address = AddressParts::of(address);
            own.has_page_of(&address) && own.query == address.query
        })
    }

    /// Whether the id of a thing is a part of the page: `https://shop.test/lamp#product`.
    pub(super) fn include_part(&self, thing: &Thing) -> bool {
        let mut ids = thing.names.iter().filter(|(key, _)| *key == ThingKey::Id);
        ids.any(|(_, id)| id.split_once('#').is_some_and(|(page, _)| self.is_page(page)))
    }

    /// Whether an address is the page's. One that is only a part of the page (`#product`) says nothing.
    pub(super) fn is_page(&self, address: &str) -> bool {
        let address = address.trim();
        if address.is_empty() || address.starts_with('#') || address.contains('#') {
            return false;
        }
        let parts = AddressParts::of(address);
        let is_of = |page: &str| {
            let page = AddressParts::of(page);
            page.has_page_of(&parts) && (parts.query.is_empty() || parts.query == page.query)
        };
        self.own.into_iter().chain(self.declared.iter().copied()).any(is_of)
    }
}

impl<'a> AddressParts<'a> {
    fn of(address: &'a str) -> Self {
        let address = address.trim();
        let address = address.split('#').next().unwrap_or_default();
        let (address, query) = address.split_once('?').unwrap_or((address, ""));
        let behind_scheme = address.find("//").map(|at| &address[at + 2..]);
        let (host, path) = match behind_scheme {
            Some(rest) => rest.split_at(rest.find('/').unwrap_or(rest.len())),
            None => ("", address),
        };
        Self { host: host.strip_prefix("www.").unwrap_or(host), path: path.trim_end_matches('/'), query }
    }

    /// Whether the other address, which may lack its host and begin with a directory, has the path of this one.
    fn has_page_of(&self, other: &AddressParts<'_>) -> bool {
        let is_host = other.host.is_empty() || self.host.eq_ignore_ascii_case(other.host);
        let is_path = match (other.host.is_empty(), other.path.starts_with('/')) {
            (true, false) => !other.path.is_empty() && self.path.rsplit('/').next() == Some(other.path),
            (true, true) | (false, _) => self.path == other.path,
        };
        is_host && is_path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_that_of_the_page_however_it_is_written() {
        let page =
            PageAddresses { own: Some("https://www.shop.test/lamps/desk?v=2"), declared: vec!["https://shop.test/d"] };
        let check = |address: &str, expected| assert_eq!(page.is_page(address), expected, "{address}");
        check("https://www.shop.test/lamps/desk?v=2", true);
        check("http://shop.test/lamps/desk/", true);
        check("//SHOP.test/lamps/desk", true);
        check("/lamps/desk", true);
        check("desk", true);
        check("https://shop.test/d", true);
        check("https://shop.test/lamps/desk?v=3", false);
        check("https://shop.test/lamps/clip", false);
        check("https://other.test/lamps/desk", false);
        check("/desk", false);
        check("#product", false);
        check("https://www.shop.test/lamps/desk#product", false);
        check("", false);
        assert!(!PageAddresses { own: None, declared: Vec::new() }.is_page("https://shop.test/lamps/desk"));
    }
}
