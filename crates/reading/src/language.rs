//! Determines the language of a page.

use whatlang::Lang;

/// How much of a text is used for the guess, in bytes. More does not make it more reliable.
const GUESS_BYTES: usize = 8192;
/// The fewest alphabetic characters a text must have for a guess.
const FEWEST_CHARACTERS: usize = 40;

/// The primary subtag of a language tag (BCP 47) in lower case: `de` for `de-CH`, and also for `de_CH`.
pub(crate) fn primary_subtag(tag: &str) -> Option<String> {
    let primary = tag.trim().split(['-', '_', ',', ';', ' ']).next().unwrap_or_default().to_ascii_lowercase();
    let is_language = (2..=3).contains(&primary.len()) && primary.bytes().all(|byte| byte.is_ascii_lowercase());
    (is_language && primary != "und").then_some(primary)
}

/// Guesses the language of a text (ISO 639-1 where there is a code), if reasonably certain.
pub(crate) fn guess(text: &str) -> Option<String> {
    let start = document::prefix(text, GUESS_BYTES);
    if start.chars().filter(|character| character.is_alphabetic()).take(FEWEST_CHARACTERS).count() < FEWEST_CHARACTERS {
        return None;
    }
    let info = whatlang::detect(start).filter(whatlang::Info::is_reliable)?;
    Some(two_characters(info.lang()).unwrap_or(info.lang().code()).to_owned())
}

/// The ISO 639-1 code. Most, but not all, codes of three characters begin with it.
fn two_characters(language: Lang) -> Option<&'static str> {
    Some(match language {
        Lang::Cmn => "zh",
        Lang::Epo => "eo",
        Lang::Jpn => "ja",
        Lang::Bul => "bg",
        Lang::Khm => "km",
        Lang::Spa => "es",
        Lang::Por => "pt",
        Lang::Ben => "bn",
        Lang::Deu => "de",
        Lang::Kat => "ka",
        Lang::Yid => "yi",
        Lang::Pol => "pl",
        Lang::Jav => "jv",
        Lang::Nob => "nb",
        Lang::Swe => "sv",
        Lang::Tur => "tr",
        Lang::Nld => "nl",
        Lang::Ces => "cs",
        Lang::Ell => "el",
        Lang::Mar => "mr",
        Lang::Kan => "kn",
        Lang::Slv => "sl",
        Lang::Srp => "sr",
        Lang::Mkd => "mk",
        Lang::Lit => "lt",
        Lang::Lav => "lv",
        Lang::Est => "et",
        Lang::Pan => "pa",
        Lang::Ind => "id",
        Lang::Pes => "fa",
        Lang::Mal => "ml",
        Lang::Mya => "my",
        Lang::Tuk => "tk",
        Lang::Sna => "sn",
        Lang::Slk => "sk",
        Lang::Tgl => "tl",
        Lang::Hye => "hy",
        Lang::Cym => "cy",
        other => return other.code().get(..2),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_says_its_language() {
        let check = |tag, expected: Option<&str>| assert_eq!(primary_subtag(tag).as_deref(), expected, "{tag}");
        check("de", Some("de"));
        check(" pt-BR ", Some("pt"));
        check("EN_us", Some("en"));
        check("en, fr", Some("en"));
        check("haw", Some("haw"));
        check("und", None);
        check("", None);
        check("x-klingon", None);
        check("english", None);
    }

    #[test]
    fn a_text_of_some_length_shows_its_language() {
        let check = |text, expected: Option<&str>| assert_eq!(guess(text).as_deref(), expected, "{text}");
        check(
            "The quick brown fox jumps over the lazy dog, and nobody in the village was surprised by it.",
            Some("en"),
        );
        check(
            "Wer in der Schule nicht aufpasst, der wird später vielleicht nicht wissen, was das bedeutet.",
            Some("de"),
        );
        check("我们在今天的会议上讨论了这个问题，大家都认为应该尽快采取措施来解决它，因为时间已经不多了。", Some("zh"));
        check("Ο πρωθυπουργός ανακοίνωσε χθες τα νέα μέτρα για την οικονομία της χώρας.", Some("el"));
        check("ok", None);
    }

    #[test]
    fn every_language_has_a_code_of_two_or_three_characters() {
        let codes: Vec<&str> = Lang::all().iter().filter_map(|language| two_characters(*language)).collect();
        assert_eq!(codes.len(), Lang::all().len());
        let distinct: std::collections::BTreeSet<&str> = codes.iter().copied().collect();
        assert_eq!(distinct.len(), codes.len());
    }
}
