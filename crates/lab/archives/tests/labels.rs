//! The detector beside the labels of the corpora, where these are at hand.

mod corpora;

use archives::{Archive, LabelScore};
use settings::{Layers, Settings};

#[test]
fn meaningful_changes_are_found_and_noise_is_not() {
    let Some(directory) = corpora::content_with("labels.csv.zst") else { return };
    // Reached: precision .886, recall .867 on 4,427 labels with 45 meaningful changes.
    let urls = Settings::from_layers(Layers { files: &[], environment: std::iter::empty(), overrides: &[] })
        .unwrap()
        .urls
        .rules();
    let mut archive = Archive::open(&directory, Some("ota-genai")).unwrap();
    let lines = archive.judge(&urls, &mut |_, _| {}).unwrap();
    let score = LabelScore::of(&archive, &lines).unwrap();
    assert_eq!(score.labelled, 4_427);
    assert!(score.precision() >= 0.86 && score.recall() >= 0.85, "{score:?}");
    assert!(lines.is_sorted_by_key(|line| (line.unix_time, line.page_id)));
}
