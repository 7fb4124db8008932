use super::*;
use policies::chile::{Chile, ChileOptions, Exponents, form_quality};

#[test]
fn values_and_gains_are_as_computed() {
    for (quality, form, rate, days, a, b, c, p, value, gain) in [
        (0.5, 1.0, 0.1, 5.0, 1.0, 1.0, 1.0, 0.606530659713, 0.303265329856, 0.196734670144),
        (0.5, 1.0, 0.1, 5.0, 1.0, 1.0, 2.0, 0.606530659713, 0.183939720586, 0.316060279414),
        (0.9, 0.5, 1.0, 2.0, 1.0, 0.5, 1.0, 0.135335283237, 0.0861268468594, 0.550269256209),
        (0.01, 2.0, 0.02, 30.0, 0.5, 1.0, 1.0, 0.548811636094, 0.109762327219, 0.0902376727812),
        (0.3, 1.0, 0.0, 100.0, 1.0, 1.0, 1.0, 1.0, 0.3, 0.0),
    ] {
        let exponents = Exponents { quality: a, form: b, freshness: c };
        let fresh_probability = f64::exp(-rate * days);
        close(fresh_probability, p, 1e-9);
        close(exponents.value(quality, form, fresh_probability), value, 1e-9);
        close(exponents.gain(quality, form, fresh_probability), gain, 1e-9);
    }
}

/// The sequence that sorting by gain gives when each batch is a single fetch, for five pages whose change rates are as
/// 1 to 5, all looked at on day 0. Powers of two make equal gains equal numbers.
#[test]
fn one_fetch_at_a_time_gives_the_reference_sequence() {
    let mut policy = Chile::new(ChileOptions::default());
    let rate = |index: usize| (index + 1) as f64 / 8.0;
    for index in 0..5 {
        policy.insert(slot(index), &page(rate(index as usize)), 0.0);
    }
    let mut picks = Vec::new();
    let mut counts = [0; 5];
    for step in 1..=2000 {
        let now_days = f64::from(step);
        policy.begin(&tick(now_days, 1.0, 1.0));
        let chosen = policy.next(now_days).expect("there is budget for one");
        policy.looked(chosen, &look(now_days, Some(LookOutcome::Changed), rate(chosen.index())));
        picks.push(chosen.index());
        counts[chosen.index()] += 1;
    }
    assert_eq!(picks[..20], [4, 3, 4, 2, 3, 4, 1, 2, 3, 4, 0, 2, 3, 4, 1, 2, 3, 4, 2, 3]);
    assert_eq!(counts, [181, 272, 455, 546, 546]);
}

#[test]
fn a_batch_is_served_host_by_host() {
    let mut policy = Chile::new(ChileOptions::default());
    for index in 0..6 {
        let host = u32::from(index >= 4);
        policy.insert(slot(index), &PolicyPage { host, ..page(f64::from(6 - index)) }, 0.0);
    }
    policy.begin(&tick(1.0, 0.1, 6.0));
    assert_eq!(offers(&mut policy, 1.0, 3), [0, 4, 1], "hosts in turn, each in the order of gains");
    policy.put_back(slot(1));
    assert_eq!(offers(&mut policy, 1.0, 9), [5, 1, 2, 3], "a page put back is the first of its host");
}

#[test]
fn a_copy_that_takes_more_room_gains_less() {
    close(form_quality(0.0), 1.0, 1e-12);
    close(form_quality(65_536.0), 0.5, 1e-12);
    let first = |exponents: Exponents| {
        let mut policy = Chile::new(ChileOptions { exponents, period_days: 1.0 });
        for index in 0..2 {
            policy.insert(slot(index), &page(1.0), 0.0);
        }
        policy.measure(slot(0), 1e6);
        policy.measure(slot(1), 1e3);
        policy.begin(&PolicyTick { now_days: 1.0, days: 1.0, budget_per_day: 1.0 });
        policy.next(1.0).expect("there is a page to fetch").index()
    };
    assert_eq!(first(Exponents::default()), 1);
    assert_eq!(first(Exponents { form: 0.0, ..Exponents::default() }), 0, "equal gains, so the first");
}
