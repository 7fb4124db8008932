//! Looks teach a model: its hazards, beliefs and priors.

use change_rate::LookOutcome::{self, ChangeCount, Changed, ChangedAt, Unchanged};
use proptest::prelude::*;
use sweeps::rules::{DATES_REACH_DAYS, FIRST_DATE_WEIGHT, HISTORY_KEPT, LEAD_MOST, LEAD_START, LEVELS, SETTLED_BINS};
use sweeps::{Outlook, OwnEvidence, PagePlace, SweepModel};

/// Three directories of a site of thirty pages.
fn place(i: usize) -> PagePlace {
    PagePlace::of("a.test", "a.test", &format!("/d{}/page{i}.html", i % 3))
}

struct Site {
    model: SweepModel,
    beliefs: Vec<OwnEvidence>,
    seen: Vec<f64>,
}

impl Site {
    fn at(days: f64, pages: usize) -> Self {
        let mut model = SweepModel::starting_at(days);
        (0..pages).for_each(|i| model.insert(&place(i)));
        Self { model, beliefs: vec![OwnEvidence::default(); pages], seen: vec![days; pages] }
    }

    fn look(&mut self, i: usize, at_days: f64, outcome: LookOutcome) -> f64 {
        self.model.advance(at_days, SETTLED_BINS);
        let looked = self.model.look(&place(i), &mut self.beliefs[i], self.seen[i], at_days, outcome);
        self.seen[i] = at_days;
        looked.unchanged_probability
    }

    /// A look, or a page's first if it gives a date.
    fn step(&mut self, i: usize, at_days: f64, outcome: LookOutcome) -> f64 {
        match outcome {
            ChangedAt { age_days } if self.beliefs[i] == OwnEvidence::default() => {
                self.model.advance(at_days, SETTLED_BINS);
                self.model.first_look(&place(i), &mut self.beliefs[i], at_days, 10.0 * age_days);
                self.seen[i] = at_days;
                age_days
            }
            outcome => self.look(i, at_days, outcome),
        }
    }

    fn site_hazard(&self, from: f64, to: f64) -> f64 {
        self.model.outlook().group(place(0).site).expect("thirty pages make a site").hazard.between(from, to)
    }
}

#[test]
fn a_page_found_changed_raises_its_siblings_and_one_found_unchanged_lowers_them() {
    for start in [0.0, 20_000.0] {
        let mut site = Site::at(start, 30);
        let before = site.look(0, start + 10.0, Unchanged);
        // Unchanged: the ten days are less likely to have seen a sweep.
        let quiet = site.site_hazard(start, start + 10.0);
        let expected = site.look(1, start + 10.0, Changed);
        assert!(expected > before, "{expected} after a look that found nothing, {before} before");
        let raised = site.site_hazard(start, start + 10.0);
        assert!(raised > 5.0 * quiet, "{raised} against {quiet}");
        // Ten more pages found changed make a sweep certain; its day cannot be determined yet.
        for i in 2..12 {
            site.look(i, start + 10.6, Changed);
        }
        let swept = site.site_hazard(start, start + 11.0);
        assert!(swept > 1.0 && swept > raised, "{swept}");
        // A page seen unchanged until day 9 says it was after that.
        let (early, late) = (site.site_hazard(start, start + 9.0), site.site_hazard(start + 9.0, start + 11.0));
        let mut belief = OwnEvidence::default();
        site.model.look(&place(12), &mut belief, start, start + 9.0, Unchanged);
        assert!(site.site_hazard(start, start + 9.0) < 0.7 * early);
        assert!(site.site_hazard(start + 9.0, start + 11.0) > 0.999 * late);
    }
}

#[test]
fn what_a_sweep_explains_is_not_held_against_the_page() {
    let mut site = Site::at(0.0, 30);
    assert!(site.model.outlook().lead(place(0).site) == LEAD_START && site.model.outlook().trust(1) < 0.2);
    for i in 0..30 {
        site.look(i, 5.0 + 0.01 * i as f64, Changed);
    }
    let [first, last] = [0, 29].map(|i: usize| site.beliefs[i]);
    assert!(first.own.delta_alpha > 10.0 * last.own.delta_alpha, "{first:?} {last:?}");
    // The plain belief knows of no sweep.
    assert!((first.plain.delta_alpha / last.plain.delta_alpha - 1.0).abs() < 0.01);
    assert!(site.model.outlook().lead(place(0).site) == LEAD_MOST);
    assert!(site.model.outlook().trust(place(0).site) > 0.95);
}

