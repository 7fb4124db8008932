//! Earliest deadline first, against a computed sequence.

use policies::edf::EarliestDeadline;
use revisit::allocate::{self, PageTerms};

fn close(got: f64, expected: f64, tolerance: f64) {
    assert!((got - expected).abs() <= tolerance * expected.abs(), "got {got}, expected {expected}");
}

fn five_equal() -> Vec<PageTerms> {
    [1.0, 2.0, 3.0, 4.0, 5.0].map(PageTerms::new).to_vec()
}

#[test]
fn earliest_deadline_first_serves_the_computed_sequence() {
    let best = allocate::optimal(&five_equal(), 5.0, 0.0);
    let picks: Vec<_> = EarliestDeadline::new(&best.fetch_rates_per_day).take(2000).map(|next| next.page).collect();
    assert_eq!(picks[..20], [1, 2, 0, 3, 1, 2, 0, 3, 1, 2, 0, 3, 1, 2, 0, 3, 1, 2, 0, 3]);
    let counts = [0, 1, 2, 3, 4].map(|page| picks.iter().filter(|&&pick| pick == page).count());
    assert_eq!(counts, [460, 543, 542, 455, 0]);
    close(freshness_of(&picks), 0.3722525147, 1e-9);
}

/// Average freshness of the five equal pages, one served every 0.2 days.
fn freshness_of(picks: &[usize]) -> f64 {
    let (mut last, mut fresh_days) = ([0.0; 5], 0.0);
    let fresh = |page: usize, days: f64| -(-days * (page + 1) as f64).exp_m1() / (page + 1) as f64;
    let end = picks.len() as f64 * 0.2;
    for (slot, &page) in picks.iter().enumerate() {
        let now = (slot + 1) as f64 * 0.2;
        fresh_days += fresh(page, now - last[page]);
        last[page] = now;
    }
    (fresh_days + (0..5).map(|page| fresh(page, end - last[page])).sum::<f64>()) / 5.0 / end
}

#[test]
fn deadlines_do_not_drift() {
    let mut deadlines = EarliestDeadline::with_phases(&[0.5, 0.0, 2.0], |page| if page == 0 { 0.25 } else { 1.0 });
    let first: Vec<_> = deadlines.by_ref().take(5).map(|next| (next.days, next.page)).collect();
    assert_eq!(first, [(0.5, 0), (0.5, 2), (1.0, 2), (1.5, 2), (2.0, 2)]);
    assert_eq!(deadlines.peek().map(|next| (next.days, next.page)), Some((2.5, 0)));
}
