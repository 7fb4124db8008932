//! Response heads: their header lines, and their form in an archive that stores unpacked bodies.

/// The header lines of a head, in order and with names as received, without white space around them. Bytes are decoded
/// as ISO 8859-1 (RFC 9110 §5.5). A folded line (RFC 9112 §5.2) is joined. A line without a colon is left out, with the
/// lines that continue it.
pub fn header_lines(head: &[u8]) -> Vec<(String, String)> {
    let text = |bytes: &[u8]| -> String { bytes.iter().map(|byte| char::from(*byte)).collect() };
    let headers = unfolded_lines(head).skip(1).filter_map(|line| {
        let (name, value) = line.split_at(line.iter().position(|byte| *byte == b':')?);
        Some((text(name.trim_ascii()), text(&joined(&value[1..]))))
    });
    headers.collect()
}

/// The lines of a head, each with the lines that continue it and with its line ends. The first is no header.
fn unfolded_lines(mut head: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let is_end = |at: &usize| head[*at] == b'\n' && !matches!(head.get(at + 1), Some(b' ' | b'\t'));
        let end = (0..head.len()).find(is_end).map_or(head.len(), |at| at + 1);
        head.split_off(..end).filter(|line| !line.is_empty())
    })
}

/// The value of a header, with one space between the lines that it is folded into.
fn joined(value: &[u8]) -> Vec<u8> {
    let lines = value.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(&b' ')
}

/// The response head to store, including the final empty line. Headers on the transfer of the body do not apply to the
/// stored body, so they are renamed. `stored_bytes` is the length of the stored body. `None` leaves Content-Length
/// unchanged, for a response that describes a body it does not carry (304).
pub fn stored_head(head: &[u8], stored_bytes: Option<u64>) -> Vec<u8> {
    let mut stored = Vec::with_capacity(head.len() + 64);
    let mut renamed = false;
    let mut has_length = false;
    for (number, line) in unfolded_lines(head).enumerate() {
        let (name, value) = line.split_at(line.iter().position(|byte| *byte == b':').unwrap_or(line.len()));
        let is_reported = |other: &str| number > 0 && name.trim_ascii().eq_ignore_ascii_case(other.as_bytes());
        let is_length = is_reported("content-length");
        let is_other_length = is_length && stored_bytes.is_some_and(|bytes| length(value) != Some(bytes));
        if is_other_length || is_reported("content-encoding") || is_reported("transfer-encoding") {
            stored.extend(b"X-Crawler-");
            renamed = true;
        }
        has_length |= is_length && !is_other_length;
        stored.extend(line);
    }
    if !stored.ends_with(b"\n") {
        stored.extend(b"\r\n");
    }
    if let (Some(bytes), true, false) = (stored_bytes, renamed, has_length) {
        stored.extend(format!("Content-Length: {bytes}\r\n").bytes());
    }
    stored.extend(b"\r\n");
    stored
}

/// Parses the number after the colon.
fn length(value: &[u8]) -> Option<u64> {
    let value = joined(value.get(1..)?);
    let is_number = value.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(&value).ok().filter(|_| is_number)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(head: &str, stored_bytes: Option<u64>, expected: &str) {
        assert_eq!(String::from_utf8(stored_head(head.as_bytes(), stored_bytes)).unwrap(), expected);
    }

    #[test]
    fn what_spoke_of_the_way_here_gets_another_name() {
        check(
            "HTTP/1.1 200 OK\r\ncontent-Encoding: gzip\r\nA: 1\r\nTransfer-Encoding:\r\n chunked\r\n",
            Some(7),
            "HTTP/1.1 200 OK\r\nX-Crawler-content-Encoding: gzip\r\nA: 1\r\nX-Crawler-Transfer-Encoding:\r\n chunked\r\n\
             Content-Length: 7\r\n\r\n",
        );
        check(
            "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n",
            Some(0),
            "HTTP/1.1 200 OK\r\nX-Crawler-Content-Length: 3\r\nContent-Length: 0\r\n\r\n",
        );
    }

    #[test]
    fn what_is_true_of_what_is_stored_stays_as_it_was() {
        let plain = "HTTP/1.1 200 OK\r\nContent-length:7\r\nA: 1\r\nA: 2\r\n";
        check(plain, Some(7), &format!("{plain}\r\n"));
        check(plain, None, &format!("{plain}\r\n"));
        let without = "HTTP/1.0 200 OK\nA: 1\n";
        check(without, Some(7), &format!("{without}\r\n"));
    }

    #[test]
    fn a_folded_length_is_read_whole() {
        for (reported, is_kept) in
            [("7\r\n ", true), ("\r\n 7", true), ("7\r\n 8", false), ("007", true), ("+7", false)]
        {
            let stored = stored_head(format!("HTTP/1.1 200 OK\r\nContent-Length: {reported}\r\n").as_bytes(), Some(7));
            let lines = header_lines(&stored);
            let kept = lines.iter().find(|(name, _)| name == "Content-Length").expect("a length is reported");
            assert_eq!(kept.1.parse(), Ok(7), "{reported:?}");
            assert_eq!(lines.len(), if is_kept { 1 } else { 2 }, "{reported:?}: {lines:?}");
        }
    }

    #[test]
    fn a_line_that_continues_no_header_adds_to_none() {
        let lines = header_lines(b"HTTP/1.1 200 OK\r\n A: 1\r\nContent-Length: 0\nno header\r\n\t\r\n 5\r\nB: 2\r\n");
        let lines: Vec<_> = lines.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(lines, [("Content-Length", "0"), ("B", "2")]);
    }

    #[test]
    fn header_lines_keep_their_order_their_doubles_and_their_bytes() {
        let head = b"HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nX: \xe4\r\nSet-Cookie: b=2\r\nno header\r\nY: 1\r\n\t2\r\n";
        let lines = header_lines(head);
        let lines: Vec<_> = lines.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(lines, [("Set-Cookie", "a=1"), ("X", "ä"), ("Set-Cookie", "b=2"), ("Y", "1 2")]);
    }

    proptest! {
        #[test]
        fn no_head_is_left_without_its_empty_line(head in "(\\PC|\r\n|:|Content-Length| ?[0-9]{1,2}){0,30}", bytes in 0_u64..10) {
            let stored = stored_head(head.as_bytes(), Some(bytes));
            prop_assert!(stored.ends_with(b"\n\r\n"));
            let reported = header_lines(&stored).into_iter().filter(|(name, _)| name.eq_ignore_ascii_case("content-length"));
            for (_, length) in reported {
                prop_assert_eq!(length.parse(), Ok(bytes));
            }
        }
    }
}
