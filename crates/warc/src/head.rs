//! Response heads: their header lines, and their form in an archive that stores unpacked bodies.

/// The header lines of a head, in order and with names as received. Bytes are decoded as ISO 8859-1 (RFC 9110 §5.5). A
/// folded line (RFC 9112 §5.2) is joined.
pub fn header_lines(head: &[u8]) -> Vec<(String, String)> {
    let mut lines: Vec<(String, String)> = Vec::new();
    for line in head.split(|byte| *byte == b'\n').skip(1) {
        let text: String = line.trim_ascii().iter().map(|byte| char::from(*byte)).collect();
        match lines.last_mut() {
            Some((_, value)) if continues(line) => {
                value.push(' ');
                value.push_str(&text);
            }
            None if continues(line) => {}
            _ => lines.extend(text.split_once(':').map(|(name, value)| (name.to_owned(), value.trim().to_owned()))),
        }
    }
    lines
}

/// Whether a line continues the previous header.
fn continues(line: &[u8]) -> bool {
    line.starts_with(b" ") || line.starts_with(b"\t")
}

/// The response head to store, including the final empty line. Headers on the transfer of the body do not apply to the
/// stored body, so they are renamed. `stored_bytes` is the length of the stored body. `None` leaves Content-Length
/// unchanged, for a response that describes a body it does not carry (304).
pub fn stored_head(head: &[u8], stored_bytes: Option<u64>) -> Vec<u8> {
    let mut stored = Vec::with_capacity(head.len() + 64);
    let mut renamed = false;
    for (number, line) in head.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let is_header = number > 0 && !continues(line);
        let (name, value) = line.split_at(line.iter().position(|byte| *byte == b':').unwrap_or(line.len()));
        let is_told = |other: &str| is_header && name.trim_ascii().eq_ignore_ascii_case(other.as_bytes());
        let is_other_length =
            is_told("content-length") && stored_bytes.is_some_and(|bytes| length(value) != Some(bytes));
        if is_other_length || is_told("content-encoding") || is_told("transfer-encoding") {
            stored.extend(b"X-Crawler-");
            renamed = true;
        }
        stored.extend(line);
    }
    if !stored.ends_with(b"\n") {
        stored.extend(b"\r\n");
    }
    let has_length = header_lines(&stored).iter().any(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    if let (Some(bytes), true, false) = (stored_bytes, renamed, has_length) {
        stored.extend(format!("Content-Length: {bytes}\r\n").bytes());
    }
    stored.extend(b"\r\n");
    stored
}

/// Parses the number after the colon.
fn length(value: &[u8]) -> Option<u64> {
    std::str::from_utf8(value.get(1..)?.trim_ascii()).ok()?.parse().ok()
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
    fn header_lines_keep_their_order_their_doubles_and_their_bytes() {
        let head = b"HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nX: \xe4\r\nSet-Cookie: b=2\r\nno header\r\nY: 1\r\n\t2\r\n";
        let lines = header_lines(head);
        let lines: Vec<_> = lines.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(lines, [("Set-Cookie", "a=1"), ("X", "ä"), ("Set-Cookie", "b=2"), ("Y", "1 2")]);
    }

    proptest! {
        #[test]
        fn no_head_is_left_without_its_empty_line(head in "(\\PC|\r\n|:|Content-Length){0,30}", bytes in any::<u64>()) {
            let stored = stored_head(head.as_bytes(), Some(bytes));
            prop_assert!(stored.ends_with(b"\n\r\n"));
            let told = header_lines(&stored).into_iter().filter(|(name, _)| name.eq_ignore_ascii_case("content-length"));
            for (_, length) in told {
                prop_assert_eq!(length.parse(), Ok(bytes));
            }
        }
    }
}