#[test]
fn a_change_time_that_can_be_trusted_is_a_change_and_then_none() {
    let (mut reported, mut split) = (Site::at(0.0, 30), Site::at(0.0, 30));
    reported.look(0, 10.0, ChangedAt { age_days: 2.5 });
    split.model.advance(10.0, SETTLED_BINS);
    split.model.look(&place(0), &mut split.beliefs[0], 6.5, 7.5, Changed);
    split.model.look(&place(0), &mut split.beliefs[0], 7.5, 10.0, Unchanged);
    assert_eq!(reported.beliefs[0], split.beliefs[0]);
    assert_eq!(reported.site_hazard(0.0, 10.0), split.site_hazard(0.0, 10.0));
    assert!(reported.site_hazard(6.0, 8.0) > 10.0 * reported.site_hazard(0.0, 6.0));
    // A count of changes is a change.
    let (mut counted, mut seen) = (Site::at(0.0, 30), Site::at(0.0, 30));
    counted.look(0, 10.0, ChangeCount(3));
    seen.look(0, 10.0, Changed);
    assert_eq!(counted.site_hazard(0.0, 10.0), seen.site_hazard(0.0, 10.0));
}

#[test]
fn pages_of_one_age_report_at_their_first_look_of_a_past_sweep() {
    let (mut swept, mut mixed) = (Site::at(1000.0, 30), Site::at(1000.0, 30));
    let per_day = |site: &Site| site.model.outlook().group(place(0).site).expect("a site").hazard.per_day();
    for i in 0..30 {
        swept.model.first_look(&place(i), &mut swept.beliefs[i], 1000.0, 10.25);
        mixed.model.first_look(&place(i), &mut mixed.beliefs[i], 1000.0, 1.5 + i as f64);
    }
    assert!(swept.site_hazard(989.0, 990.0) > 1.0, "{}", swept.site_hazard(989.0, 990.0));
    assert!(swept.site_hazard(991.0, 1000.0) < 0.01 && mixed.site_hazard(989.0, 990.0) < 0.2);
    assert!(swept.model.outlook().lead(place(0).site) > 2.0);
    // The sweep explains the change of a page that is seen later, so its own rate stays low.
    let rate = |belief: &OwnEvidence| belief.own.delta_alpha;
    assert!(rate(&swept.beliefs[29]) < 0.1 * rate(&mixed.beliefs[29]), "{:?}", swept.beliefs[29]);
    // Sweeps are expected more often, until quiet days are better evidence.
    let before = per_day(&swept);
    swept.model.advance(1001.0, SETTLED_BINS);
    let reported = per_day(&swept);
    swept.seen.fill(1000.0);
    for day in 1..100 {
        swept.look(day % 30, 1000.0 + day as f64, Unchanged);
    }
    let after = per_day(&swept);
    assert!(reported > 3.0 * before && after < before, "{before} {reported} {after}");
}

#[test]
fn an_old_date_says_unchanged_and_none_at_all_says_nothing() {
    let mut site = Site::at(1000.0, 30);
    let mut old = OwnEvidence::default();
    site.model.first_look(&place(0), &mut old, 1000.0, 3000.0);
    for evidence in [old.own, old.plain] {
        assert_eq!(
            (evidence.delta_alpha, f64::from(evidence.delta_beta_days)),
            (0.0, FIRST_DATE_WEIGHT * DATES_REACH_DAYS)
        );
    }
    let before = site.site_hazard(0.0, 2000.0);
    for age_days in [0.0, -1.0, f64::NAN, f64::NEG_INFINITY] {
        let mut belief = OwnEvidence::default();
        site.model.first_look(&place(1), &mut belief, 1000.0, age_days);
        assert_eq!(belief, OwnEvidence::default());
    }
    assert_eq!(site.site_hazard(0.0, 2000.0), before);
    // Nor does a date after the look, or one of a look that has no time.
    for (at_days, age_days) in [(1000.0, f64::INFINITY), (f64::NAN, 1.0), (1e300, 1e300), (-1e300, 5.0)] {
        let mut belief = OwnEvidence::default();
        site.model.first_look(&place(2), &mut belief, at_days, age_days);
        assert!(belief.own.delta_beta_days.is_finite() && site.site_hazard(0.0, 2000.0).is_finite());
    }
}

#[test]
fn a_group_swept_often_is_expected_to_be_swept_again() {
    let (mut monthly, mut quiet) = (Site::at(0.0, 30), Site::at(0.0, 30));
    for day in 1..200 {
        let i = day % 30;
        monthly.look(i, day as f64, if day % 30 < 2 { Changed } else { Unchanged });
        quiet.look(i, day as f64, Unchanged);
        for j in 0..if day % 30 == 0 { 30 } else { 0 } {
            monthly.look(j, day as f64 + 0.5, Changed);
        }
    }
    let per_day = |site: &Site| site.model.outlook().group(place(0).site).expect("a site").hazard.per_day();
    assert!(per_day(&monthly) > 5.0 * per_day(&quiet), "{} {}", per_day(&monthly), per_day(&quiet));
    // Beyond the last bin the hazard grows by that.
    let ahead = monthly.site_hazard(300.0, 310.0);
    assert!((ahead / (10.0 * per_day(&monthly)) - 1.0).abs() < 1e-3);
}

