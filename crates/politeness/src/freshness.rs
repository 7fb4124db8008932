//! How long an answer stays fresh by its server's word (RFC 9111 section 4.2).

use page::Timestamp;
use std::time::{Duration, UNIX_EPOCH};

/// The headers of an answer that say how long it is fresh.
#[derive(Clone, Copy, Debug, Default)]
pub struct FreshnessHeaders<'a> {
    /// Value of `cache-control`, several lines joined by commas.
    pub cache_control: Option<&'a str>,
    /// Value of `expires`.
    pub expires: Option<&'a str>,
    /// Value of `date`.
    pub date: Option<&'a str>,
    /// Value of `age`, in seconds: how long a cache has had the answer.
    pub age: Option<&'a str>,
}

/// Time from `received` on in which the server expects the answer to be current: its lifetime less its age. `max-age` is above
/// `expires`. `None` without a word on it, with a broken one, or with `no-cache` or `no-store`. `s-maxage` is for caches
/// that many share, and does not count.
pub fn fresh_for(headers: &FreshnessHeaders<'_>, received: Timestamp) -> Option<Duration> {
    let directives = headers.cache_control.unwrap_or_default().split(',').map(|directive| {
        let (name, value) = directive.split_once('=').unwrap_or((directive, ""));
        (name.trim(), value.trim().trim_matches('"'))
    });
    let mut max_age = None;
    for (name, value) in directives {
        if ["no-cache", "no-store"].iter().any(|other| name.eq_ignore_ascii_case(other)) {
            return None;
        }
        if name.eq_ignore_ascii_case("max-age") && max_age.is_none() {
            max_age = Some(seconds(value)?);
        }
    }
    let lifetime = match max_age {
        Some(max_age) => max_age,
        None => {
            let time = |text: &str| {
                let since_epoch = httpdate::parse_http_date(text.trim()).ok()?.duration_since(UNIX_EPOCH).ok()?;
                Some(Timestamp::from_micros(0) + since_epoch)
            };
            let sent = headers.date.and_then(time).unwrap_or(received);
            time(headers.expires?)?.saturating_since(sent)
        }
    };
    let age = headers.age.and_then(|age| seconds(age.trim())).unwrap_or_default();
    lifetime.checked_sub(age).filter(|left| !left.is_zero())
}

fn seconds(text: &str) -> Option<Duration> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    // A number beyond all bounds is a long time (RFC 9111 section 1.2.2).
    is_number.then(|| Duration::from_secs(text.parse::<u32>().unwrap_or(u32::MAX).into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sun, 06 Nov 1994 08:49:37 GMT.
    const NOW: Timestamp = Timestamp::from_secs(784_111_777);

    #[test]
    fn an_answer_is_fresh_for_its_lifetime_less_its_age() {
        let check = |cache_control, expires, date, age, expected: Option<u64>| {
            let headers = FreshnessHeaders { cache_control, expires, date, age };
            assert_eq!(fresh_for(&headers, NOW), expected.map(Duration::from_secs), "{headers:?}");
        };
        let (now, in_an_hour) = (Some("Sun, 06 Nov 1994 08:49:37 GMT"), Some("Sun, 06 Nov 1994 09:49:37 GMT"));
        check(Some("max-age=60"), None, None, None, Some(60));
        check(Some("public, Max-Age=\"60\", immutable"), None, None, Some("20"), Some(40));
        check(Some("max-age=60, max-age=90"), None, None, None, Some(60));
        check(Some("s-maxage=600"), None, None, None, None);
        check(Some("s-maxage=600, max-age=5"), in_an_hour, now, None, Some(5));
        check(None, in_an_hour, now, None, Some(3_600));
        check(None, in_an_hour, None, Some(" 600 "), Some(3_000));
        check(Some("private"), in_an_hour, Some("Sun, 06 Nov 1994 09:19:37 GMT"), None, Some(1_800));
        check(Some("max-age=99999999999999"), None, None, None, Some(u32::MAX.into()));
        for none in
            ["max-age=0", "max-age=-1", "max-age", "max-age=x", "no-cache, max-age=60", "max-age=60, no-store", ""]
        {
            check(Some(none), None, None, None, None);
        }
        check(None, Some("0"), now, None, None);
        check(None, Some("-1"), None, None, None);
        check(None, now, in_an_hour, None, None);
        check(Some("max-age=60"), None, None, Some("60"), None);
        check(Some("max-age=0"), in_an_hour, now, None, None);
        check(None, None, None, None, None);
    }
}
