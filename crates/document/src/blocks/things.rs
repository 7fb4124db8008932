//! The things that a page states something about: products, their offers, the page itself. All forms of data (JSON-LD,
//! microdata, RDFa) fill the same table.

use crate::stated::folded;
use std::collections::BTreeMap;

/// The most things of a page that are distinguished.
const MAX_THINGS: usize = 4_096;
/// The most steps from a thing to those that it is a part of.
const MAX_STEPS: usize = 64;
/// The longest name, number or address of a thing that is kept.
const MAX_NAME_BYTES: usize = 512;
/// The most names of one thing.
const MAX_NAMES: usize = 16;

/// The form of data that a thing is stated in. Where they contradict each other, the first counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FactSource {
    JsonLd,
    Microdata,
    Rdfa,
    /// `<meta>` of the head.
    Meta,
}

impl FactSource {
    /// Whether elements of the page state it.
    pub(crate) fn is_element(self) -> bool {
        matches!(self, Self::Microdata | Self::Rdfa)
    }
}

/// The kind of a thing, as far as it decides whose a fact is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ThingKind {
    /// Without a type.
    #[default]
    Untyped,
    /// The page itself.
    Page,
    /// Something that is sold, or takes place.
    Product,
    /// An offer, or a part of one.
    Offer,
    /// A list of other things.
    List,
    Other,
}

/// How a thing belongs to the one around it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Bond {
    /// It stands by itself.
    #[default]
    None,
    /// It says what the outer one is or costs: `offers`, `hasVariant`.
    Part,
    /// The specification of a price, which counts where its offer has none.
    Detail,
    /// The page says that it is about this.
    Main,
    /// Another thing: `isRelatedTo`, `itemListElement`, `review`.
    Beside,
}

/// A property that names a thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThingKey {
    /// `sku`, `mpn`, `productID`, `gtin…`.
    Sku,
    Name,
    /// `@id`, `itemid`, `resource`.
    Id,
    Url,
}

#[derive(Clone, Debug)]
pub(crate) struct Thing {
    pub(crate) outer: usize,
    pub(crate) bond: Bond,
    pub(crate) kind: ThingKind,
    pub(crate) source: FactSource,
    pub(crate) names: Vec<(ThingKey, String)>,
    /// The page whose main thing it says that it is; empty if it says so without an address.
    pub(crate) main_of: Option<String>,
    /// Whether it is in a menu, a footer or a box beside the text.
    pub(crate) is_in_frame: bool,
    /// Whether its price is not what it costs: a list price, the price of a unit.
    pub(crate) is_no_price: bool,
    /// Whether the offer is of used goods.
    pub(crate) is_used: bool,
}

/// The things of a page. The first is the page.
#[derive(Clone, Debug, Default)]
pub(crate) struct Things {
    list: Vec<Thing>,
    /// Things that others mention by their id: the outer thing, the bond, the id.
    mentions: Vec<(usize, Bond, String)>,
}

/// Types of things that are sold or take place (schema.org), besides those that end in one of [`PRODUCT_ENDS`].
const PRODUCTS: &[&str] = &[
    "Product",
    "ProductGroup",
    "ProductModel",
    "IndividualProduct",
    "SomeProducts",
    "ProductCollection",
    "Vehicle",
    "Car",
    "Motorcycle",
    "Book",
    "Audiobook",
    "Movie",
    "MusicAlbum",
    "MusicRecording",
    "VideoGame",
    "Course",
    "CourseInstance",
    "Service",
    "Trip",
    "TouristTrip",
    "Flight",
    "BusTrip",
    "TrainTrip",
    "BoatTrip",
    "Accommodation",
    "Apartment",
    "House",
    "HotelRoom",
    "Hotel",
    "Drug",
    "DietarySupplement",
    "MenuItem",
    "Festival",
    "Ticket",
    "Dataset",
    "FinancialProduct",
    "LoanOrCredit",
    "CreditCard",
    "BankAccount",
    "VacationRental",
];
const PRODUCT_ENDS: &[&str] = &["Event", "Application", "Product", "Service"];
const OFFERS: &[&str] = &["Offer", "AggregateOffer", "Demand", "OfferForPurchase", "OfferForLease", "MonetaryAmount"];
const LISTS: &[&str] = &["ItemList", "ListItem", "BreadcrumbList", "OfferCatalog", "DataCatalog", "HowToSection"];
/// Specifications of what is paid besides the price.
const CHARGES: &[&str] = &["DeliveryChargeSpecification", "PaymentChargeSpecification", "OfferShippingDetails"];
/// Kinds of price that are not what a thing costs today.
const OTHER_PRICES: &[&str] = &[
    "ListPrice",
    "SRP",
    "MSRP",
    "RRP",
    "StrikethroughPrice",
    "RegularPrice",
    "InvoicePrice",
    "MinimumAdvertisedPrice",
];
const USED: &[&str] = &["Used", "Refurbished", "Damaged"];

