use super::*;
use proptest::prelude::*;

/// Computes the marks and the folded text of a piece.
struct Pieces<'p>(&'p [u8; PIECE], usize);

impl WideWork for Pieces<'_> {
    type Result = (Marks, [u64; 4], Vec<u32>, Vec<u8>);

    fn at(self, wide: impl Wide) -> Self::Result {
        let Self(piece, left) = self;
        let (mut text, mut read, mut gap) = (Vec::new(), 0, false);
        while read < left {
            let (mut rest, mut to) = ([0; PIECE], [0; PIECE]);
            rest[..PIECE - read].copy_from_slice(&piece[read..]);
            let folded = wide.fold(&rest, left - read, true);
            wide.write(&rest, folded.start, &mut to);
            gap |= folded.start > 0;
            if folded.written > 0 {
                text.extend_from_slice(if gap { b" " } else { b"" });
                text.extend_from_slice(&to[..folded.written]);
                gap = folded.trails;
            }
            read += folded.read;
            if folded.is_special {
                text.push(b'!');
                read += 1;
            }
        }
        let found = [
            wide.equal(piece, b'\n'),
            wide.within(piece, b'a', b'z'),
            wide.within(piece, 0, 0x7f),
            wide.beyond_ascii(piece),
        ];
        let (ends, mut places) = (found[0] ^ found[1], [0; 64]);
        let count = wide.places(ends, 7, &mut places);
        (wide.marks(piece), found, places[..count].to_vec(), text)
    }
}

fn check(piece: &[u8; PIECE], left: usize) {
    let expected = Pieces(piece, left).at(EightBytes);
    assert_eq!(at_widest(Pieces(piece, left)), expected, "{piece:?} {left}");
}

#[test]
fn every_byte_is_what_it_is() {
    for byte in 0..=255 {
        let bits = |is: bool| if is { u64::MAX } else { 0 };
        let marks = EightBytes.marks(&[byte; 64]);
        let stops = bits(matches!(byte, b'>' | b'=' | b'"' | b'\''));
        assert_eq!(marks, Marks { opens: bits(byte == b'<'), stops, quotes: bits(byte == b'"') }, "{byte}");
        let ascii = bits(byte.is_ascii() && char::from(byte).is_whitespace()) as u32;
        let ampersands = bits(byte == b'&') as u32;
        assert_eq!(spaces(&[byte; PIECE]), Spaces { ascii, other: 0, ampersands }, "{byte}");
        assert_eq!(EightBytes.within(&[byte; 64], b'a', b'z'), bits(byte.is_ascii_lowercase()), "{byte}");
        assert_eq!(EightBytes.within(&[byte; 64], b'0', b'9'), bits(byte.is_ascii_digit()), "{byte}");
        assert_eq!(EightBytes.beyond_ascii(&[byte; 64]), bits(!byte.is_ascii()), "{byte}");
        check(&[byte; PIECE], PIECE - 2);
    }
}

#[test]
fn white_space_beyond_ascii_is_that_of_the_standard_library() {
    for character in '\u{80}'..=char::MAX {
        let mut piece = [b'a'; PIECE];
        character.encode_utf8(&mut piece[7..]);
        assert_eq!(spaces(&piece).other, u32::from(character.is_whitespace()) << 7, "{character:?}");
        if character.len_utf8() < 4 {
            check(&piece, 20);
        }
    }
}

proptest! {
    #[test]
    fn every_width_gives_the_same(bytes in proptest::collection::vec(
        prop_oneof![
            proptest::sample::select(b"<>=\"'& \t\n\x0b\xc2\x85\xa0\xe1\x9a\x80\xe2\x8a\x8b\xa8\xa9\xaf\x81\x9f\xe3".to_vec()),
            proptest::sample::select(b" ab".to_vec()),
            any::<u8>()
        ],
        PIECE
    ), left in 1..PIECE - 2) {
        check(bytes.first_chunk().unwrap(), left);
    }

    #[test]
    fn the_first_of_a_byte_is_found_near_and_far(
        bytes in proptest::collection::vec(prop_oneof![20 => 0x60u8..0x64, 1 => Just(b'#'), 1 => any::<u8>()], 0..80)
    ) {
        for byte in [b'#', b'a', 0x80, 0xa3] {
            prop_assert_eq!(find_near(byte, &bytes), bytes.iter().position(|other| *other == byte));
        }
    }
}
