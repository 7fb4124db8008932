/// Whose a fact is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FactOwner {
    /// The page, or the thing that the page is about.
    #[default]
    Main,
    /// A thing beside it: one of a list, a related product, another kind of price.
    Another,
    /// One of several equal things, of which none is the main one.
    Unclear,
    /// A thing that the part of a watch rule names.
    Chosen,
}
