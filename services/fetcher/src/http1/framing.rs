//! Message body framing (RFC 9112 §6 and §7): by length, by chunks, or until the connection closes.

/// Most bytes of chunk extensions and of trailers in a body. Both are ignored.
const MAX_EXTENSIONS: usize = 16 << 10;
const MAX_TRAILERS: usize = 16 << 10;
/// Most digits of a chunk's size, leading zeros included.
const MAX_SIZE_DIGITS: u8 = 16;
/// Blanks after chunk sizes that are allowed beyond one for each byte of the body.
const SPARE_BLANKS: u64 = 16 << 10;

/// How the rest of a body is delimited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// This many bytes are left.
    Length(u64),
    /// Chunked transfer coding.
    Chunked(Chunks),
    /// Until the connection closes.
    UntilClose,
}

/// Why the framing of a body is malformed, in words.
pub(crate) type FramingFault = &'static str;

impl Framing {
    /// No body.
    pub(crate) const NOTHING: Self = Self::Length(0);

    /// Takes the next piece of the body off the input, together with its framing. Returns `None` when the input is used
    /// up or the body has ended. After the end, the remaining input does not belong to the body.
    pub(crate) fn next_piece<'a>(&mut self, input: &mut &'a [u8]) -> Result<Option<&'a [u8]>, FramingFault> {
        match self {
            Self::Length(left) => Ok(take_up_to(left, input)),
            Self::Chunked(chunks) => chunks.next_piece(input),
            Self::UntilClose => Ok(take_up_to(&mut { u64::MAX }, input)),
        }
    }

    /// Whether the whole body has been read. Never true for a body that ends with the connection.
    pub(crate) fn has_ended(&self) -> bool {
        match self {
            Self::Length(left) => *left == 0,
            Self::Chunked(chunks) => chunks.at == At::End,
            Self::UntilClose => false,
        }
    }

    /// Whether other readers may read something in the body's framing otherwise, and see another end of the message.
    pub(crate) fn is_odd(&self) -> bool {
        matches!(self, Self::Chunked(Chunks { has_odd_trailers: true, .. }))
    }

    /// Remaining length of the body, if the head announced it.
    pub(crate) fn announced(&self) -> Option<u64> {
        match self {
            Self::Length(left) => Some(*left),
            Self::Chunked(_) | Self::UntilClose => None,
        }
    }
}

fn take_up_to<'a>(left: &mut u64, input: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = input.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
    let (piece, rest) = input.split_at(length);
    *left -= length as u64;
    *input = rest;
    (!piece.is_empty()).then_some(piece)
}

/// State of a chunked body. Lines must end with CR LF: parsers that differ in leniency are how requests are smuggled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Chunks {
    at: At,
    /// Bytes left in the current chunk.
    left: u64,
    /// Digits of the current chunk's size.
    digits: u8,
    /// Bytes in all chunks so far.
    length: u64,
    blanks: u64,
    extensions: usize,
    trailers: usize,
    /// Whether a line among the trailers is no header line.
    has_odd_trailers: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum At {
    /// Before the first digit of a chunk size.
    #[default]
    Start,
    Length,
    /// Blanks after the size.
    Blanks,
    Extension,
    LengthLf,
    Data,
    DataCr,
    DataLf,
    /// After the last chunk or a trailer; an empty line ends the body.
    Line,
    TrailerName,
    TrailerValue,
    TrailerLf,
    LastLf,
    End,
}