/// The bonds that properties make. All others lead to another thing.
const BONDS: &[(&str, Bond)] = &[
    ("offers", Bond::Part),
    ("offer", Bond::Part),
    ("hasVariant", Bond::Part),
    ("model", Bond::Part),
    ("itemOffered", Bond::Part),
    ("workExample", Bond::Part),
    ("hasCourseInstance", Bond::Part),
    ("priceSpecification", Bond::Detail),
    ("mainEntity", Bond::Main),
    ("mainContentOfPage", Bond::Main),
    ("about", Bond::None),
    ("itemReviewed", Bond::None),
    ("mainEntityOfPage", Bond::None),
    ("@graph", Bond::None),
    ("@list", Bond::None),
    ("@set", Bond::None),
];
/// A name without the address or prefix of its vocabulary: `price` of `schema:price` and `https://schema.org/price`.
pub(crate) fn local_name(name: &str) -> &str {
    let name = name.trim_ascii();
    let end = name.bytes().rposition(|byte| matches!(byte, b'/' | b'#' | b':'));
    end.map_or(name, |end| &name[end + 1..])
}

impl Bond {
    /// The bond that a property makes.
    pub(crate) fn of(property: &str) -> Self {
        let property = local_name(property);
        BONDS.iter().find(|(known, _)| *known == property).map_or(Self::Beside, |(_, bond)| *bond)
    }
}

impl ThingKind {
    fn of(name: &str) -> Self {
        let name = local_name(name);
        let is_in = |names: &[&str]| names.contains(&name);
        match name {
            "" => Self::Untyped,
            // Most things are these.
            "Product" => Self::Product,
            "Offer" => Self::Offer,
            "ListItem" => Self::List,
            name if name.ends_with("Page") || matches!(name, "WebSite" | "RealEstateListing") => Self::Page,
            name if is_in(OFFERS) || name.ends_with("Specification") || is_in(CHARGES) => Self::Offer,
            name if is_in(LISTS) || name.ends_with("List") || name.ends_with("Catalog") => Self::List,
            name if is_in(PRODUCTS) || PRODUCT_ENDS.iter().any(|end| name.ends_with(end)) => Self::Product,
            _ => Self::Other,
        }
    }
}

impl ThingKey {
    /// The key of a name within brackets: `sku` of `fact:price[sku=A1]`.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::of(name).or((name == "id").then_some(Self::Id))
    }

    /// The key of a property that names a thing.
    pub(crate) fn of(property: &str) -> Option<Self> {
        Some(match property {
            "name" => Self::Name,
            "url" => Self::Url,
            "@id" => Self::Id,
            "sku" | "mpn" | "productID" | "isbn" | "identifier" | "serialNumber" => Self::Sku,
            "gtin" | "gtin8" | "gtin12" | "gtin13" | "gtin14" => Self::Sku,
            _ => return None,
        })
    }
}

impl Thing {
    /// A thing without names that belongs to another one by this bond.
    fn within(outer: usize, bond: Bond, source: FactSource) -> Self {
        Self {
            outer,
            bond,
            kind: ThingKind::Untyped,
            source,
            names: Vec::new(),
            main_of: None,
            is_in_frame: false,
            is_no_price: false,
            is_used: false,
        }
    }

    /// Takes in the type.
    pub(crate) fn typed(&mut self, types: &str) {
        for name in types.split_whitespace() {
            let kind = ThingKind::of(name);
            // One type that is sold counts more than others.
            if matches!(self.kind, ThingKind::Untyped | ThingKind::Other) {
                self.kind = kind;
            }
            self.is_no_price |= CHARGES.contains(&local_name(name));
        }
    }

