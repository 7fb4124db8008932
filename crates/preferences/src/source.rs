//! Where a preference was stated.

use std::fmt;

/// The statement that a preference comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// `Content-Usage` in robots.txt.
    RobotsContentUsage,
    /// `Content-Signal` in robots.txt.
    RobotsContentSignal,
    /// `License` in robots.txt.
    RobotsLicense,
    /// `/.well-known/tdmrep.json`.
    TdmFile,
    /// The header `Content-Usage`.
    ContentUsage,
    /// The header `Content-Signal`.
    ContentSignal,
    /// The header `X-Robots-Tag`.
    XRobotsTag,
    /// The header `Robots-Tag`.
    RobotsTag,
    /// The headers `tdm-reservation` and `tdm-policy`.
    TdmHeader,
    /// `<meta name=robots>`.
    MetaRobots,
    /// `<meta>` with the crawler's name.
    MetaOwnName,
    /// `<meta name=tdm-reservation>` and `<meta name=tdm-policy>`.
    MetaTdm,
}

/// Where a source is found. What is found there is renewed as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// The host's robots.txt.
    RobotsTxt,
    /// The host's tdmrep.json.
    WellKnown,
    /// The head of the response.
    Header,
    /// The page.
    Page,
}

impl Source {
    pub(crate) const NAMES: [(Self, &'static str); 12] = [
        (Self::RobotsContentUsage, "robots.txt:content-usage"),
        (Self::RobotsContentSignal, "robots.txt:content-signal"),
        (Self::RobotsLicense, "robots.txt:license"),
        (Self::TdmFile, "tdmrep.json"),
        (Self::ContentUsage, "content-usage"),
        (Self::ContentSignal, "content-signal"),
        (Self::XRobotsTag, "x-robots-tag"),
        (Self::RobotsTag, "robots-tag"),
        (Self::TdmHeader, "tdm-reservation"),
        (Self::MetaRobots, "meta:robots"),
        (Self::MetaOwnName, "meta:own-name"),
        (Self::MetaTdm, "meta:tdm-reservation"),
    ];

    /// Its name, as it stands behind a preference.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(source, _)| *source == self).map_or("", |(_, name)| name)
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(_, known)| *known == name).map(|(source, _)| *source)
    }

    pub fn place(self) -> Place {
        match self {
            Self::RobotsContentUsage | Self::RobotsContentSignal | Self::RobotsLicense => Place::RobotsTxt,
            Self::TdmFile => Place::WellKnown,
            Self::ContentUsage | Self::ContentSignal | Self::XRobotsTag | Self::RobotsTag | Self::TdmHeader => {
                Place::Header
            }
            Self::MetaRobots | Self::MetaOwnName | Self::MetaTdm => Place::Page,
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}