impl Chunks {
    fn next_piece<'a>(&mut self, input: &mut &'a [u8]) -> Result<Option<&'a [u8]>, FramingFault> {
        while self.at != At::End {
            if self.at == At::Data {
                let piece = take_up_to(&mut self.left, input);
                if self.left == 0 {
                    self.at = At::DataCr;
                }
                return Ok(piece);
            }
            let [byte, rest @ ..] = *input else { return Ok(None) };
            *input = rest;
            self.at = self.after(*byte)?;
        }
        Ok(None)
    }

    /// The state after a framing byte.
    fn after(&mut self, byte: u8) -> Result<At, FramingFault> {
        match (self.at, byte) {
            (At::Start | At::Length, digit) if digit.is_ascii_hexdigit() => {
                let value = u64::from(char::from(digit).to_digit(16).unwrap_or_default());
                let (before, digits) = if self.at == At::Start { (0, 0) } else { (self.left, self.digits) };
                if digits == MAX_SIZE_DIGITS {
                    return Err("a chunk's length has too many digits");
                }
                (self.left, self.digits) = (before << 4 | value, digits + 1);
                Ok(At::Length)
            }
            (At::Start, _) => Err("a chunk without a length"),
            (At::Length | At::Blanks | At::Extension, b'\r') => Ok(At::LengthLf),
            (At::Length | At::Blanks, b' ' | b'\t') => {
                self.blanks += 1;
                if self.blanks <= SPARE_BLANKS.saturating_add(self.length) {
                    Ok(At::Blanks)
                } else {
                    Err("too many blanks after chunk sizes")
                }
            }
            (At::Length | At::Blanks, b';') => Ok(At::Extension),
            (At::Length | At::Blanks, _) => Err("a chunk's length is not a number"),
            (At::Extension, b'\n') => Err("a line feed in a chunk's extension"),
            (At::Extension, _) => {
                self.extensions += 1;
                if self.extensions < MAX_EXTENSIONS {
                    Ok(At::Extension)
                } else {
                    Err("the chunk extensions are too long")
                }
            }
            (At::LengthLf, b'\n') => {
                self.length = self.length.saturating_add(self.left);
                Ok(if self.left == 0 { At::Line } else { At::Data })
            }
            (At::DataCr, b'\r') => Ok(At::DataLf),
            (At::DataLf, b'\n') => Ok(At::Start),
            (At::DataCr | At::DataLf, _) => Err("a chunk is longer than its length"),
            (At::Line, b'\r') => Ok(At::LastLf),
            (At::LastLf, b'\n') => Ok(At::End),
            (At::TrailerName | At::TrailerValue, b'\r') => {
                self.has_odd_trailers |= self.at == At::TrailerName;
                Ok(At::TrailerLf)
            }
            (At::TrailerLf, b'\n') => Ok(At::Line),
            (At::Line | At::TrailerName | At::TrailerValue, _) => {
                self.trailers += 1;
                if self.trailers < MAX_TRAILERS {
                    Ok(self.after_trailer(byte))
                } else {
                    Err("the trailers are too long")
                }
            }
            (At::LengthLf | At::LastLf | At::TrailerLf, _) => Err("a carriage return without a line feed"),
            (At::Data | At::End, _) => unreachable!("data and the end are met before"),
        }
    }

    /// The state after a byte of a trailer.
    fn after_trailer(&mut self, byte: u8) -> At {
        let (is_right, next) = match (self.at, byte) {
            (At::TrailerName, b':') => (true, At::TrailerValue),
            (At::TrailerValue, _) => (byte == b'\t' || !byte.is_ascii_control(), At::TrailerValue),
            _ => (is_token_byte(byte), At::TrailerName),
        };
        self.has_odd_trailers |= !is_right;
        next
    }
}

