//! The kernels against values computed elsewhere to 25 digits and more.

use proptest::prelude::*;
use revisit::kernels::{self, VisitOrder};

fn close(got: f64, expected: f64, tolerance: f64) {
    assert!((got - expected).abs() <= tolerance * expected.abs(), "got {got}, expected {expected}");
}

#[test]
fn time_averages_have_their_published_values() {
    let check = |r, fresh: [f64; 3], age: [f64; 3]| {
        let orders = [VisitOrder::Fixed, VisitOrder::RandomWithinCycle, VisitOrder::PurelyRandom];
        for ((order, fresh), age) in orders.into_iter().zip(fresh).zip(age) {
            close(kernels::average_freshness(order, r), fresh, 1e-9);
            close(kernels::average_age(order, r), age, 1e-9);
        }
    };
    check(
        0.001,
        [0.999500166625, 0.999416916581, 0.999000999001],
        [0.000166625008332, 0.000249913913883, 0.000999000999001],
    );
    check(0.1, [0.951625819640, 0.944082993937, 0.909090909091], [0.0162581964040, 0.0241632727062, 0.0909090909091]);
    check(0.5, [0.786938680575, 0.761455026031, 0.666666666667], [0.0738773611495, 0.106243385395, 0.333333333333]);
    check(1.0, [0.632120558829, 0.600423599106, 0.5], [0.132120558829, 0.183756932440, 0.5]);
    check(2.0, [0.432332358382, 0.406544365948, 0.333333333333], [0.216166179191, 0.286605516307, 0.666666666667]);
    check(5.0, [0.198652410600, 0.192107443953, 0.166666666667], [0.339730482120, 0.421754822124, 0.833333333333]);
    check(50.0, [0.02, 0.019992, 0.0196078431373], [0.4804, 0.563733173333, 0.980392156863]);
    close(kernels::average_age(VisitOrder::Fixed, 1e-8), 1.6666666625e-9, 1e-9);
    close(kernels::average_age(VisitOrder::Fixed, 1e-4), 1.66662500083e-5, 1e-9);
    close(kernels::average_age(VisitOrder::Fixed, 0.01), 0.00166250831946, 1e-9);
    assert_eq!(kernels::average_freshness(VisitOrder::RandomWithinCycle, 0.0), 1.0);
}

#[test]
fn a_grace_period_forgives_as_computed() {
    let check =
        |rate, interval, grace, expected| close(kernels::grace_freshness(rate, interval, grace), expected, 1e-9);
    check(0.1, 7.0, 1.0, 0.787411948437);
    check(0.5, 7.0, 1.0, 0.414346551895);
    check(1.0, 1.0, 0.0, 0.632120558829);
    check(0.02, 30.0, 7.0, 0.847860590822);
    check(2.0, 10.0, 10.0, 1.0);
}

#[test]
fn crawl_value_kernels_have_their_computed_values() {
    let check = |x, binary, harmonic, age, penalty| {
        close(kernels::binary(x), binary, 1e-9);
        close(kernels::harmonic(x), harmonic, 1e-9);
        close(kernels::age(x), age, 1e-9);
        close(kernels::harmonic_penalty(x), penalty, 1e-9);
    };
    check(0.001, 4.99666791633e-7, 4.99833374992e-7, 3.3320836666e-10, 0.000999750055545);
    check(0.1, 0.00467884016044, 0.00483741803596, 0.000321159839556, 0.0975545303269);
    check(0.5, 0.0902040104310, 0.106530659713, 0.0347959895690, 0.443842079118);
    check(1.0, 0.264241117657, 0.367879441171, 0.235758882343, 0.796599599297);
    check(2.0, 0.593994150290, 1.13533528324, 1.40600584971, 1.31926335617);
    check(5.0, 0.959572318005, 4.006737947, 11.540427682, 2.18780187293);
    check(20.0, 0.999999956716, 19.0000000021, 199.000000043, 3.57294793855);
}

#[test]
fn the_inverse_of_the_binary_kernel_has_its_computed_values() {
    let check = |y, x| close(kernels::inverse_binary(y), x, 1e-9);
    check(1e-6, 0.00141488066148);
    check(0.01, 0.148554740253);
    check(0.1, 0.53181160839);
    check(0.264241117657115, 1.0);
    check(0.5, 1.67834699002);
    check(0.9, 3.88972016987);
    check(0.999, 9.23341347645);
    assert_eq!(kernels::inverse_binary(0.0), 0.0);
    assert_eq!(kernels::inverse_binary(1.0), f64::INFINITY);
    assert_eq!([0.0, 0.05].map(|theta| kernels::inverse_mixed(f64::INFINITY, theta)), [f64::INFINITY; 2]);
    assert_eq!([kernels::inverse_age(0.0), kernels::inverse_age(f64::INFINITY)], [0.0, f64::INFINITY]);
}

#[test]
fn average_harmonic_penalties_have_their_computed_values() {
    let check = |r, even, random| {
        close(kernels::average_harmonic_penalty(VisitOrder::Fixed, r), even, 1e-9);
        close(kernels::average_harmonic_penalty(VisitOrder::PurelyRandom, r), random, 1e-9);
    };
    check(0.1, 0.0491803499673, 0.0953101798043);
    check(0.5, 0.230780759692, 0.405465108108);
    check(1.0, 0.428720158126, std::f64::consts::LN_2);
    check(2.0, 0.751595714551, 1.09861228867);
    check(10.0, 1.97980037487, 2.3978952728);
}

proptest! {
    #[test]
    fn the_inverse_of_the_age_kernel_undoes_it(ln_x in -20.0..20.0f64) {
        close(kernels::inverse_age(kernels::age(ln_x.exp())), ln_x.exp(), 1e-12);
    }

    #[test]
    fn inverses_undo_their_kernels(x in (-25.0..3.0f64).prop_map(f64::exp), theta in 0.0..=1.0f64) {
        for theta in [0.0, 0.01, 0.05, theta, 1.0] {
            // Beyond x = 8 the binary kernel is flat: 1 - y has too few digits left to determine x.
            if theta > 0.0 || x < 8.0 {
                close(kernels::inverse_mixed(kernels::mixed(x, theta), theta), x, if x < 3.0 { 1e-12 } else { 1e-9 });
            }
        }
    }

    #[test]
    fn inverses_of_large_values_are_found_too(y in (-60.0..60.0f64).prop_map(f64::exp), theta in 0.001..=1.0f64) {
        close(kernels::mixed(kernels::inverse_mixed(y, theta), theta), y, 1e-12);
    }

    #[test]
    fn even_spacing_is_the_best_order(r in (-10.0..6.0f64).prop_map(f64::exp)) {
        let fresh = |order| kernels::average_freshness(order, r);
        prop_assert!(fresh(VisitOrder::Fixed) > fresh(VisitOrder::RandomWithinCycle));
        prop_assert!(fresh(VisitOrder::RandomWithinCycle) > fresh(VisitOrder::PurelyRandom));
    }
}
