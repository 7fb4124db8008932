//! Evidence for and against noise.

use super::*;
use proptest::prelude::*;

fn pair(places: &mut Places, differing: &[u32]) -> bool {
    places.prove(&Pair { differing, shapeless: differing, clears_others: true, ..Pair::default() })
}

fn touched(times: usize, touched: &[u32]) -> Places {
    let mut places = Places::default();
    (0..times).for_each(|_| places.advance(touched));
    places
}

#[test]
fn a_place_is_suspect_after_five_touches_and_trusted_again_when_it_was_quiet() {
    for touches in 1..=5 {
        assert_eq!(touched(touches, &[7]).has_suspects(), touches > 4, "{touches}");
    }
    let mut places = touched(5, &[7]);
    pair(&mut places, &[7]);
    assert!(!places.is_proven(7) && places.may_be_noise(&[7]), "one pair may be a coincidence");
    pair(&mut places, &[7]);
    assert!(places.is_proven(7) && !places.is_proven(8));
    for quiet in 1..=13 {
        places.observe_quiet();
        assert_eq!(places.is_proven(7), quiet < 12, "{quiet}");
    }
    (0..22).for_each(|_| places.advance(&[]));
    assert!(places.entries().is_empty());
}

#[test]
fn only_pairs_distinguish_noise_from_what_truly_changes_often() {
    let mut places = touched(4, &[3, 7]);
    assert!(!places.has_suspects());
    places.advance(&[3, 7]);
    assert!(places.has_suspects());
    assert!(pair(&mut places, &[3]), "there is noise");
    assert!(places.has_suspects() && !places.is_proven(7), "noise may show one value twice");
    pair(&mut places, &[3]);
    assert!(!places.has_suspects() && places.is_proven(3) && !places.is_proven(7));
    (0..20).for_each(|_| places.advance(&[3, 7]));
    pair(&mut places, &[7]);
    assert!(!places.is_proven(7), "what was cleared stays so");
    assert_eq!(Places::from_entries(places.entries().to_vec()).as_ref(), Some(&places));
}

#[test]
fn changes_that_fall_between_close_looks_now_and_then_are_no_noise() {
    let mut places = touched(5, &[7]);
    for _ in 0..30 {
        places.advance(&[7]);
        pair(&mut places, &[7]);
        for _ in 0..9 {
            pair(&mut places, &[]);
        }
        assert!(!places.is_proven(7));
    }
}

#[test]
fn a_text_that_differs_in_other_tokens_each_time_is_noise_as_a_whole() {
    let mut places = touched(5, &[7, 8]);
    for _ in 0..2 {
        places.prove(&Pair { differing: &[7, 8], shapeless: &[8], clears_others: true, ..Pair::default() });
    }
    assert!(places.is_proven(7) && !places.is_shapeless(7));
    assert!(places.is_shapeless(8));
}

#[test]
fn there_is_an_end_to_what_is_remembered() {
    let mut places = Places::default();
    places.advance(&(0..1_100).collect::<Vec<_>>());
    places.advance(&[5_000]);
    assert_eq!(places.entries().len(), MAX_PLACES);
    assert!(places.contains(5_000), "the newest stays");
}

proptest! {
    #[test]
    fn what_is_remembered_survives(looks in proptest::collection::vec(proptest::collection::btree_set(0..9_u32, 0..4), 0..40)) {
        let mut places = Places::default();
        for touched in looks {
            places.advance(&touched.into_iter().collect::<Vec<_>>());
        }
        prop_assert_eq!(Places::from_entries(places.entries().to_vec()), Some(places));
    }
}
