//! The signs and codes of currencies, and how their countries write decimals.

use super::signs::{DecimalSign, digit};

/// A sign or code beside a number that makes it a price.
#[derive(Clone, Copy, Debug)]
pub(super) struct Currency {
    /// In lower case.
    sign: &'static str,
    /// How prices in it are written, where all countries that use the sign agree.
    pub(super) decimal: Option<DecimalSign>,
    /// The number of decimals: prices in yen have none, those in dinars three.
    pub(super) decimals: u8,
}

const fn of(sign: &'static str, decimal: Option<DecimalSign>, decimals: u8) -> Currency {
    Currency { sign, decimal, decimals }
}

const DOT: Option<DecimalSign> = Some(DecimalSign::Dot);
const COMMA: Option<DecimalSign> = Some(DecimalSign::Comma);

/// Longer signs come before those that they end or begin with.
#[rustfmt::skip]
const CURRENCIES: &[Currency] = &[
    of("us$", DOT, 2), of("au$", DOT, 2), of("a$", DOT, 2), of("ca$", None, 2), of("c$", None, 2), of("hk$", DOT, 2),
    of("nz$", DOT, 2), of("s$", DOT, 2), of("nt$", DOT, 0), of("mx$", DOT, 2), of("r$", COMMA, 2), of("$", None, 2),
    of("＄", None, 2), of("€", COMMA, 2), of("£", DOT, 2), of("￡", DOT, 2), of("¥", DOT, 0), of("￥", DOT, 0),
    of("元", DOT, 2), of("円", DOT, 0), of("₹", DOT, 2), of("rs.", DOT, 2), of("rs", DOT, 2), of("₽", COMMA, 2),
    of("руб", COMMA, 2), of("₴", COMMA, 2), of("₩", DOT, 0), of("￦", DOT, 0), of("원", DOT, 0), of("₺", COMMA, 2),
    of("₫", COMMA, 0), of("₪", DOT, 2), of("฿", DOT, 2), of("₱", DOT, 2), of("₦", DOT, 2), of("₡", COMMA, 2),
    of("₸", COMMA, 2), of("zł", COMMA, 2), of("zl", COMMA, 2), of("kč", COMMA, 2), of("kc", COMMA, 2), of("kr.", COMMA, 2), of("kr", COMMA, 2), of("lei", COMMA, 2),
    of("лв", COMMA, 2), of("fr.", DOT, 2), of("sfr", DOT, 2), of("rp", COMMA, 0), of("rm", DOT, 2), of("euro", COMMA, 2),
    of("euros", COMMA, 2), of("eur", COMMA, 2), of("dollars", None, 2), of("usd", DOT, 2), of("gbp", DOT, 2),
    of("chf", DOT, 2), of("jpy", DOT, 0), of("cny", DOT, 2), of("rmb", DOT, 2), of("sek", COMMA, 2), of("nok", COMMA, 2),
    of("dkk", COMMA, 2), of("isk", COMMA, 0), of("pln", COMMA, 2), of("czk", COMMA, 2), of("huf", COMMA, 0),
    of("ron", COMMA, 2), of("bgn", COMMA, 2), of("rub", COMMA, 2), of("uah", COMMA, 2), 
    of("tl", COMMA, 2), of("cad", None, 2), of("aud", DOT, 2), of("nzd", DOT, 2), of("hkd", DOT, 2), of("sgd", DOT, 2),
    of("twd", DOT, 0), of("krw", DOT, 0), of("inr", DOT, 2), of("brl", COMMA, 2), of("mxn", DOT, 2), 
    of("clp", COMMA, 0), of("idr", COMMA, 0), of("vnd", COMMA, 0), of("thb", DOT, 2),
    of("myr", DOT, 2), of("ils", DOT, 2), of("zar", None, 2), of("aed", DOT, 2), of("sar", DOT, 2),
    of("qar", DOT, 2), of("egp", DOT, 2), of("kwd", DOT, 3), of("kd", DOT, 3), of("د.ك", DOT, 3), of("bhd", DOT, 3),
    of("omr", DOT, 3), of("jod", DOT, 3), of("tnd", COMMA, 3),
    of("د.إ", DOT, 2), of("ر.س", DOT, 2), of("ريال", None, 2), of("تومان", None, 0), of("درهم", None, 2),
];

