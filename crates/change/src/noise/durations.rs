//! Lengths of time as pages write them: `3 hours`, `vor 5 Std.`, `2d`, `3天前`. Whether they grow with the clock is learned
//! ([`super::forms`]); a length of time alone may be a time of delivery.

use super::tokens::{Meaning, Token};

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const WEEK: i64 = 7 * DAY;
const MONTH: i64 = 30 * DAY;
const YEAR: i64 = 365 * DAY;

/// Units in lower case, without a dot at the end, in the languages of Europe and of Western and Southern Asia.
const UNITS: [(i64, &str); 7] = [
    (
        1,
        "s sec secs second seconds sek sekunde sekunden seconde secondes seconden segundo segundos secondo secondi \
         sekund sekunder sekunti sekuntia sekundy sekundu секунда секунды секунд сек saniye sn másodperc secunde secundă \
         δευτερόλεπτα ثانية ثوان שניות giây detik",
    ),
    (
        MINUTE,
        "m min mins minute minutes minuten minuto minutos minuti minuut minuut minutt minutter minut minuty minuter \
         minuutti minuuttia минута минуты минут мин минуту хвилина хвилини хвилин хв dakika dk perc percig minuta minuto \
         minutą λεπτά λεπτό دقيقة دقائق דקות phút menit minit मिनट",
    ),
    (
        HOUR,
        "h hr hrs hour hours std stunde stunden heure heures hora horas ora ore uur uren u time timer timar timme timmar \
         tim t tunti tuntia hodina hodiny hodin hod godzina godziny godzin godz godzinę час часа часов ч година години \
         годин год saat sa óra órája ură oră ώρα ώρες ساعة ساعات שעות giờ jam घंटे घंटा",
    ),
    (
        DAY,
        "d day days tag tage tagen tg jour jours j día días dia dias giorno giorni gg dag dagen dage dagar dygn päivä \
         päivää pv den dny dní dni dzień dní день дня дней дн дні днів gün nap napja zi zile ημέρα ημέρες μέρες يوم أيام \
         ימים ngày hari दिन",
    ),
    (
        WEEK,
        "w wk wks week weeks woche wochen wo semaine semaines semana semanas settimana settimane weken uke uker vecka \
         veckor uge uger viikko viikkoa týden týdny týdnů tydzień tygodnie tygodni неделя недели недель нед неделю тиждень \
         тижні тижнів hafta hét hete săptămână săptămâni εβδομάδα εβδομάδες أسبوع أسابيع שבועות tuần minggu",
    ),
    (
        MONTH,
        "mo mos month months monat monate monaten mes meses mese mesi maand maanden måned måneder månad månader mois \
         kuukausi kuukautta měsíc měsíce měsíců miesiąc miesiące miesięcy месяц месяца месяцев мес місяць місяці місяців \
         ay hónap lună luni μήνας μήνες شهر أشهر חודשים tháng bulan",
    ),
    (
        YEAR,
        "y yr yrs year years jahr jahre jahren an ans année années año años ano anos anno anni jaar år vuosi vuotta rok \
         roky let rok lata lat год года лет рік роки років yıl év ani χρόνια سنة سنوات שנים năm tahun",
    ),
];

/// Units of scripts without spaces, and of Korean, whose words end in particles. Longer ones come first.
const UNSPACED_UNITS: [(&str, i64); 25] = [
    ("分钟", MINUTE),
    ("分鐘", MINUTE),
    ("小时", HOUR),
    ("小時", HOUR),
    ("時間", HOUR),
    ("个小时", HOUR),
    ("個小時", HOUR),
    ("个月", MONTH),
    ("個月", MONTH),
    ("ヶ月", MONTH),
    ("か月", MONTH),
    ("カ月", MONTH),
    ("星期", WEEK),
    ("週間", WEEK),
    ("周", WEEK),
    ("週", WEEK),
    ("秒", 1),
    ("分", MINUTE),
    ("天", DAY),
    ("日", DAY),
    ("年", YEAR),
    ("นาที", MINUTE),
    ("ชั่วโมง", HOUR),
    ("ชม", HOUR),
    ("วัน", DAY),
];
const KOREAN_UNITS: [(&str, i64); 7] =
    [("초", 1), ("분", MINUTE), ("시간", HOUR), ("일", DAY), ("주", WEEK), ("개월", MONTH), ("년", YEAR)];

/// Single characters that are units also behind a blank.
const APART_SIGNS: [&str; 3] = ["h", "d", "ч"];

/// Words for one, before a unit.
const ONE: &str = "a an one ein eine einem einer eines un une uno una um uma een en ett et один одну jeden jedna bir";

/// The most of a unit that a length of time counts: `1201 m` is a distance.
const MAX_COUNT: u64 = 999;

