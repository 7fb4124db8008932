//! Parses the head of a response: status, headers, and the framing of the body.

use crate::challenge::{CF_MITIGATED, CRAWLER_PRICE, X_AMZN_WAF_ACTION, X_VERCEL_MITIGATED};
use crate::http1::framing::{Chunks, Framing};
use crate::identity::ACCEPT_SIGNATURE;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{StatusCode, Version};
use preferences::HEADERS;
use std::borrow::Cow;
use std::mem::MaybeUninit;

/// Most header lines of a response.
const MAX_HEADERS: usize = 512;
/// Headers that say where the body ends.
const FRAMING: [&[u8]; 2] = [b"content-length", b"transfer-encoding"];
/// Headers that the fetcher uses. The others are only recorded.
const KEPT: [HeaderName; 24] = [
    header::CONTENT_TYPE,
    header::CONTENT_ENCODING,
    header::TRANSFER_ENCODING,
    header::ETAG,
    header::LAST_MODIFIED,
    header::LOCATION,
    header::RETRY_AFTER,
    header::REFRESH,
    ACCEPT_SIGNATURE,
    header::WWW_AUTHENTICATE,
    CF_MITIGATED,
    X_VERCEL_MITIGATED,
    X_AMZN_WAF_ACTION,
    CRAWLER_PRICE,
    header::CACHE_CONTROL,
    header::EXPIRES,
    header::DATE,
    header::AGE,
    HeaderName::from_static(HEADERS[0]),
    HeaderName::from_static(HEADERS[1]),
    HeaderName::from_static(HEADERS[2]),
    HeaderName::from_static(HEADERS[3]),
    HeaderName::from_static(HEADERS[4]),
    HeaderName::from_static(HEADERS[5]),
];

#[derive(Debug)]
pub(crate) struct ResponseHead {
    pub(crate) status: StatusCode,
    pub(crate) version: Version,
    /// The headers in `KEPT`.
    pub(crate) headers: HeaderMap,
    pub(crate) framing: Framing,
    /// Whether the server allows the connection to be reused.
    pub(crate) keeps_alive: bool,
}

/// Result of parsing the start of the input.
#[derive(Debug)]
pub(crate) enum ParsedHead {
    /// A head, and its length in bytes.
    Whole(Box<ResponseHead>, usize),
    /// An interim response's head. Another response follows.
    Interim { length: usize, is_odd: bool },
    /// The head is incomplete.
    Partial,
}

