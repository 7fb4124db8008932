//! The words in an image's address. The rest is named by the machine that serves it: sizes, versions, content hashes.

use chance::splitmix64;
use document::blocks::ALT_START;
use document::text_hash;

/// The longest run of digits that counts people, products or years.
const MAX_DIGITS: usize = 6;
/// The fewest lower-case characters of a word that distinguishes one image from another.
const MIN_WORD_CHARACTERS: usize = 3;

/// A hash of the words that distinguish one image from another: the words and numbers of the last part of its address, and its
/// alternative text. `None` if there are no words.
pub(crate) fn image_words(image: &str) -> Option<u64> {
    let Some((source, alt)) = image.split_once(ALT_START) else { return words_of_address(image) };
    let alt = text_hash(alt.as_bytes());
    Some(words_of_address(source.trim_end()).map_or(alt, |words| splitmix64(alt ^ words)))
}

fn words_of_address(source: &str) -> Option<u64> {
    let file = source.rsplit('/').find(|part| !part.is_empty())?;
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    let (mut hash, mut has_word) = (0, false);
    for piece in stem.split(|character: char| !character.is_alphanumeric()).filter(|piece| !piece.is_empty()) {
        let small_characters = small_characters_of_word(piece);
        if small_characters.is_some() || is_number(piece) {
            has_word |= small_characters.is_some_and(|count| count >= MIN_WORD_CHARACTERS);
            hash = splitmix64(hash ^ text_hash(piece.as_bytes()));
        }
    }
    has_word.then_some(hash)
}

fn is_number(piece: &str) -> bool {
    piece.len() <= MAX_DIGITS && piece.bytes().all(|byte| byte.is_ascii_digit())
}

/// The number of lower-case characters, if the piece is a word: alphabetic characters in one case or in camel case, with a
/// short number behind at most.
fn small_characters_of_word(piece: &str) -> Option<usize> {
    let characters = piece.trim_end_matches(|character: char| character.is_ascii_digit());
    let is_short = piece.len() - characters.len() <= MAX_DIGITS;
    let (mut all, mut upper, mut small, mut has_digit) = (0, 0, 0, false);
    for character in characters.chars() {
        all += 1;
        upper += usize::from(character.is_uppercase());
        small += usize::from(character.is_lowercase());
        has_digit |= character.is_ascii_digit();
    }
    let lower = all - upper;
    // Hashes are hexadecimal, or mix their cases.
    let is_hex =
        characters.len() < piece.len() && piece.len() >= 8 && piece.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_word = all > 0 && is_short && !has_digit && !is_hex && (upper == 0 || lower == 0 || lower >= 2 * upper);
    is_word.then_some(small)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_also_the_words_that_stand_for_it() {
        assert_ne!(image_words("lift.png “in service”"), image_words("lift.png “out of service”"));
        assert_ne!(image_words("lift.png “in service”"), image_words("plan.png “in service”"));
        assert_eq!(image_words("/8f14e45f.png “in service”"), image_words("/deadbe12.png “in service”"));
        assert!(image_words(" “in service”").is_some());
    }

    #[test]
    fn images_are_distinguished_by_their_words() {
        let same = |one, other| assert_eq!(image_words(one), image_words(other), "{one} {other}");
        same("/img/logo-8f14e45f.png", "https://cdn.test/x/logo-deadbe12.webp");
        same("/rsrc.php/v4/yH/r/zPhIMjDYZPw.png", "/rsrc.php/v4/y_/r/Gxk4QaxWlN-.png");
        assert_eq!(image_words("/rsrc.php/v4/y_/r/Gxk4QaxWlN-.png"), None);
        assert_eq!(image_words("/rsrc.php/yA/r/H5KMJlh-MJS.webp"), None);
        let differ = |one, other| assert_ne!(image_words(one), image_words(other), "{one} {other}");
        differ("/img/hero-summer.jpg", "/img/hero-winter.jpg");
        differ("photo1.jpg", "photo2.jpg");
        differ("/a/TeamPhoto_2025.jpg", "/a/TeamPhoto_2026.jpg");
    }
}
