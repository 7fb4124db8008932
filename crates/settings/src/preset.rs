//! Settings of published systems, as layers between the defaults and the operator's file.

/// A published system whose policy, estimator, ranker and constants are set together. `docs/SYSTEMS.md` says what each is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// The Tianwang cycle: a fixed share for new pages.
    Tianwang,
    /// Univ. Chile: daily batches by gain, served host by host.
    Chile,
    /// WebFountain: buckets and periods by linear programming.
    WebFountain,
    /// Ni, Zou & Ding: sites in ranks 4, 2, 1 by link value.
    SiteRank,
    /// SkyReach: pages in focus.
    SkyReach,
    /// Wen & Lu: two classes of pages.
    Classified,
}

impl Preset {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Tianwang, Self::Chile, Self::WebFountain, Self::SiteRank, Self::SkyReach, Self::Classified];

    /// Its name in commands.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tianwang => "tianwang",
            Self::Chile => "chile",
            Self::WebFountain => "webfountain",
            Self::SiteRank => "site-rank",
            Self::SkyReach => "skyreach",
            Self::Classified => "classified",
        }
    }

    /// Its settings, commented for the operator.
    pub fn toml(self) -> &'static str {
        match self {
            Self::Tianwang => include_str!("../presets/tianwang.toml"),
            Self::Chile => include_str!("../presets/chile.toml"),
            Self::WebFountain => include_str!("../presets/webfountain.toml"),
            Self::SiteRank => include_str!("../presets/site-rank.toml"),
            Self::SkyReach => include_str!("../presets/skyreach.toml"),
            Self::Classified => include_str!("../presets/classified.toml"),
        }
    }
}

impl std::str::FromStr for Preset {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|preset| preset.name() == name).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("there is no preset {name}; the presets are {names}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Layers, Settings};

    #[test]
    fn every_preset_is_valid_and_a_file_stands_above_it() {
        for preset in Preset::ALL {
            assert_eq!(preset.name().parse(), Ok(preset));
            let files =
                [(preset.name(), preset.toml()), ("recrawl.toml", "policy.name = 'live'\nestimator.name = 'sweeps'")];
            for files in [&files[..1], &files[..]] {
                let settings = Settings::from_layers(Layers { files, environment: [], overrides: &[] });
                let settings = settings.unwrap_or_else(|faults| panic!("{}: {faults}", preset.name()));
                let is_live = files.len() == 2;
                assert_eq!(settings.policy.name == "live", is_live, "{}", preset.name());
            }
        }
        let error = "google".parse::<Preset>().unwrap_err();
        assert_eq!(
            error,
            "there is no preset google; the presets are tianwang, chile, webfountain, site-rank, skyreach, classified"
        );
    }
}
