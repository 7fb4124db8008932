//! The values that the algorithm notes give for section D, computed there by an independent program.

use importance::link_value::LinkValue;
use importance::trust::{spam_mass, trusted_weight};

/// PageRank of five pages, and their trust where two of them are trusted.
const PAGERANK: [f64; 5] = [0.358238639137, 0.190622771026, 0.363524008725, 0.038371349392, 0.049243231720];
const TRUST: [f64; 5] = [0.391820925626, 0.166523893391, 0.332228369045, 0.085267645666, 0.024159166272];

const SITES: [(u32, u32); 7] = [(0, 1), (0, 2), (1, 2), (2, 0), (2, 3), (3, 0), (3, 1)];

#[test]
fn link_values_of_a_crawl_that_goes_on_are_those_published_without_the_cap() {
    let mut values = [LinkValue::ZERO; 4];
    let mut pass = || {
        for (from, to) in SITES {
            let given = values[from as usize].given();
            values[to as usize].receive(given, 1);
        }
        values
    };
    for expected in [[4.0, 3.0, 2.0, 2.0], [32.0, 22.0, 13.0, 15.0], [245.0, 168.0, 99.0, 114.0]] {
        for (value, expected) in pass().iter().zip(expected) {
            assert!((value.ln().exp() / expected - 1.0).abs() < 1e-12, "{value:?} {expected}");
        }
    }
    for number in 4..=10_000 {
        let values = pass();
        assert!(values[0] > values[1] && values[1] > values[3] && values[3] > values[2], "{number}: {values:?}");
    }
    let largest = pass()[0];
    assert!(largest.ln() > 20_000.0 && largest.weight(0.0).is_finite(), "{largest:?}");
    assert_eq!(LinkValue::ZERO.weight(0.0), 0.5);
    assert_eq!([0.0, 2.0, -1.0].map(|ln| LinkValue::from_ln(ln).weight(0.0)), [1.0, 3.0, 0.75]);
    // Sites far from the mean keep their order, to the precision that weights are sent with.
    let sent = |ln: f64| LinkValue::from_ln(ln).weight(0.0) as f32;
    for ln in [300.0, 20.0, -20.0, -300.0] {
        assert!(sent(ln + 0.3) / sent(ln) > 1.000_001, "{ln}");
    }
    // What all have gained counts for nothing.
    let (value, growth) = (LinkValue::from_ln(3_f64.ln()), 2_000.0);
    let grown = LinkValue::from_ln(value.ln() + growth);
    assert!((grown.weight(growth) - value.weight(0.0)).abs() < 1e-9);
    assert_eq!(LinkValue::from_ln(f64::NAN), LinkValue::ZERO);
}

#[test]
fn spam_mass_and_the_weight_it_leaves() {
    let near = |got: f64, expected: f64, tolerance: f64| {
        assert!((got - expected).abs() <= tolerance * expected.abs().max(1.0), "got {got}, expected {expected}");
    };
    let expected = [-0.093742781545, 0.126421819937, 0.086089608743, -1.222169587873, 0.509391129950];
    for ((pagerank, trust), expected) in PAGERANK.into_iter().zip(TRUST).zip(expected) {
        near(spam_mass(pagerank, trust, 1.0), expected, 1e-9);
    }
    near(trusted_weight(3.0, -1.2), 3.0, 1e-10);
    near(trusted_weight(126.0, 1.0), 0.1, 1e-10);
    near(trusted_weight(0.5, 0.25), 0.425, 1e-10);
}
