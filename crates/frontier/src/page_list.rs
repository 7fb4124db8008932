//! Lists of pages, by what is known of their last looks.

use crate::page_record::ScheduledPage;
use messages::{PageSelection, Verdict};
use page::{CanonicalUrl, HostName, PageId, Timestamp};
use serde::{Deserialize, Serialize};

/// The most bytes of the addresses in one listing, so that it fits into a record.
const MAX_ADDRESS_BYTES: usize = 1 << 20;

/// A page with what is known of its looks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ListedPage {
    pub url: CanonicalUrl,
    /// Whether an operator named it.
    pub is_seed: bool,
    pub discovered_at: Timestamp,
    /// The last look that said something about the content.
    pub last_look_at: Option<Timestamp>,
    pub last_change_at: Option<Timestamp>,
    /// How the last request went, by the name of its kind. `None` if none was answered.
    pub outcome: Option<String>,
    /// The status of the last answer.
    pub status: Option<u16>,
    pub verdict: Option<Verdict>,
    pub fetches: i64,
    pub changes: i64,
    /// The mean of the belief.
    pub change_rate_per_day: f64,
    /// As an operator gave it; 1 if none did.
    pub weight: f64,
    /// The weight that its links give it; 1 if none do.
    pub importance: f64,
}

impl From<&ScheduledPage> for ListedPage {
    fn from(page: &ScheduledPage) -> Self {
        Self {
            url: page.url.clone(),
            is_seed: page.depth == 0,
            discovered_at: page.discovered_at,
            last_look_at: page.last_look_at,
            last_change_at: page.last_change_at,
            outcome: page.last_answer().map(|kind| kind.report().name.to_owned()),
            status: page.status,
            verdict: page.verdict,
            fetches: page.fetches,
            changes: page.changes,
            change_rate_per_day: page.belief.change_rate_per_day(),
            weight: page.weight,
            importance: page.importance,
        }
    }
}

/// Some of the pages of a partition.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PageListing {
    pub pages: Vec<ListedPage>,
    /// The last page that was looked at. `None` if all of the partition were.
    #[serde(with = "in_digits")]
    pub next_after: Option<PageId>,
}

/// Page ids in JSON.
mod in_digits {
    use page::PageId;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(id: &Option<PageId>, serializer: S) -> Result<S::Ok, S::Error> {
        id.map(|id| id.to_string()).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<PageId>, D::Error> {
        let digits = Option::<String>::deserialize(deserializer)?;
        digits.map(|digits| digits.parse().map_err(D::Error::custom)).transpose()
    }
}

impl PageListing {
    /// The selected ones of these pages, which are in the order of their ids.
    pub fn of(pages: impl IntoIterator<Item = (PageId, ScheduledPage)>, selection: &PageSelection) -> Self {
        let mut listing = Self::default();
        let mut address_bytes = 0;
        for (id, page) in pages {
            if is_selected(&page, selection) {
                address_bytes += page.url.as_str().len();
                listing.pages.push(ListedPage::from(&page));
            }
            listing.next_after = Some(id);
            if listing.pages.len() >= usize::try_from(selection.at_most).unwrap_or(0)
                || address_bytes >= MAX_ADDRESS_BYTES
            {
                break;
            }
        }
        listing
    }
}

/// Whether an address has a part, in any case.
fn has_part(address: &str, part: &str) -> bool {
    address.to_lowercase().contains(&part.to_lowercase())
}

/// Whether an encoded page may be selected, by its address. Most are decided by that, without decoding the rest.
pub fn may_be_selected(encoded: &[u8], selection: &PageSelection) -> bool {
    if selection.host.is_none() && selection.address_part.is_none() {
        return true;
    }
    ScheduledPage::address_in(encoded).is_none_or(|address| {
        selection.host.as_ref().is_none_or(|host| address.contains(host.as_str()))
            && selection.address_part.as_ref().is_none_or(|part| has_part(address, part))
    })
}

/// Whether a page has all that the selection asks for.
pub fn is_selected(page: &ScheduledPage, selection: &PageSelection) -> bool {
    let PageSelection { after: _, at_most: _, host, address_part, outcome, verdict, never_fetched } = selection;
    let is_of_kind = |word: &String| {
        let report = page.last_answer().map(|kind| kind.report());
        report.is_some_and(|report| report.name == word || messages::word(&report.class) == *word)
    };
    host.as_ref().is_none_or(|host| HostName::of(&page.url).is_at_or_below(host))
        && address_part.as_ref().is_none_or(|part| has_part(page.url.as_str(), part))
        && outcome.as_ref().is_none_or(is_of_kind)
        && verdict.is_none_or(|verdict| page.verdict == Some(verdict))
        && (!never_fetched || page.last_look_at.is_none())
}