#[test]
fn priors_follow_the_cell_and_a_history_counts_in_part() {
    let mut site = Site::at(0.0, 30);
    for day in 1..100 {
        for i in 0..30 {
            // The pages of the first directory change every few days, each on its own.
            let changed = i % 3 == 0 && (day * 7 + i * 13) % 10 == 0;
            site.look(i, day as f64 + i as f64 / 100.0, if changed { Changed } else { Unchanged });
        }
    }
    let (busy, still) = (site.model.outlook().priors(place(0).cell), site.model.outlook().priors(place(1).cell));
    assert!(still.plain_beta_days > 8.0 * busy.plain_beta_days, "{still:?} {busy:?}");
    let state = site.model.cell_state(place(0).cell).expect("known");
    let lead = site.model.outlook().lead(place(0).site) - LEAD_START;
    site.model.temper(HISTORY_KEPT, 1);
    let kept = site.model.outlook().lead(place(0).site) - LEAD_START;
    assert!(lead != 0.0 && (kept / lead - HISTORY_KEPT).abs() < 1e-6, "{kept} of {lead}");
    let halved = site.model.cell_state(place(0).cell).expect("known");
    assert_eq!(halved.plain.changes, 0.5 * state.plain.changes);
    assert_eq!(halved.own.page_days, 0.5 * state.own.page_days);
}

#[test]
fn looks_in_any_order_of_any_length_do_no_harm() {
    let mut site = Site::at(100.0, 30);
    let nasty = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1e300, 1e300, 0.0, 99.0, 100.0, 100.5, 1e9];
    for (k, from) in nasty.into_iter().enumerate() {
        for to in nasty {
            for outcome in [Unchanged, Changed, ChangedAt { age_days: from }, ChangeCount(0)] {
                let looked = site.model.look(&place(k), &mut site.beliefs[k], from, to, outcome);
                assert!((0.0..=1.0).contains(&looked.unchanged_probability), "{from} to {to}: {looked:?}");
            }
        }
        // A clock that steps forward by years, and back.
        site.model.advance(from, SETTLED_BINS);
    }
    let outlook = site.model.outlook();
    for group in (0..outlook.group_count() as u32).filter_map(|number| outlook.group_at(number)) {
        assert!(group.hazard.totals().iter().all(|total| total.is_finite()));
    }
    for belief in &site.beliefs {
        assert!(
            [belief.own, belief.plain].iter().all(|state| state.delta_alpha >= 0.0 && state.delta_beta_days >= 0.0)
        );
        assert!(belief.own.delta_beta_days.is_finite() && belief.plain.delta_alpha.is_finite());
    }
}

/// A look of a random history: page, days since the last step, outcome.
fn steps() -> impl Strategy<Value = Vec<(usize, f64, LookOutcome)>> {
    let outcome = prop_oneof![
        3 => Just(Unchanged),
        2 => Just(Changed),
        1 => (0.0..20.0f64).prop_map(|age_days| ChangedAt { age_days }),
    ];
    prop::collection::vec((0..24_usize, 0.0..4.0f64, outcome), 1..120)
}

