//! The table of the fetcher: the robots.txt rules of each host, for the day that they hold and for as long as the file
//! cannot be had.

use messages::impl_message;
use messages::topics::KeyKind;
use page::{SiteKey, Timestamp};
use serde::{Deserialize, Serialize};
use stream::{Table, TableKey};

/// Absence: no robots.txt of the host was asked for.
pub const ROBOTS: Table<RobotsKey, HostRobots> = Table::new("robots");

/// Key of a record in [`ROBOTS`]: the site, a zero byte, the name of the host. So the hosts of a site stand together.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RobotsKey(String);

impl RobotsKey {
    pub fn new(site: &SiteKey, host_name: &str) -> Self {
        Self(format!("{site}\0{host_name}"))
    }

    /// The bytes that the keys of all hosts of a site begin with.
    pub fn prefix_of(site: &SiteKey) -> Vec<u8> {
        format!("{site}\0").into_bytes()
    }

    pub fn host_name(&self) -> &str {
        self.0.split_once('\0').map_or("", |(_, name)| name)
    }
}

impl TableKey for RobotsKey {
    const KIND: KeyKind = KeyKind::SiteHost;
    type Bytes = Vec<u8>;

    fn to_bytes(&self) -> Vec<u8> {
        self.0.clone().into_bytes()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        str::from_utf8(bytes).ok().filter(|key| key.contains('\0')).map(|key| Self(key.to_owned()))
    }
}

/// The stored record of a host. The schema describes the fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostRobots {
    pub product_token: String,
    pub origins: Vec<OriginRobots>,
}

/// The robots.txt of one origin of a host. The schema describes the fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OriginRobots {
    pub origin: String,
    pub robots_txt: Option<String>,
    pub allows_all: bool,
    pub expires_at: Timestamp,
    pub unreachable_since: Option<Timestamp>,
}

impl_message!(HostRobots, "HostRobots", include_str!("../../../schemas/state/HostRobots.avsc"));
