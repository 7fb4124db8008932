//! `--policy`, `--preset` and `--set`: what takes part in a simulation.

use clap::Args;
use policies::PolicyKind;
use recrawl::CommandFailure;
use recrawl::commands::setting_overrides;
use settings::Preset;
use simulate::contender::{Contender, Options};

/// Published systems, and settings of all that takes part.
#[derive(Args, Debug)]
pub(super) struct SystemArguments {
    /// Published systems with the policy, estimator, prior and constants of their presets, separated by commas, or `all`.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    preset: Vec<String>,
    /// A setting of policies or estimators, such as policy.theta=0.5 or, for the prior, estimator.prior_alpha=1 and
    /// estimator.prior_beta_days=10. May be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    sets: Vec<String>,
}

impl SystemArguments {
    /// Whether a published system is asked for.
    pub(super) fn names_any(&self) -> bool {
        !self.preset.is_empty()
    }

    /// The published systems that are asked for. `all` leaves out those that make no sense here.
    pub(super) fn systems(&self) -> Result<Vec<Contender>, CommandFailure> {
        let overrides = setting_overrides(&self.sets)?;
        let of = |preset| {
            Contender::of_preset(preset, &overrides)
                .map_err(|error| CommandFailure::Input(format!("--preset: {error}")))
        };
        if self.preset.iter().any(|name| name.trim() == "all") {
            return Contender::presets().map(of).collect();
        }
        let mut systems = Vec::new();
        for name in &self.preset {
            let preset = name.trim().parse::<Preset>();
            let system = of(preset.map_err(|error| CommandFailure::Input(format!("--preset: {error}")))?)?;
            if !systems.contains(&system) {
                systems.push(system);
            }
        }
        Ok(systems)
    }

    /// The published system that is asked for, where only one has a place.
    pub(super) fn system(&self) -> Result<Option<Contender>, CommandFailure> {
        match self.systems()?[..] {
            [] => Ok(None),
            [system] => Ok(Some(system)),
            _ => Err(CommandFailure::Input("--preset: one system is compared at a time; give one name".to_owned())),
        }
    }

    /// The options of policies chosen by name. Settings below those that the user has given come first in `below`.
    pub(super) fn options(&self, below: &[(&str, &str)]) -> Result<Options, CommandFailure> {
        let below = below.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        let overrides: Vec<_> = below.chain(setting_overrides(&self.sets)?).collect();
        Options::from_settings(&overrides).map_err(|error| CommandFailure::Input(format!("--set: {error}")))
    }
}

/// Policies by name where systems may take part, too: those given, else the usual ones where no system is asked for.
pub(super) fn policies(
    given: &[String],
    usual: &str,
    systems: &SystemArguments,
) -> Result<(Vec<PolicyKind>, bool), CommandFailure> {
    match (given, systems.names_any()) {
        ([], true) => Ok((Vec::new(), false)),
        ([], false) => super::policies(&usual.split(',').map(ToOwned::to_owned).collect::<Vec<_>>()),
        (given, _) => super::policies(given),
    }
}

/// Name of a row for people: a published system may have the same policy as another row.
pub(super) fn label(policy: &str, preset: Option<&str>) -> String {
    match preset {
        Some(preset) => format!("{policy}, preset {preset}"),
        None => policy.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(preset: &[&str], sets: &[&str]) -> SystemArguments {
        let owned = |words: &[&str]| words.iter().map(ToString::to_string).collect();
        SystemArguments { preset: owned(preset), sets: owned(sets) }
    }

    #[test]
    fn systems_take_the_place_of_the_usual_policies() {
        let none = arguments(&[], &[]);
        assert_eq!(policies(&[], "uniform,live", &none).unwrap().0, [PolicyKind::Uniform, PolicyKind::Live]);
        let chile = arguments(&["chile", "chile"], &[]);
        assert!(policies(&[], "uniform,live", &chile).unwrap().0.is_empty());
        assert_eq!(policies(&["live".to_owned()], "uniform", &chile).unwrap().0, [PolicyKind::Live]);
        assert_eq!(chile.systems().unwrap().len(), 1);
        assert_eq!(arguments(&["all"], &[]).systems().unwrap().len(), 5);
        assert_eq!(label("chile", Some("chile")), "chile, preset chile");
    }

    #[test]
    fn what_cannot_take_part_is_refused_with_the_next_step() {
        for (preset, sets, words) in [
            (&["skyreach"][..], &[][..], "recrawl simulate focus"),
            (&["google"], &[], "the presets are tianwang"),
            (&["chile"], &["policy.name=live"], "their own arguments"),
        ] {
            let error = arguments(preset, sets).systems().unwrap_err();
            assert!(error.status() == 2 && error.to_string().contains(words), "{error}");
        }
        assert!(arguments(&["chile", "tianwang"], &[]).system().unwrap_err().to_string().contains("one name"));
        let theta = |sets: &[&str]| arguments(&[], sets).options(&[("policy.theta", "0")]).unwrap().policy.theta;
        assert_eq!((theta(&[]), theta(&["policy.theta=0.5"])), (0.0, 0.5));
    }
}
