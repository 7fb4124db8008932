//! The memory of the parts of rendered pages: answers, as far as HTTP allows, and which parts fail again and again.

use browser::PartAnswer;
use messages::Validators;
use page::{PageId, Timestamp};
use std::collections::HashMap;

/// Most bytes of the answers that are kept.
const MOST_BYTES: usize = 32 << 20;
/// Most parts whose failures are counted.
const MOST_FAILING: usize = 10_000;
/// A part that fails this often in succession is taken as absent.
const FAILS_FOR_GOOD: u8 = 3;

/// An answer that is kept.
#[derive(Clone, Debug)]
pub(crate) struct KeptPart {
    pub(crate) answer: PartAnswer,
    pub(crate) validators: Validators,
    pub(crate) fresh_until: Timestamp,
    used: u64,
}

/// Answers by address and by the media types asked for.
#[derive(Default)]
pub(crate) struct Parts {
    kept: HashMap<(String, Option<String>), KeptPart>,
    bytes: usize,
    uses: u64,
    /// By page, and by part of it. A part without a name is the page itself.
    failing: HashMap<(PageId, String), u8>,
}

impl Parts {
    /// The answer of an earlier request.
    pub(crate) fn find(&mut self, url: &str, accept: Option<&str>) -> Option<KeptPart> {
        self.uses += 1;
        let kept = self.kept.get_mut(&(url.to_owned(), accept.map(str::to_owned)))?;
        kept.used = self.uses;
        Some(kept.clone())
    }

    /// Keeps an answer that can be used again, in place of those that were not used for longest.
    pub(crate) fn keep(
        &mut self,
        url: &str,
        accept: Option<&str>,
        answer: PartAnswer,
        validators: Validators,
        fresh_until: Timestamp,
    ) {
        let key = (url.to_owned(), accept.map(str::to_owned));
        self.remove(&key);
        let bytes = bytes_of(&key, &answer);
        if bytes > MOST_BYTES / 4 {
            return;
        }
        while self.bytes + bytes > MOST_BYTES {
            let Some(oldest) = self.kept.iter().min_by_key(|(_, kept)| kept.used).map(|(key, _)| key.clone()) else {
                break;
            };
            self.remove(&oldest);
        }
        self.bytes += bytes;
        self.uses += 1;
        self.kept.insert(key, KeptPart { answer, validators, fresh_until, used: self.uses });
    }

    fn remove(&mut self, key: &(String, Option<String>)) {
        if let Some(kept) = self.kept.remove(key) {
            self.bytes -= bytes_of(key, &kept.answer);
        }
    }

    /// Notes that a part of a page did not come at a look. Returns whether that is how it is, because it failed at the looks
    /// before, too.
    pub(crate) fn fails_for_good(&mut self, page: PageId, part: &str) -> bool {
        let key = (page, part.to_owned());
        if self.failing.len() >= MOST_FAILING && !self.failing.contains_key(&key) {
            self.failing.clear();
        }
        let failures = self.failing.entry(key).or_default();
        *failures = failures.saturating_add(1);
        *failures >= FAILS_FOR_GOOD
    }

    /// Notes that a part of a page came.
    pub(crate) fn came(&mut self, page: PageId, part: &str) {
        if !self.failing.is_empty() {
            self.failing.remove(&(page, part.to_owned()));
        }
    }
}

fn bytes_of(key: &(String, Option<String>), answer: &PartAnswer) -> usize {
    key.0.len() + key.1.as_ref().map_or(0, String::len) + answer.body.len() + 256
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keep(parts: &mut Parts, url: &str, bytes: usize) {
        let answer = PartAnswer { status: 200, body: vec![0; bytes].into(), ..PartAnswer::default() };
        parts.keep(url, None, answer, Validators::default(), Timestamp::MIN);
    }

    #[test]
    fn what_was_not_used_for_longest_makes_room() {
        let mut parts = Parts::default();
        for number in 0..8 {
            keep(&mut parts, &number.to_string(), 7 << 20);
            assert!(parts.find("0", None).is_some());
        }
        let kept: Vec<_> = (0..8).filter(|number| parts.find(&number.to_string(), None).is_some()).collect();
        assert_eq!(kept, [0, 5, 6, 7]);
        assert!(parts.bytes <= MOST_BYTES);
        keep(&mut parts, "large", 9 << 20);
        assert!(parts.find("large", None).is_none() && parts.find("0", Some("text/css")).is_none());
        for number in kept {
            keep(&mut parts, &number.to_string(), 0);
        }
        assert!(parts.bytes < 2_000, "a later answer takes the place of the earlier: {}", parts.bytes);
    }

    #[test]
    fn a_part_that_fails_again_and_again_is_absent_until_it_comes() {
        let mut parts = Parts::default();
        let [page, other] = [1, 2].map(|number| PageId([number; 16]));
        assert_eq!([(); 4].map(|()| parts.fails_for_good(page, "a")), [false, false, true, true]);
        assert!(!parts.fails_for_good(other, "a"), "an outage at other pages says nothing");
        parts.came(page, "a");
        assert!(!parts.fails_for_good(page, "a") && !parts.fails_for_good(page, "b"));
    }
}
