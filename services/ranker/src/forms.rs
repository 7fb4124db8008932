//! Crawler traps, known by their yield. Pages of a trap (calendars, facets, endless counters) have addresses of one
//! form and say the same, but for numbers. A form whose pages are all alike loses its worth.

use crate::state::{FORMS, FormKey, FormYield};
use page::CanonicalUrl;
use std::cmp::Ordering;
use std::collections::HashMap;
use stream::{Context, ProcessError, TableError, TableKey};

/// Texts that a new one is compared with.
const LAST_TEXTS: usize = 32;
/// Looks that count. Older ones fade.
const LOOKS: f64 = 64.0;
/// Looks before which a form is trusted.
const TRUSTED_LOOKS: f64 = 8.0;
/// The least share of its worth that a form keeps, so that it is looked at now and then.
const LEAST: f64 = 0.02;
/// Forms of which the one that was seen least is given up for a new one.
const COMPARED: usize = 8;

impl FormKey {
    /// The form of an address: its host, its path with numbers left open, and the names of its parameters.
    pub(crate) fn of(url: &CanonicalUrl) -> Self {
        let mut form = url.host_name().to_owned();
        let mut is_number = false;
        for sign in url.path().chars() {
            if !(sign.is_ascii_digit() && is_number) {
                form.push(if sign.is_ascii_digit() { '0' } else { sign });
            }
            is_number = sign.is_ascii_digit();
        }
        for parameter in url.query().unwrap_or_default().split('&') {
            form.push('&');
            form.push_str(parameter.split('=').next().unwrap_or_default());
        }
        Self(document::text_hash(form.as_bytes()))
    }
}

impl FormYield {
    /// Notes the text of a page that was looked at for the first time.
    pub(crate) fn note(&mut self, text_hash: i64) {
        let is_new = !self.last_texts.contains(&text_hash);
        self.looks += 1.0;
        self.new_texts += f64::from(u8::from(is_new));
        if self.looks > LOOKS {
            self.new_texts *= LOOKS / self.looks;
            self.looks = LOOKS;
        }
        if is_new {
            self.last_texts.push(text_hash);
            if self.last_texts.len() > LAST_TEXTS {
                self.last_texts.remove(0);
            }
        }
    }

    /// The share of its worth that a page of the form keeps.
    pub(crate) fn share(&self) -> f64 {
        if self.looks < TRUSTED_LOOKS {
            return 1.0;
        }
        // One text that is new is expected of any form.
        ((self.new_texts - 1.0).max(0.0) / (self.looks - 1.0)).max(LEAST)
    }
}

/// For each form that has lost some of its worth, the share that it keeps. Few have, so they lie in memory: a link costs no
/// read.
#[derive(Debug, Default)]
pub(crate) struct FormShares {
    lossy: HashMap<u64, f64>,
    /// Forms in the table.
    forms: usize,
    /// The next form that is compared with others. They are compared in turn.
    next_compared: u64,
}

impl FormShares {
    /// Takes in a stored yield.
    pub(crate) fn restore(&mut self, form: FormKey, shown: &FormYield) {
        self.forms += 1;
        self.note(form, shown);
    }

    /// A page of this address was looked at for the first time. `most` forms are known: one that is new takes the place of the
    /// one of the next few that was seen least, which is seen anew if it comes back.
    pub(crate) fn take_look(
        &mut self,
        url: &CanonicalUrl,
        text_hash: i64,
        most: usize,
        context: &mut Context<'_>,
    ) -> Result<(), ProcessError> {
        let form = FormKey::of(url);
        let known = context.get(FORMS, &form)?;
        let is_new = known.is_none();
        let over = if is_new && self.forms >= most { self.least_of_next(form, context)? } else { Vec::new() };
        // No read may fail from here on.
        let mut seen = known.unwrap_or_default();
        seen.note(text_hash);
        self.forms += usize::from(is_new);
        self.note(form, &seen);
        context.put(FORMS, &form, &seen);
        for given_up in over {
            self.lossy.remove(&given_up.0);
            self.forms -= 1;
            context.delete(FORMS, &given_up);
        }
        Ok(())
    }

    /// The form that was seen least of the next few, and of the first few if the last was among them. Not this one.
    fn least_of_next(&mut self, but: FormKey, context: &Context<'_>) -> Result<Vec<FormKey>, TableError> {
        let mut least = Vec::new();
        for _ in 0..2 {
            let next = context.entries_from(FORMS, &FormKey(self.next_compared).to_bytes(), COMPARED)?;
            let was_last = next.len() < COMPARED;
            let after = next.last().map_or(0, |(form, _)| form.0.wrapping_add(1));
            self.next_compared = if was_last { 0 } else { after };
            let others = next.into_iter().filter(|(form, _)| *form != but && !least.contains(form));
            let found = others.min_by(by_looks);
            least.extend(found.map(|(form, _)| form));
            if !was_last {
                break;
            }
        }
        Ok(least)
    }

    fn note(&mut self, form: FormKey, shown: &FormYield) {
        match shown.share() {
            1.0 => self.lossy.remove(&form.0),
            share => self.lossy.insert(form.0, share),
        };
    }

    /// The share of its worth that a page with this address keeps.
    pub(crate) fn of(&self, url: &CanonicalUrl) -> f64 {
        if self.lossy.is_empty() {
            return 1.0;
        }
        self.lossy.get(&FormKey::of(url).0).copied().unwrap_or(1.0)
    }
}

fn by_looks(a: &(FormKey, FormYield), b: &(FormKey, FormYield)) -> Ordering {
    a.1.looks.total_cmp(&b.1.looks).then(a.0.0.cmp(&b.0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_values_leave_the_form() {
        let form = |url: &str| FormKey::of(&CanonicalUrl::parse(url).expect("it is an address"));
        assert_eq!(form("http://a.test/2026/11?day=3&x=1"), form("http://a.test/1999/7?day=24&x=2"));
        assert_ne!(form("http://a.test/2026/11"), form("http://a.test/2026/x"));
        assert_ne!(form("http://a.test/1"), form("http://b.test/1"));
        assert_ne!(form("http://a.test/?a=1"), form("http://a.test/?b=1"));
    }

    #[test]
    fn a_form_whose_pages_are_alike_loses_its_worth_and_gets_it_back() {
        let mut form = FormYield::default();
        (0..7).for_each(|_| form.note(5));
        assert_eq!(form.share(), 1.0, "too few to tell");
        (0..20).for_each(|_| form.note(5));
        assert_eq!(form.share(), LEAST);
        (100..400).for_each(|text| form.note(text));
        assert!(form.share() > 0.95, "{}", form.share());
        assert!(form.last_texts.len() <= LAST_TEXTS && form.looks <= LOOKS);
    }
}
