//! What the estimator's store holds.

use messages::impl_message;
use serde::{Deserialize, Serialize};
use stream::StoreId;

/// Key: the 16 bytes of a page id. Value: [`PageBelief`]. Absence: never observed.
pub const PAGES: StoreId = StoreId(0);

/// Key: a site, a zero byte, a cell (empty for the whole site). Value: [`GroupBelief`]. Absence: nothing was learned.
pub const GROUPS: StoreId = StoreId(1);

/// A page, as the estimator keeps it. The fields are described in the schema.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct PageBelief {
    pub delta_alpha: f32,
    pub delta_beta_days: f32,
    pub fetches: i64,
    pub observations: i64,
    pub changes: i64,
}

/// A group of pages, as the estimator keeps it. The fields are described in the schema.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct GroupBelief {
    pub changes: f64,
    pub page_days: f64,
}

impl_message!(GroupBelief, "GroupBelief", include_str!("../../../schemas/state/GroupBelief.avsc"));
impl_message!(PageBelief, "PageBelief", include_str!("../../../schemas/state/PageBelief.avsc"));
