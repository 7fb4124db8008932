//! The bases of a document's relative addresses: `xml:base` of the elements around them (XML Base, W3C 2009).

use page::CanonicalUrl;

/// Bytes of resolved addresses beyond a multiple of the document's.
const SPARE_BYTES: usize = 64 << 10;

pub(crate) struct Bases {
    address: Option<CanonicalUrl>,
    /// Bases of open elements, each with the number of elements around its own.
    open: Vec<(usize, CanonicalUrl)>,
    /// Bytes that resolved addresses may still take. A base of 2 KB could stand before each of many short addresses.
    left: usize,
}

impl Bases {
    /// For a document of so many bytes, fetched from this address.
    pub(crate) fn new(address: Option<&CanonicalUrl>, document_bytes: usize) -> Self {
        Self { address: address.cloned(), open: Vec::new(), left: 4 * document_bytes + SPARE_BYTES }
    }

    /// An element with a base opens within `depth` others. A base that cannot be resolved is passed over.
    pub(crate) fn open(&mut self, depth: usize, base: &str) {
        let resolved = match self.open.last().map(|(_, base)| base).or(self.address.as_ref()) {
            Some(around) => around.join(base),
            None => CanonicalUrl::parse(base),
        };
        self.open.extend(resolved.ok().map(|base| (depth, base)));
    }

    /// An element closes within `depth` others.
    pub(crate) fn close(&mut self, depth: usize) {
        self.open.pop_if(|(opened, _)| *opened >= depth);
    }

    /// The address that a reference means, or the reference itself where no base is given. Empty if resolved addresses took too
    /// much room.
    pub(crate) fn resolve(&mut self, reference: &str) -> String {
        let Some((_, base)) = self.open.last() else { return reference.to_owned() };
        let Ok(url) = base.join(reference) else { return reference.to_owned() };
        match self.left.checked_sub(url.as_str().len()) {
            Some(left) => {
                self.left = left;
                url.into()
            }
            None => String::new(),
        }
    }
}
