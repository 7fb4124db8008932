//! A paragraph in each of ten languages, with places for two words, a number, a time and a price; and how old something
//! is, as pages in these languages write it.

use crate::draw::Draw;

pub(crate) struct Language {
    pub(crate) code: &'static str,
    right_to_left: bool,
    /// A paragraph with `{w}`, `{n}`, `{t}` and `{p}` for what may be edited.
    paragraph: &'static str,
    words: (&'static str, &'static str),
    /// An age, with `{n}` for the number.
    age: &'static str,
}

pub(crate) const LANGUAGES: [Language; 10] = [
    Language {
        code: "de",
        right_to_left: false,
        paragraph: "Unser Büro ist im Sommer {w}. Die Beratung beginnt um {t} Uhr in Raum {n} und kostet {p}. Bitte melden Sie sich vorher an.",
        words: ("geöffnet", "geschlossen"),
        age: "vor {n} Minuten",
    },
    Language {
        code: "fr",
        right_to_left: false,
        paragraph: "Notre bureau est {w} en été. La séance commence à {t} dans la salle {n} et coûte {p}. Merci de vous inscrire à l'avance.",
        words: ("ouvert", "fermé"),
        age: "il y a {n} minutes",
    },
    Language {
        code: "es",
        right_to_left: false,
        paragraph: "Nuestra oficina está {w} en verano. La sesión empieza a las {t} en la sala {n} y cuesta {p}. Reserve con antelación.",
        words: ("abierta", "cerrada"),
        age: "hace {n} minutos",
    },
    Language {
        code: "ru",
        right_to_left: false,
        paragraph: "Летом наш офис {w}. Встреча начинается в {t} в комнате {n} и стоит {p}. Пожалуйста, запишитесь заранее.",
        words: ("открыт", "закрыт"),
        age: "{n} минут назад",
    },
    Language {
        code: "zh",
        right_to_left: false,
        paragraph: "夏季期间本办公室{w}。说明会于{t}在{n}号会议室开始，费用为{p}。请提前报名参加，并携带身份证件。",
        words: ("照常开放", "暂停开放"),
        age: "{n}分钟前",
    },
    Language {
        code: "ja",
        right_to_left: false,
        paragraph: "夏の間、当事務所は{w}です。説明会は{t}に{n}号室で始まり、料金は{p}です。事前にお申し込みください。",
        words: ("営業中", "休業中"),
        age: "{n}分前",
    },
    Language {
        code: "ko",
        right_to_left: false,
        paragraph: "여름 동안 사무실은 {w}. 설명회는 {t}에 {n}호실에서 시작하며 비용은 {p}입니다. 미리 신청해 주십시오.",
        words: ("열려 있습니다", "닫혀 있습니다"),
        age: "{n}분 전",
    },
    Language {
        code: "ar",
        right_to_left: true,
        paragraph: "مكتبنا {w} خلال الصيف. تبدأ الجلسة الساعة {t} في القاعة {n} وتكلفتها {p}. يرجى التسجيل مسبقا.",
        words: ("مفتوح", "مغلق"),
        age: "منذ {n} دقيقة",
    },
    Language {
        code: "he",
        right_to_left: true,
        paragraph: "המשרד שלנו {w} במשך הקיץ. המפגש מתחיל בשעה {t} בחדר {n} ועולה {p}. נא להירשם מראש.",
        words: ("פתוח", "סגור"),
        age: "לפני {n} דקות",
    },
    Language {
        code: "en",
        right_to_left: false,
        paragraph: "Our office is {w} in summer. The session begins at {t} in room {n} and costs {p}. Please register in advance.",
        words: ("open", "closed"),
        age: "{n} minutes ago",
    },
];

impl Language {
    /// The paragraph before and after one of its values was edited.
    pub(crate) fn pair(&self, draw: &mut Draw) -> (String, String) {
        let edited = draw.below(4);
        let (one, two) = draw.two_below(8);
        let values = [
            ("{w}", self.words.0.to_owned(), self.words.1.to_owned()),
            ("{n}", (one + 11).to_string(), (two + 11).to_string()),
            ("{t}", format!("{}:30", one + 8), format!("{}:30", two + 8)),
            ("{p}", format!("{} €", one + 20), format!("{} €", two + 20)),
        ];
        let (mut before, mut after) = (self.paragraph.to_owned(), self.paragraph.to_owned());
        for (slot, (hole, old, new)) in values.iter().enumerate() {
            before = before.replace(hole, old);
            after = after.replace(hole, if slot == edited { new } else { old });
        }
        (before, after)
    }

    /// The attributes of an element in this language.
    pub(crate) fn attributes(&self) -> String {
        format!("lang=\"{}\"{}", self.code, if self.right_to_left { " dir=\"rtl\"" } else { "" })
    }

    /// An age of some minutes.
    pub(crate) fn age(&self, minutes: usize) -> String {
        self.age.replace("{n}", &minutes.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_value_is_edited_in_each_language() {
        for language in &LANGUAGES {
            for nth in 0..40 {
                let (before, after) = language.pair(&mut Draw::of(3, language.code).nth(nth));
                assert!(before != after && !before.contains('{') && !after.contains('{'), "{before} / {after}");
            }
            assert!(language.age(7).contains('7'));
        }
    }
}
