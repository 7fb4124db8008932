//! The tables of the ranker.

use crate::accounts::{AccountColumns, Accounts, AccountsKey};
use importance::opic::{KeptShard, Shard};
use messages::impl_message;
use messages::topics::KeyKind;
use page::SiteKey;
use serde::{Deserialize, Serialize};
use spam::{SiteLinks, SiteSketch};
use stream::{Table, TableKey};

/// Pages that links lead to, or that have links, as blocks and a journal ([`crate::Accounts`]). A page in neither is not
/// known here.
pub const ACCOUNTS: Table<AccountsKey, AccountColumns> = Table::new("accounts").bounded_by(
    "four for each page that `crawl.max_pages` allows the partition, 16,384 at least",
    "new accounts, which take the place of the poorest",
);
/// The totals that the accounts of the partition share: one record, of the key `s` and zero.
pub const TOTALS: Table<TotalsKey, ShardTotals> = Table::new("totals").bounded_by("one record", "nobody");
/// Yield of URL forms: how many of the texts that their pages showed were new. Keys are `p` and the hash of the form.
pub const FORMS: Table<FormKey, FormYield> = Table::new("forms").bounded_by(
    "as many as `ranker/accounts` may be",
    "new forms, each of which takes the place of the least seen of the next eight",
);

/// The value of sites by the links of other sites, where `ranker.importance` is "link-value": `v` and the hash of the site.
pub const SITES: Table<SiteValueKey, SiteValue> = Table::new("sites").bounded_by(
    "as many as `ranker/accounts` may be",
    "new sites, each of which takes the place of the least worth of the next eight",
);

/// The neighbours of sites, where `ranker.spam_shape` is set: `n` and the hash of the site.
pub const NEIGHBOURS: Table<NeighbourKey, NeighbourSites> = Table::new("neighbours")
    .bounded_by("as many as `ranker/accounts` may be", "new sites, each of which takes the place of another in turn");

/// The totals of a partition. The schema describes the fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShardTotals {
    pub purse: f64,
    pub given_per_page: f64,
    pub number: i64,
    pub pages: i64,
    pub noted: f64,
    pub trust_purse: f64,
    pub trust_given_per_page: f64,
    pub trusted_pages: i64,
    pub trust_noted: f64,
}

impl ShardTotals {
    pub(crate) fn of(kept: &KeptShard, trust: &KeptShard) -> Self {
        let whole = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        Self {
            purse: kept.purse,
            given_per_page: kept.given_per_page,
            number: whole(kept.number),
            pages: whole(kept.pages),
            noted: kept.noted,
            trust_purse: trust.purse,
            trust_given_per_page: trust.given_per_page,
            trusted_pages: whole(trust.pages),
            trust_noted: trust.noted,
        }
    }

    /// All cash in the accounts of the partition. The rest is in its purse.
    pub fn cash_of(&self, partition: u32, accounts: &Accounts) -> f64 {
        let shard = Shard::restore(self.kept(partition));
        accounts.pages().map(|(_, page)| page.account.cash(&shard)).sum()
    }

    /// All cash from trusted pages in the accounts of the partition. The rest is in its purse.
    pub fn trust_of(&self, partition: u32, accounts: &Accounts) -> f64 {
        let shard = Shard::restore(self.kept_trust(partition));
        accounts.pages().map(|(_, page)| page.trust.cash(&shard)).sum()
    }

    pub(crate) fn kept_trust(&self, shard: u32) -> KeptShard {
        KeptShard {
            purse: self.trust_purse,
            given_per_page: self.trust_given_per_page,
            pages: self.trusted_pages.max(0).unsigned_abs(),
            noted: self.trust_noted,
            ..self.kept(shard)
        }
    }

    pub(crate) fn kept(&self, shard: u32) -> KeptShard {
        KeptShard {
            shard,
            purse: self.purse,
            given_per_page: self.given_per_page,
            number: self.number.max(0).unsigned_abs(),
            pages: self.pages.max(0).unsigned_abs(),
            noted: self.noted,
        }
    }
}

/// Yield of a URL form: how many of the texts that its pages showed were new. The schema describes the fields.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FormYield {
    pub looks: f64,
    pub new_texts: f64,
    pub last_texts: Vec<i64>,
}

/// The value of a site by the links of other sites. The schema describes the field.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SiteValue {
    pub ln: f64,
}

/// The neighbours of a site in sketches. The schema describes the fields.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NeighbourSites {
    pub linked: Vec<i64>,
    pub linking: Vec<i64>,
}

impl NeighbourSites {
    pub(crate) fn of(links: &SiteLinks) -> Self {
        let kept = |sketch: &SiteSketch| sketch.hashes().iter().map(|hash| hash.cast_signed()).collect();
        Self { linked: kept(&links.linked), linking: kept(&links.linking) }
    }

    /// The sketches as they were kept.
    pub fn links(&self) -> SiteLinks {
        let sketch = |kept: &[i64]| SiteSketch::of(kept.iter().map(|hash| hash.cast_unsigned()));
        SiteLinks { linked: sketch(&self.linked), linking: sketch(&self.linking) }
    }
}

/// The key of the neighbours of a site: the hash of the site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NeighbourKey(pub(crate) u64);

impl NeighbourKey {
    /// The key of this site.
    pub fn of(site: &SiteKey) -> Self {
        Self(document::text_hash(site.as_str().as_bytes()))
    }
}

impl TableKey for NeighbourKey {
    const KIND: KeyKind = KeyKind::Hash;
    type Bytes = [u8; 9];

    fn to_bytes(&self) -> [u8; 9] {
        (b'n', self.0).to_bytes()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (character, hash) = <(u8, u64)>::from_bytes(bytes)?;
        (character == b'n').then_some(Self(hash))
    }
}

/// The key of a site's value: the hash of the site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SiteValueKey(u64);

impl SiteValueKey {
    pub(crate) fn of(site: &SiteKey) -> Self {
        Self(document::text_hash(site.as_str().as_bytes()))
    }
}

impl TableKey for SiteValueKey {
    const KIND: KeyKind = KeyKind::Hash;
    type Bytes = [u8; 9];

    fn to_bytes(&self) -> [u8; 9] {
        (b'v', self.0).to_bytes()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (character, hash) = <(u8, u64)>::from_bytes(bytes)?;
        (character == b'v').then_some(Self(hash))
    }
}

/// The key of the totals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TotalsKey;

impl TableKey for TotalsKey {
    const KIND: KeyKind = KeyKind::Hash;
    type Bytes = [u8; 9];

    fn to_bytes(&self) -> [u8; 9] {
        (b's', 0_u64).to_bytes()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        (<(u8, u64)>::from_bytes(bytes)? == (b's', 0)).then_some(Self)
    }
}

/// The key of a form of addresses: the hash of its host and its form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormKey(pub u64);

impl TableKey for FormKey {
    const KIND: KeyKind = KeyKind::Hash;
    type Bytes = [u8; 9];

    fn to_bytes(&self) -> [u8; 9] {
        (b'p', self.0).to_bytes()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (character, hash) = <(u8, u64)>::from_bytes(bytes)?;
        (character == b'p').then_some(Self(hash))
    }
}

impl_message!(ShardTotals, "ShardTotals", include_str!("../../../schemas/state/ShardTotals.avsc"));
impl_message!(FormYield, "FormYield", include_str!("../../../schemas/state/FormYield.avsc"));
impl_message!(SiteValue, "SiteValue", include_str!("../../../schemas/state/SiteValue.avsc"));
impl_message!(NeighbourSites, "NeighbourSites", include_str!("../../../schemas/state/NeighbourSites.avsc"));
