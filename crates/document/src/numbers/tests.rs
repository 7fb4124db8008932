use super::*;
use proptest::prelude::*;

fn values(text: &str) -> Vec<f64> {
    numbers(text).map(|number| number.value).collect()
}

/// The first number that is a price, as `low` or `low..high`.
fn price_in(text: &str, format: &NumberFormat) -> Option<(f64, f64)> {
    let all = amounts(text, format, AmountKind::Price);
    let found = all.iter().find(|amount| amount.has_currency).or_else(|| all.first())?;
    let rounded = |value: f64| (value * 1e6).round() / 1e6;
    Some((rounded(found.low), rounded(found.high)))
}

fn price(text: &str) -> Option<f64> {
    price_in(text, &NumberFormat::default()).map(|(low, _)| low)
}

#[test]
fn numbers_are_read_as_they_are_written_in_several_countries() {
    let check = |text: &str, expected: &[f64]| assert_eq!(values(text), expected, "{text}");
    check("1,299.00", &[1_299.0]);
    check("1.299,00 €", &[1_299.0]);
    check("CHF 1'299.–", &[1_299.0]);
    check("1\u{a0}299,50 kr", &[1_299.5]);
    check("1\u{202f}234\u{202f}567", &[1_234_567.0]);
    check("12,90 €", &[12.9]);
    check("$19.99, was $29", &[19.99, 29.0]);
    check("1.299", &[1_299.0]);
    check("0.125 and 0,125", &[0.125, 0.125]);
    check("1.2999", &[1.2999]);
    check("-5 °C or −7 °C, 10-20", &[-5.0, -7.0, 10.0, 20.0]);
    check("19,- and 20.", &[19.0, 20.0]);
    check("24.11.2026 and v1.2.3", &[]);
    check("room 12 345", &[12_345.0]);
    check("12 3456", &[12.0, 3_456.0]);
    check("1,299.00 500", &[1_299.0, 500.0]);
    check("٢٠٫٥ and １２", &[20.5, 12.0]);
    check("1234567890123456789 then 3", &[3.0]);
    check("no number", &[]);
}

#[test]
fn groups_and_digits_of_other_countries_are_read() {
    let check = |text: &str, expected: &[f64]| assert_eq!(values(text), expected, "{text}");
    check("1,29,900 and 12,34,567.50", &[129_900.0, 1_234_567.5]);
    check("1,2,900", &[]);
    check("1’299.50, 1´299, 1`299", &[1_299.5, 1_299.0, 1_299.0]);
    check("1\u{2009}299,50 and 1\u{2007}299", &[1_299.5, 1_299.0]);
    check("１，２９９ and １．５", &[1_299.0, 1.5]);
    check("١٬٢٩٩٫٥٠ and ۱۲۹۹ and ١٫٢٩٩", &[1_299.5, 1_299.0, 1.299]);
    check("१,२९,९०० and ๑๙", &[129_900.0, 19.0]);
    check("1万2800 and 1億2800万 and 3千", &[12_800.0, 128_000_000.0, 3_000.0]);
    check("1.5万 and 1만 2,800 and 2万3", &[15_000.0, 12_800.0, 20_003.0]);
    check("1万20000", &[10_000.0, 20_000.0]);
    check("1.29 lakh, 2 crores, 3 lakhish", &[129_000.0, 20_000_000.0, 3.0]);
    check(",89 and $.75 and (.5)", &[0.89, 0.75, 0.5]);
    check("a,89 and ... .. 3 and 1,2", &[89.0, 3.0, 1.2]);
    check("v.75 and x ,8", &[75.0, 8.0]);
    check("19⁹⁹ and 1,79⁹ and 19,99¹ and 5²", &[19.99, 1.799, 19.99, 5.0]);
}

