//! Numbers in sentences.

/// A rate to three significant digits, with six places behind the point at most.
pub fn rate(per_second: f64) -> String {
    let digits = if per_second > 0.0 { (2 - per_second.log10().floor() as i32).clamp(0, 6) as usize } else { 0 };
    format!("{per_second:.digits$}")
}

/// A number that is not negative, rounded to a whole one, in groups of three digits.
pub fn grouped(number: f64, separator: &str) -> String {
    let digits = format!("{number:.0}");
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|group| std::str::from_utf8(group).ok()).collect();
    groups.join(separator)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!([10.0, 0.1234, 0.000_001, 1_234.5, 0.0].map(rate), ["10.0", "0.123", "0.000001", "1234", "0"]);
        let grouped = |number| grouped(number, " ");
        assert_eq!([0.0, 999.4, 1_000.0, 25_920_000.0].map(grouped), ["0", "999", "1 000", "25 920 000"]);
    }
}