/// Whether a byte may be part of a header's name (RFC 9110 §5.6.2).
fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Reads a body delivered in pieces of this size. Returns the body, whether it ended, and the leftover input.
    fn read(mut framing: Framing, bytes: &[u8], piece: usize) -> Result<(Vec<u8>, bool, Vec<u8>), FramingFault> {
        let (mut body, mut rest) = (Vec::new(), Vec::new());
        for piece in bytes.chunks(piece) {
            let mut input = piece;
            while let Some(piece) = framing.next_piece(&mut input)? {
                body.extend_from_slice(piece);
            }
            rest.extend_from_slice(input);
        }
        Ok((body, framing.has_ended(), rest))
    }

    fn chunked() -> Framing {
        Framing::Chunked(Chunks::default())
    }

    #[test]
    fn a_body_ends_where_it_says() {
        let whole = |framing: Framing, bytes: &[u8], body: &[u8], rest: &[u8]| {
            for piece in [1, 2, 3, 1_000] {
                assert_eq!(read(framing.clone(), bytes, piece), Ok((body.to_vec(), true, rest.to_vec())), "{piece}");
            }
        };
        whole(Framing::Length(5), b"hello, world", b"hello", b", world");
        whole(Framing::NOTHING, b"hello", b"", b"hello");
        whole(chunked(), b"5\r\nhello\r\n0\r\n\r\nmore", b"hello", b"more");
        whole(chunked(), b"1 \t;a=b\r\nx\r\n0A\r\n0123456789\r\n00;c\r\n\r\n", b"x0123456789", b"");
        whole(chunked(), b"0\r\nA: b\r\nContent-Length: 9\r\n\r\n", b"", b"");
        assert_eq!(read(Framing::UntilClose, b"hello", 2), Ok((b"hello".to_vec(), false, Vec::new())));
        assert_eq!(read(Framing::Length(6), b"hello", 2), Ok((b"hello".to_vec(), false, Vec::new())));
        assert_eq!(read(chunked(), b"5\r\nhello\r\n0\r\n", 2), Ok((b"hello".to_vec(), false, Vec::new())));
    }

    #[test]
    fn trailers_that_are_no_header_lines_are_passed_over_and_noticed() {
        let check = |trailers: &str, is_odd: bool| {
            let (mut framing, bytes) = (chunked(), format!("0\r\n{trailers}\r\n\r\n"));
            let mut input = bytes.as_bytes();
            assert_eq!(framing.next_piece(&mut input), Ok(None));
            assert_eq!((framing.has_ended(), framing.is_odd()), (true, is_odd), "{trailers:?}");
        };
        ["a: b", "x-Y:", "a:\tb\r\nc: \u{e9}"].iter().for_each(|trailers| check(trailers, false));
        let odd = ["x", ": a", " a: b", "a : b", "a: b\nc: d", "a: \0", "5\r\nhello\r\n0"];
        odd.iter().for_each(|trailers| check(trailers, true));
    }

    #[test]
    fn what_is_not_chunked_as_reported_is_refused_at_its_first_wrong_byte() {
        let wrong: [&[u8]; 14] = [
            b"x",
            b"\r",
            b"-",
            b"5x",
            b"0x",
            b"5\n",
            b"5\rx",
            b"5 5",
            b"1\r\nxx",
            b"1\r\nx\n",
            b"1\r\nx\r\r",
            b"1;a\n",
            b"0\r\n\rx",
            b"0\r\nA: b\rx",
        ];
        for bytes in wrong {
            let before = &bytes[..bytes.len() - 1];
            assert!(read(chunked(), before, 1).is_ok() && read(chunked(), bytes, 1).is_err(), "{bytes:?}");
        }
        assert!(read(chunked(), b"FFFFFFFFFFFFFFFF", 1).is_ok() && read(chunked(), b"FFFFFFFFFFFFFFFFF", 1).is_err());
        assert!(read(chunked(), &b"1;name=value\r\nx\r\n".repeat(2_000), 100).is_err());
        assert!(read(chunked(), &[b"0\r\n".to_vec(), b"more: more\r\n".repeat(2_000)].concat(), 100).is_err());
    }

    proptest! {
        #[test]
        fn what_is_read_does_not_depend_on_the_pieces(
            words in prop::collection::vec("(5\r\nhello\r\n|0\r\n|\r\n|a: b\r\n|;x|[0-9a-f]{1,3}|.){1,6}", 0..12),
            size in 1..40_usize,
        ) {
            let bytes = words.concat().into_bytes();
            for framing in [chunked(), Framing::Length(20), Framing::UntilClose] {
                prop_assert_eq!(read(framing.clone(), &bytes, size), read(framing, &bytes, bytes.len().max(1)));
            }
        }

        #[test]
        fn chunks_of_any_sizes_give_the_body_back(
            pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..300), 0..8), size in 1..400_usize,
        ) {
            let chunk = |piece: &Vec<u8>| [format!("{:X}\r\n", piece.len()).as_bytes(), piece, b"\r\n"].concat();
            let sent = [pieces.iter().flat_map(chunk).collect(), b"0\r\n\r\n".to_vec()].concat();
            prop_assert_eq!(read(chunked(), &sent, size), Ok((pieces.concat(), true, Vec::new())));
        }
    }
}