#[test]
fn prices_are_read_as_a_buyer_reads_them() {
    let check = |text: &str, expected: f64| assert_eq!(price(text), Some(expected), "{text}");
    check("₹1,29,900.00", 129_900.0);
    check("₹ 1,29,900", 129_900.0);
    check("-,89 €", 0.89);
    check("–,89 €", 0.89);
    check("¢99", 0.99);
    check("12 €99", 12.99);
    check("12 € 99", 12.99);
    check("1.299.00 €", 1_299.0);
    check("1,299,99 €", 1_299.99);
    check("Pack of 6 $5.99", 5.99);
    check(",89 €", 0.89);
    check("$ .75", 0.75);
    check("12€99", 12.99);
    check("1 299€99", 1_299.99);
    check("12€99 a piece, 3€50 for two", 12.99);
    check("99p", 0.99);
    check("99¢", 0.99);
    check("99 ct", 0.99);
    check("85c each", 0.85);
    check("129.9p a litre", 1.299);
    check("50 Cent", 0.5);
    check("£1.99p", 1.99);
    check("Full HD 1080p film for £4.50", 4.5);
    check("25 C, 12 €", 12.0);
    check("１，２９９円", 1_299.0);
    check("￥１，２９９", 1_299.0);
    check("1万2800円", 12_800.0);
    check("35 00 €", 35.0);
    check("$1,299 99", 1_299.99);
    check("Size 38 99 €", 99.0);
    check("2 for 12 €", 12.0);
    check("19,- €", 19.0);
    check("CHF 1'299.–", 1_299.0);
    check("1.299 €", 1_299.0);
    check("€1,299", 1_299.0);
    check("R$ 1.299,90", 1_299.9);
    check("12.500 KD", 12.5);
    check("KWD 1,250.500", 1_250.5);
    check("12,500 TND", 12.5);
    check("¥1,299", 1_299.0);
    check("1.299.000 ₫", 1_299_000.0);
    check("PHP 8 for 12 EUR", 12.0);
    check("1.799 €/l", 1.799);
    check("1,799 € per litre", 1.799);
    check("1.799 € per lamp", 1_799.0);
}

#[test]
fn a_range_has_a_lower_and_a_higher_end() {
    let check = |text: &str, expected: (f64, f64)| {
        assert_eq!(price_in(text, &NumberFormat::default()), Some(expected), "{text}");
    };
    check("12.99 - 19.99 €", (12.99, 19.99));
    check("€12.99–€19.99", (12.99, 19.99));
    check("$12-$19", (12.0, 19.0));
    check("$1,299.00 — $1,999.00", (1_299.0, 1_999.0));
    check("12,99 € bis 19,99 €", (12.99, 19.99));
    check("from $12 to $19", (12.0, 19.0));
    check("between 12 and 19 €", (12.0, 19.0));
    check("von 12 bis 19 €", (12.0, 19.0));
    check("1,000円〜2,000円", (1_000.0, 2_000.0));
    check("12.99 −19.99 €", (12.99, 19.99));
    check("Price: 12 - 19 EUR", (12.0, 19.0));
    check("99p - £1.50", (0.99, 1.5));
    check("$5 - $500", (5.0, 500.0));
    // These are none.
    check("29,90 € - 19,90 €", (29.9, 29.9));
    check("Lamp 500 - 999 €", (999.0, 999.0));
    check("2 - 199 €", (199.0, 199.0));
    check("$12 and $19", (12.0, 12.0));
    check("+49 30-12-34, 5 €", (5.0, 5.0));
}

#[test]
fn one_separator_before_three_digits_is_read_by_the_evidence_of_the_page() {
    let check = |language: Option<&str>, page: &[&str], text: &str, expected: f64| {
        let mut format = NumberFormat::of_language(language);
        page.iter().for_each(|text| format.take_text(text));
        assert_eq!(price_in(text, &format).map(|(low, _)| low), Some(expected), "{language:?} {page:?} {text}");
    };
    // Without evidence, and where it is divided, there are thousands.
    check(None, &[], "1.299", 1_299.0);
    check(Some("en"), &[], "1.299 €", 1_299.0);
    check(Some("en"), &[], "$1.299", 1_299.0);
    check(Some("de"), &[], "1.299 €", 1_299.0);
    check(Some("en"), &[], "€1,299", 1_299.0);
    check(Some("es-CL"), &[], "$1.299", 1_299.0);
    // Language and currency.
    check(Some("de-DE"), &[], "1,299 €", 1.299);
    check(Some("en-GB"), &[], "£1.299", 1.299);
    check(Some("de_CH"), &[], "CHF 1.299", 1.299);
    // Other prices.
    check(Some("en"), &["19.99", "$2.49"], "1.299 €", 1.299);
    check(None, &["19,99 €", "2,49 €"], "1,299 €", 1.299);
    check(None, &["19,99 €", "1.234.567 €"], "1.299 €", 1_299.0);
    check(None, &["19,99 €", "19.99 €"], "1,299 €", 1_299.0);
    check(Some("en"), &["1.299,00"], "£1.299", 1_299.0);
    // Rates and units.
    check(None, &[], "1 EUR = 1.085 USD", 1.0);
    check(None, &[], "= 1.085", 1.085);
    check(None, &[], "2.125 %", 2.125);
    let mut format = NumberFormat::default();
    format.take_value(1.799);
    assert_eq!(price_in("1,799 €", &format), Some((1.799, 1.799)));
    let either = numbers("1,799").next().unwrap();
    assert_eq!((either.value, either.otherwise), (1_799.0, Some(1.799)));
}