impl ParsedHead {
    /// Parses the head of a response to a GET. The error says what is wrong.
    pub(crate) fn of(input: &[u8]) -> Result<Self, String> {
        let mut lines = [const { MaybeUninit::uninit() }; MAX_HEADERS];
        let mut response = httparse::Response::new(&mut []);
        let parser = httparse::ParserConfig::default();
        match parser.parse_response_with_uninit_headers(&mut response, input, &mut lines) {
            Ok(httparse::Status::Complete(length)) => Self::of_response(&response, length),
            Ok(httparse::Status::Partial) => Ok(Self::Partial),
            Err(httparse::Error::HeaderName | httparse::Error::HeaderValue) => Self::of_odd(input),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Parses a head with folded lines, or with lines that are no headers, as curl and browsers do (RFC 9112 §5.2). The
    /// connection is not reused: others may see another end of the message.
    fn of_odd(input: &[u8]) -> Result<Self, String> {
        let mut lines = [const { MaybeUninit::uninit() }; MAX_HEADERS];
        let mut response = httparse::Response::new(&mut []);
        let mut parser = httparse::ParserConfig::default();
        parser.allow_obsolete_multiline_headers_in_responses(true).ignore_invalid_headers_in_responses(true);
        let parsed = parser.parse_response_with_uninit_headers(&mut response, input, &mut lines);
        let httparse::Status::Complete(length) = parsed.map_err(|error| error.to_string())? else {
            return Ok(Self::Partial);
        };
        let understood = response.headers.iter().filter(|line| names_framing(line.name.as_bytes())).count();
        if plain_framing_lines(&input[..length]) != Some(understood) {
            return Err("a malformed line about the length of the body".to_owned());
        }
        Ok(match Self::of_response(&response, length)? {
            Self::Whole(head, length) => Self::Whole(Box::new(ResponseHead { keeps_alive: false, ..*head }), length),
            Self::Interim { length, .. } => Self::Interim { length, is_odd: true },
            Self::Partial => Self::Partial,
        })
    }

    fn of_response(response: &httparse::Response<'_, '_>, length: usize) -> Result<Self, String> {
        let code = response.code.unwrap_or_default();
        let status = StatusCode::from_u16(code).map_err(|_| format!("status {code} is not an HTTP status"))?;
        if status.is_informational() && status != StatusCode::SWITCHING_PROTOCOLS {
            return Ok(Self::Interim { length, is_odd: false });
        }
        let version = if response.version == Some(1) { Version::HTTP_11 } else { Version::HTTP_10 };
        let lines = Lines::of(response.headers)?;
        let framing = lines.framing(status, version)?;
        let keeps_alive = !lines.says_close
            && (version == Version::HTTP_11 || lines.says_keep_alive)
            && status != StatusCode::SWITCHING_PROTOCOLS
            && framing != Framing::UntilClose;
        Ok(Self::Whole(Box::new(ResponseHead { status, version, headers: lines.kept, framing, keeps_alive }), length))
    }
}

/// The header lines that matter.
#[derive(Default)]
struct Lines {
    kept: HeaderMap,
    says_close: bool,
    says_keep_alive: bool,
    /// The announced length of the body.
    length: Option<u64>,
    /// Whether the outermost transfer coding is chunked. `None` without a transfer coding.
    is_chunked: Option<bool>,
}

impl Lines {
    fn of(headers: &[httparse::Header<'_>]) -> Result<Self, String> {
        let mut lines = Self::default();
        for &httparse::Header { name, value } in headers {
            let is = |known: &HeaderName| name.eq_ignore_ascii_case(known.as_str());
            if is(&header::CONTENT_LENGTH) {
                lines.take_length(value)?;
            } else if is(&header::CONNECTION) {
                lines.says_close |= words(value).any(|word| word.eq_ignore_ascii_case("close"));
                lines.says_keep_alive |= words(value).any(|word| word.eq_ignore_ascii_case("keep-alive"));
            } else if let Some(known) = KEPT.iter().find(|known| is(known)) {
                if *known == header::TRANSFER_ENCODING {
                    lines.is_chunked =
                        Some(words(value).last().is_some_and(|word| word.eq_ignore_ascii_case("chunked")));
                }
                let value = HeaderValue::from_bytes(&unfolded(value)).map_err(|error| error.to_string())?;
                lines.kept.append(known, value);
            }
        }
        Ok(lines)
    }

    /// A length may be repeated if the values agree (RFC 9110 §8.6).
    fn take_length(&mut self, value: &[u8]) -> Result<(), String> {
        let wrong = || format!("content-length {:?}", String::from_utf8_lossy(&value[..value.len().min(50)]));
        let text = str::from_utf8(value).map_err(|_| wrong())?;
        for word in text.split(',').map(str::trim) {
            // `parse` would accept a sign.
            let digits = word.bytes().all(|byte| byte.is_ascii_digit());
            let length = word.parse().ok().filter(|_| digits).ok_or_else(wrong)?;
            if self.length.replace(length).is_some_and(|before| before != length) {
                return Err(wrong());
            }
        }
        Ok(())
    }

    /// The framing of the body (RFC 9112 §6.3).
    fn framing(&self, status: StatusCode, version: Version) -> Result<Framing, String> {
        match (status.as_u16(), self.is_chunked, self.length) {
            (101 | 204 | 304, ..) => Ok(Framing::NOTHING),
            (_, Some(_), _) if version == Version::HTTP_10 => Err("a transfer coding in HTTP/1.0".to_owned()),
            (_, Some(true), _) => Ok(Framing::Chunked(Chunks::default())),
            (_, None, Some(length)) => Ok(Framing::Length(length)),
            (_, Some(false), _) | (_, None, None) => Ok(Framing::UntilClose),
        }
    }
}

/// Whether the name of a header line, well-formed or not, is one in `FRAMING`.
fn names_framing(name: &[u8]) -> bool {
    let name = name.to_ascii_lowercase();
    FRAMING.iter().any(|known| memchr::memmem::find(&name, known).is_some())
}

/// The number of lines in a head that say where the body ends. `None` if one of them is folded.
fn plain_framing_lines(head: &[u8]) -> Option<usize> {
    let mut count = 0;
    let mut is_framing = false;
    for line in head.split(|byte| *byte == b'\n') {
        if is_framing && line.first().is_some_and(|first| matches!(first, b' ' | b'\t')) {
            return None;
        }
        is_framing = memchr::memchr(b':', line).is_some_and(|colon| names_framing(&line[..colon]));
        count += usize::from(is_framing);
    }
    Some(count)
}

fn is_folded(value: &[u8]) -> bool {
    memchr::memchr2(b'\r', b'\n', value).is_some()
}

/// A folded value in one line: each fold is replaced by spaces (RFC 9112 §5.2).
fn unfolded(value: &[u8]) -> Cow<'_, [u8]> {
    if !is_folded(value) {
        return Cow::Borrowed(value);
    }
    value.iter().map(|byte| if matches!(byte, b'\r' | b'\n') { b' ' } else { *byte }).collect()
}

/// The items of a comma-separated list. Empty if the value is not valid text.
fn words(value: &[u8]) -> impl Iterator<Item = &str> {
    str::from_utf8(value).unwrap_or_default().split(',').map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(head: &str) -> ResponseHead {
        match ParsedHead::of(head.as_bytes()) {
            Ok(ParsedHead::Whole(read, length)) if length == head.len() => *read,
            other => panic!("{head:?}: {other:?}"),
        }
    }

    #[test]
    fn a_head_says_how_its_body_is_framed_and_whether_the_connection_goes_on() {
        let check = |head: &str, framing: Framing, keeps_alive| {
            let read = whole(&format!("{head}\r\n\r\n"));
            assert_eq!((read.framing, read.keeps_alive), (framing, keeps_alive), "{head:?}");
        };
        let chunked = || Framing::Chunked(Chunks::default());
        check("HTTP/1.1 200 OK\r\nContent-Length: 5", Framing::Length(5), true);
        check("HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 5, 5", Framing::Length(5), true);
        check("HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: Upgrade, Close", Framing::Length(5), false);
        check(
            "HTTP/1.1 200 OK\r\nconnection: close\r\nconnection: keep-alive\r\ncontent-length: 0",
            Framing::NOTHING,
            false,
        );
        check("HTTP/1.0 200 OK\r\ncontent-length: 5", Framing::Length(5), false);
        check("HTTP/1.0 200 OK\r\ncontent-length: 5\r\nconnection: Keep-Alive", Framing::Length(5), true);
        check("HTTP/1.1 200 OK", Framing::UntilClose, false);
        check("HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked", chunked(), true);
        check("HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\ncontent-length: 3", chunked(), true);
        check("HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\ncontent-length: 3", Framing::UntilClose, false);
        check("HTTP/1.1 204 No Content\r\ncontent-length: 5", Framing::NOTHING, true);
        check("HTTP/1.1 304 Not Modified\r\ntransfer-encoding: chunked", Framing::NOTHING, true);
        check("HTTP/1.1 101 Switching Protocols", Framing::NOTHING, false);
    }

    #[test]
    fn a_head_that_cannot_be_trusted_is_refused() {
        for lines in [
            "content-length: 5\r\ncontent-length: 3",
            "content-length: 5, 3",
            "content-length:",
            "content-length: +5",
            "content-length: -5",
            "content-length: 18446744073709551616",
            "content-length: \u{665}",
            "content-length : 5",
            "content-length: 5\r\n 6",
            "Transfer-Encoding : chunked\r\ncontent-length: 5",
            "transfer-encoding:\r\n chunked",
            "x\r\n content-length: 5",
        ] {
            let head = format!("HTTP/1.1 200 OK\r\n{lines}\r\n\r\n");
            assert!(ParsedHead::of(head.as_bytes()).is_err(), "{lines:?}");
        }
        for head in ["HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", "HTTP/1.1 099 Low\r\n\r\n", "220 mail"] {
            assert!(ParsedHead::of(head.as_bytes()).is_err(), "{head:?}");
        }
        let lines = |count| format!("HTTP/1.1 200 OK\r\n{}\r\n", "a: b\r\n".repeat(count));
        assert!(
            ParsedHead::of(lines(MAX_HEADERS).as_bytes()).is_ok()
                && ParsedHead::of(lines(MAX_HEADERS + 1).as_bytes()).is_err()
        );
    }

    #[test]
    fn a_head_with_folded_lines_or_lines_that_are_none_is_read_and_ends_the_connection() {
        for (lines, etag) in [
            ("x broken: a", None),
            ("no colon", None),
            ("x: a\r\n folded", None),
            ("etag: \"a\r\n\tb\"", Some("\"a  \tb\"")),
            ("x broken: a\r\netag: \"1\"", Some("\"1\"")),
        ] {
            let head = whole(&format!("HTTP/1.1 200 OK\r\n{lines}\r\ncontent-length: 5\r\n\r\n"));
            assert_eq!((&head.framing, head.keeps_alive), (&Framing::Length(5), false), "{lines:?}");
            let read = head.headers.get(header::ETAG).map(|value| value.to_str().unwrap());
            assert_eq!(read, etag, "{lines:?}");
        }
    }

    #[test]
    fn only_headers_that_are_looked_at_later_are_kept() {
        let head =
            whole("HTTP/1.1 200 OK\r\nETAG: \"1\"\r\nSet-Cookie: a=b\r\nlocation: /caf\u{e9}\r\nServer: x\r\n\r\n");
        let kept: Vec<_> = head.headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
        assert_eq!(kept, [("etag", "\"1\"".as_bytes()), ("location", "/caf\u{e9}".as_bytes())]);
    }

    #[test]
    fn interim_responses_are_passed_over_and_half_a_head_is_none() {
        assert!(matches!(
            ParsedHead::of(b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP"),
            Ok(ParsedHead::Interim { length: 37, is_odd: false })
        ));
        assert!(matches!(
            ParsedHead::of(b"HTTP/1.1 103 Early Hints\r\nno header\r\n\r\n"),
            Ok(ParsedHead::Interim { length: 39, is_odd: true })
        ));
        for half in ["", "\r\n", "HTTP/1.1 20", "HTTP/1.1 200 OK\r\ncontent-type: text/ht"] {
            assert!(matches!(ParsedHead::of(half.as_bytes()), Ok(ParsedHead::Partial)), "{half:?}");
        }
    }
}
