//! The resemblance from which on pages are mirrors, in whole numbers: a case exactly at the threshold must not depend
//! on the rounding of a fraction.

/// A resemblance α = p / q, and whether α itself suffices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Threshold {
    numerator: u32,
    denominator: u32,
    strict: bool,
}

impl Default for Threshold {
    /// 0.9 or more (Section E7).
    fn default() -> Self {
        Self { numerator: 9, denominator: 10, strict: false }
    }
}

impl Threshold {
    /// α = `numerator` / `denominator` or more; `None` if that is not in (0, 1].
    pub const fn at_least(numerator: u32, denominator: u32) -> Option<Self> {
        if numerator == 0 || numerator > denominator {
            return None;
        }
        Some(Self { numerator, denominator, strict: false })
    }

    /// More than α = `numerator` / `denominator`; `None` if that is not in (0, 1).
    pub const fn above(numerator: u32, denominator: u32) -> Option<Self> {
        if numerator == 0 || numerator >= denominator {
            return None;
        }
        Some(Self { numerator, denominator, strict: true })
    }

    /// A share or more, to the nearest thousandth; `None` if that is not in (0, 1].
    pub fn near(share: f64) -> Option<Self> {
        Self::at_least((1_000.0 * share).round() as u32, 1_000)
    }

    /// The share α.
    pub fn share(self) -> f64 {
        f64::from(self.numerator) / f64::from(self.denominator)
    }

    /// The threshold of a decimal fraction in (0, 1], such as `.8`, `0.95` or `1`, without rounding; `None` for anything
    /// else. If `strict`, α itself does not suffice, and 1 is refused.
    pub fn of_decimal(text: &str, strict: bool) -> Option<Self> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let is_decimal = whole.len() + fraction.len() > 0 && fraction.len() <= 6;
        if !is_decimal || !whole.bytes().chain(fraction.bytes()).all(|digit| digit.is_ascii_digit()) {
            return None;
        }
        let numerator: u32 = format!("0{whole}{fraction}").parse().ok()?;
        let denominator = 10_u32.pow(fraction.len() as u32);
        if strict { Self::above(numerator, denominator) } else { Self::at_least(numerator, denominator) }
    }

    /// The fewest links that a mirror of a page with `degree` links can have, if it has no more than that page.
    /// Resemblance is at most the ratio of the degrees n ≤ m, so n ≥ α m (Section E7).
    pub const fn lowest_partner_degree(self, degree: usize) -> usize {
        self.least(degree as u64 * self.numerator as u64, self.denominator as u64)
    }

    /// The fewest common links of two mirrors that have `links` links together, common ones counted twice: c / (n + m −
    /// c) ≥ p / q is c ≥ (n + m) p / (p + q).
    pub const fn least_common(self, links: usize) -> usize {
        self.least(links as u64 * self.numerator as u64, self.numerator as u64 + self.denominator as u64)
    }

    /// The least whole number at or, if strict, above a fraction.
    const fn least(self, dividend: u64, divisor: u64) -> usize {
        let least = if self.strict { dividend / divisor + 1 } else { dividend.div_ceil(divisor) };
        least as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn partners_are_those_of_the_table_of_section_e7() {
        let check = |degree, (numerator, denominator), strict, inclusive| {
            let above = Threshold::above(numerator, denominator).unwrap();
            let at_least = Threshold::at_least(numerator, denominator).unwrap();
            assert_eq!(above.lowest_partner_degree(degree), strict, "m = {degree}, above");
            assert_eq!(at_least.lowest_partner_degree(degree), inclusive, "m = {degree}, at least");
        };
        check(150, (9, 10), 136, 135);
        check(11, (9, 10), 10, 10);
        check(12, (9, 10), 11, 11);
        check(100, (8, 10), 81, 80);
        check(40, (95, 100), 39, 38);
    }

    #[test]
    fn decimals_are_read_without_rounding() {
        assert_eq!(Threshold::of_decimal(".8", false), Threshold::at_least(8, 10));
        assert_eq!(Threshold::of_decimal("0.95", true), Threshold::above(95, 100));
        assert_eq!(Threshold::of_decimal("1", false), Threshold::at_least(1, 1));
        for text in ["", ".", "0", "1.1", "-.5", "+.5", ".1234567", "80%", "99999999999", "0.9e1"] {
            assert_eq!(Threshold::of_decimal(text, false), None, "{text}");
        }
        assert_eq!(Threshold::of_decimal("1.0", true), None);
    }

    #[test]
    fn shares_that_are_none_are_refused() {
        assert_eq!((Threshold::at_least(0, 5), Threshold::at_least(6, 5), Threshold::above(5, 5)), (None, None, None));
    }

    proptest! {
        #[test]
        fn common_links_are_enough_exactly_from_the_threshold_on(
            (ours, theirs) in (1u64..200, 1u64..200), denominator in 1u32..20, share in 0.0f64..1.0, strict: bool,
        ) {
            let numerator = 1 + (share * f64::from(denominator - 1)) as u32;
            let made = if strict { Threshold::above } else { Threshold::at_least };
            let Some(threshold) = made(numerator, denominator) else { return Ok(()) };
            for common in 0..=ours.min(theirs) {
                let (left, right) = (common * u64::from(denominator), (ours + theirs - common) * u64::from(numerator));
                let enough = if strict { left > right } else { left >= right };
                prop_assert_eq!(common as usize >= threshold.least_common((ours + theirs) as usize), enough);
                if enough {
                    let (few, many) = (ours.min(theirs) as usize, ours.max(theirs) as usize);
                    prop_assert!(few >= threshold.lowest_partner_degree(many));
                }
            }
        }
    }
}