/// How a locale writes a number: its separators, its language, and its currency.
const LOCALES: [(&str, &str, &str, &str); 8] = [
    (",", ".", "en", "$"),
    (".", ",", "de", " €"),
    ("'", ".", "de-CH", " CHF"),
    ("\u{a0}", ",", "fr", " €"),
    ("\u{202f}", ",", "nb", " kr"),
    ("٬", "٫", "ar", " ر.س"),
    ("", ".", "en", "£"),
    ("，", "．", "ja", "元"),
];

fn grouped(units: u32, group: &str) -> String {
    let digits = units.to_string();
    let mut written = String::new();
    for (index, sign) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            written.push_str(group);
        }
        written.push(sign);
    }
    written
}

/// A number as it is written in India.
fn in_lakhs(units: u32) -> String {
    let digits = units.to_string();
    let (front, last) = digits.split_at(digits.len().saturating_sub(3));
    let mut pairs: Vec<String> =
        front.as_bytes().rchunks(2).map(|pair| String::from_utf8_lossy(pair).into_owned()).collect();
    pairs.reverse();
    pairs.push(last.to_owned());
    pairs.join(",")
}

proptest! {
    #[test]
    fn a_price_is_read_whatever_its_separators(units in 0_u32..10_000_000, cents in 0_u32..100, style in 0_usize..LOCALES.len()) {
        let (group, decimal, language, currency) = LOCALES[style];
        let text = format!("price: {}{decimal}{cents:02} today", grouped(units, group));
        let expected = format!("{units}.{cents:02}").parse::<f64>().unwrap();
        prop_assert_eq!(values(&text), vec![expected], "{}", &text);
        let text = format!("{}{decimal}{cents:02}{currency}", grouped(units, group));
        let format = NumberFormat::of_language(Some(language));
        prop_assert_eq!(price_in(&text, &format), Some((expected, expected)), "{}", &text);
    }

    #[test]
    fn lakhs_are_read(units in 100_000_u32..1_000_000_000) {
        let text = in_lakhs(units);
        prop_assert_eq!(values(&text), vec![f64::from(units)], "{}", text);
    }

    #[test]
    fn a_page_whose_prices_agree_has_no_doubtful_ones(units in 1_u32..1_000, thousandths in 0_u32..1_000, style in 0_usize..2) {
        let (group, decimal, ..) = LOCALES[style];
        let mut format = NumberFormat::default();
        format.take_text(&format!("19{decimal}99 and 2{group}345{decimal}50"));
        let read = |text: &str| numbers_in(text, &format).map(|number| number.value).collect::<Vec<_>>();
        prop_assert_eq!(read(&format!("{units}{group}{thousandths:03}")), vec![f64::from(1_000 * units + thousandths)]);
        let expected = format!("{units}.{thousandths:03}").parse::<f64>().unwrap();
        prop_assert_eq!(read(&format!("{units}{decimal}{thousandths:03}")), vec![expected]);
    }

    #[test]
    fn any_text_is_read_to_its_end(text in "[0-9.,' x€$–〜万億⁹p¢K-]{0,40}") {
        for number in numbers(&text) {
            prop_assert!(number.value.is_finite() && !number.place.is_empty());
        }
        for kind in [AmountKind::Price, AmountKind::Any] {
            for amount in amounts(&text, &NumberFormat::default(), kind) {
                prop_assert!(amount.low <= amount.high && text.is_char_boundary(amount.place.start));
                prop_assert!(text.is_char_boundary(amount.place.end));
            }
        }
    }
}

#[test]
fn hostile_texts_take_linear_time() {
    let pieces =
        ["1", "1.", "1,2", "1 ", "111 ", "1万", "1億1万", "1-", "9€", "1 \u{202f}", ".,", "1 to ", "$", "１，", "1⁹"];
    for piece in pieces {
        let text = piece.repeat(100_000 / piece.len());
        assert!(amounts(&text, &NumberFormat::default(), AmountKind::Price).len() <= text.len());
        let mut format = NumberFormat::default();
        format.take_text(&text);
    }
}