/// Signs and words that one currency alone has, with its code (ISO 4217). Codes themselves are left out.
const CODES: &[(&str, &str)] = &[
    ("€", "EUR"),
    ("euro", "EUR"),
    ("euros", "EUR"),
    ("£", "GBP"),
    ("￡", "GBP"),
    ("pence", "GBP"),
    ("us$", "USD"),
    ("au$", "AUD"),
    ("a$", "AUD"),
    ("ca$", "CAD"),
    ("c$", "CAD"),
    ("hk$", "HKD"),
    ("nz$", "NZD"),
    ("s$", "SGD"),
    ("nt$", "TWD"),
    ("mx$", "MXN"),
    ("r$", "BRL"),
    ("＄", "$"),
    ("dollars", "$"),
    ("￥", "¥"),
    ("元", "CNY"),
    ("rmb", "CNY"),
    ("円", "JPY"),
    ("₹", "INR"),
    ("₽", "RUB"),
    ("руб", "RUB"),
    ("коп", "RUB"),
    ("₴", "UAH"),
    ("₩", "KRW"),
    ("￦", "KRW"),
    ("원", "KRW"),
    ("₺", "TRY"),
    ("tl", "TRY"),
    ("₫", "VND"),
    ("₪", "ILS"),
    ("฿", "THB"),
    ("₱", "PHP"),
    ("₦", "NGN"),
    ("₡", "CRC"),
    ("₸", "KZT"),
    ("zł", "PLN"),
    ("zl", "PLN"),
    ("kč", "CZK"),
    ("kc", "CZK"),
    ("kr.", "kr"),
    ("lei", "RON"),
    ("лв", "BGN"),
    ("fr.", "CHF"),
    ("sfr", "CHF"),
    ("rp", "IDR"),
    ("rm", "MYR"),
    ("kd", "KWD"),
    ("د.ك", "KWD"),
    ("د.إ", "AED"),
    ("ر.س", "SAR"),
];

/// The name of a unit for people and programs: the code of a currency where its sign has only one (`€` is `EUR`), and
/// otherwise the sign (`$`, `kr`, `%`).
pub fn unit_name(sign: &str) -> String {
    let sign = sign.trim().to_lowercase();
    let code = CODES.iter().find(|(known, _)| *known == sign).map(|(_, code)| (*code).to_owned());
    code.unwrap_or_else(|| match sign.len() == 3 && sign.bytes().all(|byte| byte.is_ascii_lowercase()) {
        true => sign.to_uppercase(),
        false => sign,
    })
}

/// Marks of a hundredth of a currency's unit, in lower case. Those with `true` stand right behind their number.
const HUNDREDTHS: [(&str, bool); 12] = [
    ("¢", false),
    ("￠", false),
    ("p", true),
    ("pence", false),
    ("pennies", false),
    ("cents", false),
    ("cent", false),
    ("centimes", false),
    ("ct", false),
    ("c", true),
    ("коп", false),
    ("øre", false),
];

/// Numbers of lines of films: `1080p` is no price.
const LINES_OF_FILMS: [f64; 9] = [144.0, 240.0, 360.0, 480.0, 720.0, 1080.0, 1440.0, 2160.0, 4320.0];
/// Nothing that is priced in hundredths costs more of them.
const MAX_HUNDREDTHS: f64 = 1_000.0;

/// The most bytes before and behind a number that are searched.
const MAX_BESIDE_BYTES: usize = 24;

impl Currency {
    pub(super) fn sign(&self) -> &'static str {
        self.sign
    }

    fn is_word(&self) -> bool {
        self.sign.starts_with(char::is_alphabetic)
    }

    fn ends_in_word(&self) -> bool {
        self.sign.ends_with(char::is_alphabetic)
    }
}

