//! The detector beside the labels of the corpora, where these are at hand.

use archives::{Archive, LabelScore};
use settings::{Layers, Settings};

#[test]
fn meaningful_changes_are_found_and_noise_is_not() {
    let Some(directory) = corpora::find("content") else { return };
    let urls = Settings::from_layers(Layers { files: &[], environment: std::iter::empty(), overrides: &[] })
        .unwrap()
        .urls
        .rules();
    // Reached: precision .684 (.894 as read), recall .867; and .685 (.916 as read), .949. By the labels alone, precision was .709
    // and .725 before buttons and options that come or go were reported.
    let check = |source: &str, labelled: usize, least: [f64; 3]| {
        let mut archive = Archive::open(&directory, Some(source)).unwrap();
        let lines = archive.judge(&urls, &mut |_, _| {}).unwrap();
        let score = LabelScore::of(&archive, &lines).unwrap();
        assert_eq!(score.labelled, labelled);
        let reached = [score.precision(), score.precision_as_read(), score.recall()];
        assert!(reached.iter().zip(least).all(|(reached, least)| *reached >= least), "{source}: {score:?}");
        assert!(lines.is_sorted_by_key(|line| (line.unix_time, line.page_id)));
    };
    check("ota-genai", 4_427, [0.68, 0.88, 0.86]);
    check("ota-demo", 13_747, [0.68, 0.91, 0.94]);
}