/// Joins each number with the unit behind it, and lengths of time that follow each other: `3 h 12 min`.
pub(super) fn join<'t>(text: &'t str, tokens: &mut Vec<Token<'t>>) {
    let mut joined: Vec<Token<'t>> = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while at < tokens.len() {
        let token = &tokens[at];
        let found = count(token).and_then(|count| {
            let (unit, taken) = unit_at(text, token.place.end, &tokens[at + 1..])?;
            Some((count, unit, taken))
        });
        let Some((count, unit, taken)) = found else {
            joined.push(token.clone());
            at += 1;
            continue;
        };
        let end = tokens[at + taken].place.end;
        let seconds = count * unit;
        match joined.last_mut() {
            Some(Token { place, meaning: Meaning::Duration { seconds: before, unit: larger }, text: said })
                if *larger > unit && place.end < token.place.start =>
            {
                (*before, *larger, place.end) = (*before + seconds, unit, end);
                *said = &text[place.clone()];
            }
            _ => {
                let place = token.place.start..end;
                joined.push(Token { text: &text[place.clone()], place, meaning: Meaning::Duration { seconds, unit } });
            }
        }
        at += 1 + taken;
    }
    *tokens = joined;
}

fn count(token: &Token<'_>) -> Option<i64> {
    match token.meaning {
        Meaning::Number(Some(count)) if count <= MAX_COUNT => i64::try_from(count).ok(),
        Meaning::Word if is_in(ONE, &token.text.to_lowercase()) => Some(1),
        Meaning::Word
        | Meaning::Number(_)
        | Meaning::Id
        | Meaning::Time
        | Meaning::Duration { .. }
        | Meaning::Date(_) => None,
    }
}

/// The unit that tokens behind a number begin with, in seconds, and the number of its tokens.
fn unit_at(text: &str, number_end: usize, tokens: &[Token<'_>]) -> Option<(i64, usize)> {
    let first = tokens.first()?;
    let rest = &text[first.place.start..];
    let unspaced = UNSPACED_UNITS.iter().filter(|(word, _)| rest.starts_with(word)).max_by_key(|(word, _)| word.len());
    if let Some((word, unit)) = unspaced {
        let end = first.place.start + word.len();
        return Some((*unit, tokens.iter().take_while(|token| token.place.end <= end).count().max(1)));
    }
    if first.meaning != Meaning::Word {
        return None;
    }
    let korean =
        KOREAN_UNITS.iter().filter(|(word, _)| first.text.starts_with(word)).max_by_key(|(word, _)| word.len());
    if let Some((_, unit)) = korean {
        return Some((*unit, 1));
    }
    let word = first.text.to_lowercase();
    // `7 y` may be the Spanish "and".
    let is_single = word.chars().count() == 1 && !APART_SIGNS.contains(&&*word);
    if is_single && first.place.start > number_end {
        return None;
    }
    UNITS.iter().find(|(_, words)| is_in(words, &word)).map(|(unit, _)| (*unit, 1))
}

fn is_in(words: &str, word: &str) -> bool {
    words.split_ascii_whitespace().any(|known| known == word)
}

#[cfg(test)]
mod tests {
    use super::super::tokens::tokens;
    use super::*;

    #[test]
    fn lengths_of_time_are_found_in_many_languages() {
        let check = |text: &str, expected: i64| {
            let found = tokens(text).into_iter().find_map(|token| match token.meaning {
                Meaning::Duration { seconds, .. } => Some(seconds),
                _ => None,
            });
            assert_eq!(found, Some(expected), "{text}");
        };
        for text in [
            "3 hours ago",
            "vor 3 Std.",
            "il y a 3 heures",
            "hace 3 horas",
            "há 3 horas",
            "3 ore fa",
            "3 uur geleden",
            "för 3 timmar sedan",
            "for 3 timer siden",
            "3 tuntia sitten",
            "3 часа назад",
            "3 godziny temu",
            "před 3 hodiny",
            "3 小时前",
            "3小時前",
            "3時間前",
            "3시간 전",
            "3 saat önce",
            "πριν από 3 ώρες",
            "3h",
            "3 h",
            "منذ 3 ساعات",
            "3 ชั่วโมงที่แล้ว",
            "3 giờ trước",
            "3 jam yang lalu",
        ] {
            check(text, 3 * HOUR);
        }
        check("an hour ago", HOUR);
        check("vor einem Tag", DAY);
        check("noch 12 Tage", 12 * DAY);
        check("2d", 2 * DAY);
        check("3 h 12 min", 3 * HOUR + 12 * MINUTE);
        check("5天前", 5 * DAY);
        check("2か月前", 2 * MONTH);
        let is_none = |text: &str| {
            let is_duration = |token: &Token<'_>| matches!(token.meaning, Meaning::Duration { .. });
            assert!(!tokens(text).iter().any(is_duration), "{text}");
        };
        is_none("en la sala 7 y cuesta");
        is_none("12 coins");
        is_none("1201 m");
        is_none("a lamp");
    }
}
