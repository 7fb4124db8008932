//! Crawler traps, known by their yield. Pages of a trap (calendars, facets, endless counters) have addresses of one
//! form and say the same, but for numbers. A form whose pages are all alike loses its worth.

use crate::state::{FORMS, FormKey, FormYield};
use page::CanonicalUrl;
use std::collections::HashMap;
use stream::{Context, ProcessError};

/// Texts that a new one is compared with.
const LAST_TEXTS: usize = 32;
/// Looks that count. Older ones fade.
const LOOKS: f64 = 64.0;
/// Looks before which a form is trusted.
const TRUSTED_LOOKS: f64 = 8.0;
/// The least share of its worth that a form keeps, so that it is looked at now and then.
const LEAST: f64 = 0.02;

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
}

impl FormShares {
    /// Notes the yield of a form.
    pub(crate) fn note(&mut self, form: FormKey, shown: &FormYield) {
        match shown.share() {
            1.0 => self.lossy.remove(&form.0),
            share => self.lossy.insert(form.0, share),
        };
    }

    /// Notes that a form has a record that had none.
    pub(crate) fn count_new(&mut self) {
        self.forms += 1;
    }

    /// Deletes the half of the forms that were seen least, if there are more than `most`. One that comes back is seen anew.
    pub(crate) fn keep_within(&mut self, most: usize, context: &mut Context<'_>) -> Result<(), ProcessError> {
        if self.forms <= most {
            return Ok(());
        }
        let mut seen = Vec::with_capacity(self.forms);
        context.scan(FORMS, b"", &mut |form, shown| {
            seen.push((shown.looks as u32, form.0));
            Ok::<_, ProcessError>(())
        })?;
        let half = seen.len() / 2;
        seen.select_nth_unstable(half);
        for (_, form) in &seen[..half] {
            self.lossy.remove(form);
            context.delete(FORMS, &FormKey(*form));
        }
        self.forms = seen.len() - half;
        Ok(())
    }

    /// The share of its worth that a page with this address keeps.
    pub(crate) fn of(&self, url: &CanonicalUrl) -> f64 {
        if self.lossy.is_empty() {
            return 1.0;
        }
        self.lossy.get(&FormKey::of(url).0).copied().unwrap_or(1.0)
    }
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
