//! The built-in catalogue of classes: focuses for a start, in English and Chinese, with seeds.
//!
//! They are lists of words, written by hand and in no order. Their threshold is lower than that of a learned focus,
//! because a page about sport has few of the words of all sports.

use crate::focus::Focus;
use crate::focus_file::read_focus;
use crate::words::Segmenter;

/// The files of the classes, sorted by name.
const FILES: [&str; 19] = [
    include_str!("../classes/agriculture.toml"),
    include_str!("../classes/artificial-intelligence.toml"),
    include_str!("../classes/automobiles.toml"),
    include_str!("../classes/education.toml"),
    include_str!("../classes/energy-and-climate.toml"),
    include_str!("../classes/film.toml"),
    include_str!("../classes/finance.toml"),
    include_str!("../classes/food.toml"),
    include_str!("../classes/games.toml"),
    include_str!("../classes/health.toml"),
    include_str!("../classes/jobs.toml"),
    include_str!("../classes/law.toml"),
    include_str!("../classes/music.toml"),
    include_str!("../classes/politics.toml"),
    include_str!("../classes/real-estate.toml"),
    include_str!("../classes/science.toml"),
    include_str!("../classes/software.toml"),
    include_str!("../classes/sport.toml"),
    include_str!("../classes/travel.toml"),
];

/// All classes, sorted by name.
pub fn classes(segmenter: &dyn Segmenter) -> Vec<Focus> {
    FILES.iter().map(|file| read_focus(file, segmenter).expect("a test reads every class")).collect()
}

pub fn class(name: &str, segmenter: &dyn Segmenter) -> Option<Focus> {
    classes(segmenter).into_iter().find(|class| class.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::IcuSegmenter;

    #[test]
    fn every_class_is_read_and_has_words_of_two_languages_and_seeds() {
        let classes = classes(&IcuSegmenter::default());
        assert!(classes.is_sorted_by(|one, other| one.name < other.name));
        for class in &classes {
            let languages: Vec<&str> = class.languages.keys().map(String::as_str).collect();
            assert_eq!(languages, ["en", "zh"], "{}", class.name);
            assert!(class.languages.values().all(|terms| (24..=60).contains(&terms.vector.len())), "{}", class.name);
            let is_address = |seed: &String| page::CanonicalUrl::parse(seed).is_ok();
            assert!(!class.seeds.is_empty() && class.seeds.iter().all(is_address), "{}", class.name);
        }
        assert!(class("sport", &IcuSegmenter::default()).is_some());
        assert_eq!(class("Sport", &IcuSegmenter::default()), None);
    }
}