fn assert_same(reported: &Outlook, known: &Outlook) -> Result<(), TestCaseError> {
    prop_assert_eq!(reported.group_count(), known.group_count());
    for number in 0..known.group_count() as u32 {
        let group = known.group_at(number).expect("below the count");
        prop_assert_eq!(Some(group), reported.group(group.group));
    }
    for i in 0..24 {
        prop_assert_eq!(reported.priors(place(i).cell), known.priors(place(i).cell));
        prop_assert_eq!(reported.lead(place(i).site), known.lead(place(i).site));
        prop_assert_eq!(reported.groups_of(&place(i)), known.groups_of(&place(i)));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn rows_stay_probabilities_and_totals_never_fall(steps in steps(), leap in 0.0..200.0f64) {
        let mut site = Site::at(50.0, 24);
        let mut now = 50.0;
        for (k, (page, days, outcome)) in steps.into_iter().enumerate() {
            now += if k == 20 { leap } else { days };
            site.step(page, now, outcome);
        }
        let outlook = site.model.outlook();
        for number in 0..outlook.group_count() as u32 {
            let group = outlook.group_at(number).expect("below the count");
            let state = site.model.group_state(group.group).expect("it has a calendar");
            for row in state.rows.chunks(LEVELS) {
                prop_assert!(row.iter().all(|p| (0.0..=1.0).contains(p)));
                prop_assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-5);
            }
            prop_assert!((state.usual.iter().sum::<f32>() - 1.0).abs() < 1e-4);
            prop_assert!(group.hazard.totals().windows(2).all(|pair| pair[0] <= pair[1]));
            prop_assert!(group.hazard.per_day() >= 0.0);
            prop_assert_eq!(group.hazard.end_bin(), site.model.today() + 1);
            let (a, b) = (now - 30.0, now + 30.0);
            let halves = group.hazard.between(a, now) + group.hazard.between(now, b);
            prop_assert!((group.hazard.between(a, b) - halves).abs() < 1e-9);
        }
    }

    #[test]
    fn an_outlook_reported_of_changes_is_the_models_own(steps in steps(), every in 1..30_usize) {
        let mut site = Site::at(7.0, 24);
        let mut reported = Outlook::default();
        let mut now = 7.0;
        for (k, (page, days, outcome)) in steps.into_iter().enumerate() {
            now += days;
            site.step(page, now, outcome);
            if k % every == 0 {
                // What matters little comes later.
                reported.apply(&site.model.take_significant_changes()).expect("sound");
            }
            if k % (3 * every) == 0 {
                reported.apply(&site.model.take_changes()).expect("sound");
                assert_same(&reported, site.model.outlook())?;
            }
        }
        reported.apply(&site.model.take_changes()).expect("sound");
        assert_same(&reported, site.model.outlook())?;
        prop_assert!(site.model.take_changes().is_empty());
    }

    #[test]
    fn a_restored_model_goes_on_as_before(steps in steps(), cut in 0..120_usize) {
        let mut site = Site::at(7.0, 24);
        let mut now = 7.0;
        for (k, (page, days, outcome)) in steps.into_iter().enumerate() {
            now += days;
            if k == cut {
                let mut restored = SweepModel::starting_at(0.0);
                restored.restore_today(site.model.today());
                for i in 0..24 {
                    restored.restore_sizes(&place(i).groups.map(|group| (group, 1)));
                    let cell = place(i).cell;
                    let order = site.model.cell_order(cell).expect("known");
                    restored.restore_cell(&site.model.cell_state(cell).expect("known"), order).expect("sound");
                }
                if let Some(state) = site.model.site_state(place(0).site) {
                    restored.restore_site(&state).expect("sound");
                }
                let outlook = site.model.outlook();
                for group in (0..outlook.group_count() as u32).filter_map(|number| outlook.group_at(number)) {
                    let state = site.model.group_state(group.group).expect("it has a calendar");
                    restored.restore_group(state).expect("sound");
                }
                let mut twin = Site { model: restored, beliefs: site.beliefs.clone(), seen: site.seen.clone() };
                prop_assert_eq!(twin.step(page, now, outcome), site.step(page, now, outcome));
                assert_same(twin.model.outlook(), site.model.outlook())?;
                site = twin;
            } else {
                site.step(page, now, outcome);
            }
        }
    }
}

#[test]
fn states_that_cannot_be_are_refused_by_name() {
    let mut site = Site::at(0.0, 30);
    site.look(0, 3.0, Changed);
    let sound = site.model.group_state(place(0).site).expect("a site");
    let mut model = SweepModel::starting_at(0.0);
    assert!(model.restore_group(sound.clone()).is_ok());
    let broken = [
        sweeps::GroupState { last_bin: -5, ..sound.clone() },
        sweeps::GroupState { begun_bin: 9, ..sound.clone() },
        sweeps::GroupState { rows: vec![0.5; LEVELS], ..sound.clone() },
        sweeps::GroupState { settled_bins: f64::NAN, ..sound.clone() },
        sweeps::GroupState { hazard_totals: vec![1.0, 0.0], ..sound.clone() },
        sweeps::GroupState { per_day: -1.0, ..sound.clone() },
    ];
    for state in broken {
        let problem = model.restore_group(state).expect_err("broken").to_string();
        assert!(problem.starts_with("state of group ") && problem.contains(": its "), "{problem}");
    }
    for lead in [f32::NAN, LEAD_MOST as f32 + 0.1] {
        assert!(model.restore_site(&sweeps::SiteState { site: 1, lead }).is_err());
    }
    let cell = sweeps::CellState {
        priors: sweeps::CellPriors { own_beta_days: 0.0, plain_beta_days: 1.0 },
        ..site.model.cell_state(place(0).cell).expect("known")
    };
    assert!(model.restore_cell(&cell, 0).is_err());
    // Changes too.
    let mut changes = site.model.take_changes();
    changes.groups[0].totals[0] = f32::INFINITY;
    changes.sites.iter_mut().for_each(|change| change.lead = f32::NAN);
    let mut outlook = Outlook::default();
    assert!(outlook.apply(&changes).is_err());
    assert_eq!(outlook.group_count(), changes.groups.len() - 1);
}