/// The currency at the end of the text before a number, and the length of the text before the currency.
pub(super) fn before(text: &str) -> Option<(Currency, usize)> {
    let text = text.trim_end_matches(is_blank);
    let near = &text[text.ceil_char_boundary(text.len().saturating_sub(MAX_BESIDE_BYTES))..];
    let lower = near.to_lowercase();
    CURRENCIES.iter().find_map(|currency| {
        let rest = lower.strip_suffix(currency.sign)?;
        let is_inside_word = currency.is_word() && rest.ends_with(char::is_alphabetic);
        let place = text.floor_char_boundary(text.len().saturating_sub(currency.sign.len()));
        (!is_inside_word).then_some((*currency, place))
    })
}

/// The currency at the start of the text behind a number, and the place behind it. A sign behind a blank that another
/// number follows at once belongs to that one.
pub(super) fn behind(text: &str) -> Option<(Currency, usize)> {
    let (currency, place) = any_behind(text)?;
    let is_apart = text.starts_with(is_blank);
    let is_of_next = is_apart && text[place..].starts_with(|sign| digit(sign).is_some());
    (!is_of_next || currency.ends_in_word()).then_some((currency, place))
}

/// The currency behind a number, whether it is that of the number or of the next one.
pub(super) fn any_behind(text: &str) -> Option<(Currency, usize)> {
    let rest = without_empty_decimals(text).trim_start_matches(is_blank);
    let near = &rest[..rest.floor_char_boundary(MAX_BESIDE_BYTES)];
    let lower = near.to_lowercase();
    CURRENCIES.iter().find_map(|currency| {
        let behind = lower.strip_prefix(currency.sign)?;
        let is_inside_word = currency.ends_in_word() && behind.starts_with(is_of_spaced_word);
        let place = text.ceil_char_boundary(text.len() - rest.len() + currency.sign.len());
        (!is_inside_word).then_some((*currency, place))
    })
}

/// The text behind the mark of a price without cents: `19,-`, `19.–`.
fn without_empty_decimals(text: &str) -> &str {
    let rest = text.trim_start_matches(['.', ',']);
    if rest.len() < text.len() { rest.trim_start_matches(['-', '–', '—']) } else { text }
}

/// Whether the text before a number ends in the sign of cents.
pub(super) fn follows_cent_sign(text: &str) -> bool {
    text.trim_end_matches(is_blank).ends_with(['¢', '￠'])
}

/// The place behind the mark that says that a number counts hundredths, if there is one.
pub(super) fn hundredths(text: &str, value: f64) -> Option<usize> {
    let rest = text.trim_start_matches(is_blank);
    let is_beside = rest.len() == text.len();
    let lower = rest[..rest.floor_char_boundary(MAX_BESIDE_BYTES)].to_lowercase();
    let (mark, _) = HUNDREDTHS.iter().find(|(mark, only_beside)| {
        let behind = lower.strip_prefix(mark);
        let may_be = !only_beside || (is_beside && rest.starts_with(mark));
        may_be && behind.is_some_and(|behind| !behind.starts_with(char::is_alphanumeric))
    })?;
    let is_price = value < MAX_HUNDREDTHS && !LINES_OF_FILMS.contains(&value);
    is_price.then(|| text.ceil_char_boundary(text.len() - rest.len() + mark.len()))
}

/// The currency whose hundredths the mark at the start of a text counts, if only one has such.
pub(super) fn of_hundredths(text: &str) -> Option<&'static str> {
    let word = text.trim_start_matches(is_blank).split(|sign: char| !sign.is_alphabetic()).next()?.to_lowercase();
    match &*word {
        "p" | "pence" | "pennies" => Some("pence"),
        "коп" => Some("коп"),
        _ => None,
    }
}

/// Whether a text begins with the sign or code of a currency.
pub fn begins_with_currency(text: &str) -> bool {
    behind(text).is_some()
}

/// Whether a text ends with the sign or code of a currency.
pub fn ends_with_currency(text: &str) -> bool {
    before(text).is_some()
}

pub(super) fn is_blank(sign: char) -> bool {
    sign.is_whitespace() || matches!(sign, '\u{200e}' | '\u{200f}' | '\u{2060}')
}

/// Whether a sign continues a word. Chinese, Japanese and Thai words follow each other without blanks.
fn is_of_spaced_word(sign: char) -> bool {
    sign.is_alphabetic() && u32::from(sign) < 0xe00
}