    /// Takes in a property that says which thing it is, or what its price means.
    pub(crate) fn describe(&mut self, property: &str, value: &str) {
        let value = value.trim();
        if let Some(key) = ThingKey::of(property)
            && !value.is_empty()
            && value.len() <= MAX_NAME_BYTES
            && self.names.len() < MAX_NAMES
        {
            self.names.push((key, value.to_owned()));
        }
        match property {
            "priceType" => self.is_no_price |= OTHER_PRICES.contains(&local_name(value)),
            "referenceQuantity" => self.is_no_price = true,
            "itemCondition" => self.is_used |= USED.iter().any(|used| local_name(value).starts_with(used)),
            "mainEntityOfPage" => self.main_of = Some(value.to_owned()),
            _ => {}
        }
    }

    /// The first name of this kind.
    pub(crate) fn name(&self, key: ThingKey) -> Option<&str> {
        self.names.iter().find(|(known, _)| *known == key).map(|(_, name)| name.as_str())
    }

    /// Whether one of its names of this kind is equal to this one, whatever the case and the white space.
    pub(crate) fn is_named(&self, key: ThingKey, name: &str) -> bool {
        let name = folded(name);
        self.names.iter().any(|(known, own)| *known == key && folded(own) == name)
    }
}

impl Things {
    /// Adds a thing. Returns its number; `None` if there are too many.
    pub(crate) fn begin(&mut self, outer: usize, bond: Bond, source: FactSource) -> Option<usize> {
        if self.list.is_empty() {
            self.list.push(Thing { kind: ThingKind::Page, ..Thing::within(0, Bond::None, FactSource::Meta) });
        }
        if self.list.len() >= MAX_THINGS {
            return None;
        }
        self.list.push(Thing::within(outer, bond, source));
        Some(self.list.len() - 1)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(crate) fn get(&self, thing: usize) -> Option<&Thing> {
        self.list.get(thing)
    }

    pub(crate) fn get_mut(&mut self, thing: usize) -> Option<&mut Thing> {
        // The page itself has no names.
        if thing == 0 { None } else { self.list.get_mut(thing) }
    }

    /// Notes that a thing mentions another one by its id.
    pub(crate) fn mention(&mut self, outer: usize, bond: Bond, id: &str) {
        if self.mentions.len() < MAX_THINGS && bond != Bond::None {
            self.mentions.push((outer, bond, id.to_owned()));
        }
    }

    /// Puts things that are mentioned by their id into the things that mention them.
    pub(crate) fn link(&mut self) {
        if self.mentions.is_empty() {
            return;
        }
        let mut by_id = BTreeMap::new();
        for (number, thing) in self.list.iter().enumerate().filter(|(_, thing)| thing.bond == Bond::None) {
            if let Some(id) = thing.name(ThingKey::Id) {
                by_id.entry(id.to_owned()).or_insert(number);
            }
        }
        for (outer, bond, id) in std::mem::take(&mut self.mentions) {
            let Some(found) = by_id.get(&id).copied().filter(|found| self.list[*found].bond == Bond::None) else {
                continue;
            };
            if !self.around(outer).any(|(around, _)| around == found) {
                (self.list[found].outer, self.list[found].bond) = (outer, bond);
            }
        }
    }

    /// The thing and those that it is in, from the innermost to the outermost below the page.
    pub(crate) fn around(&self, thing: usize) -> impl Iterator<Item = (usize, &Thing)> {
        let mut next = thing;
        let steps = std::iter::from_fn(move || {
            let at = next;
            let thing = self.list.get(at).filter(|_| at > 0)?;
            next = thing.outer;
            Some((at, thing))
        });
        steps.take(MAX_STEPS)
    }

    /// The number of things of elements that have a name or number.
    pub(crate) fn named_elements(&self) -> usize {
        self.list.iter().filter(|thing| thing.source.is_element() && thing.short_name().is_some()).count()
    }
}

impl Thing {
    /// The name by which its facts are reported: its own, or else its number.
    pub(crate) fn short_name(&self) -> Option<&str> {
        self.name(ThingKey::Name).or_else(|| self.name(ThingKey::Sku))
    }
}
