//! The kinds of noise: content that differs at every fetch and has no meaning.

use crate::draw::{CAPITALS, Draw, HEX};
use crate::editable_page::{EditablePage, Form};
use crate::languages::LANGUAGES;
use crate::markup::Markup;
use crate::places::{Patch, Place};
use std::ops::Range;

/// One fetch of a noisy page.
pub(crate) struct Fetch<'a> {
    pub(crate) page: &'a EditablePage,
    /// The same at all fetches of the page.
    pub(crate) fixed: Draw,
    /// Another one at each fetch.
    pub(crate) now: Draw,
    /// The number of the fetch.
    pub(crate) number: usize,
    /// Paragraphs of other real pages.
    pub(crate) texts: &'a [String],
}

/// Makes the patches of one fetch. `None` if the page has no place for it.
type MakeNoise = fn(&mut Fetch<'_>) -> Option<Vec<Patch>>;

pub(crate) struct NoiseKind {
    pub(crate) name: &'static str,
    pub(crate) make: MakeNoise,
}

const fn kind(name: &'static str, make: MakeNoise) -> NoiseKind {
    NoiseKind { name, make }
}

pub(crate) static NOISE: [NoiseKind; 43] = [
    kind("counter, its number first", |fetch| fetch.paragraph(|n| format!("{n} people are looking at this page"))),
    kind("counter, its number last", |fetch| {
        fetch.paragraph(|n| format!("Visitors of this page since it was made: {n}"))
    }),
    kind("counter, its number second", |fetch| fetch.paragraph(|n| format!("Viewed {n} times"))),
    kind("counter in Chinese", |fetch| fetch.paragraph(|n| format!("浏览次数：{n}次"))),
    kind("counter in Japanese", |fetch| fetch.paragraph(|n| format!("この記事は{n}回読まれました"))),
    kind("age in German", |fetch| fetch.age(0)),
    kind("age in French", |fetch| fetch.age(1)),
    kind("age in Spanish", |fetch| fetch.age(2)),
    kind("age in Russian", |fetch| fetch.age(3)),
    kind("age in Chinese", |fetch| fetch.age(4)),
    kind("age in Japanese", |fetch| fetch.age(5)),
    kind("age in Korean", |fetch| fetch.age(6)),
    kind("age in Arabic", |fetch| fetch.age(7)),
    kind("age in Hebrew", |fetch| fetch.age(8)),
    kind("age in English", |fetch| fetch.age(9)),
    kind("teaser in the main text", |fetch| {
        let teaser = fetch.teaser()?;
        fetch.block(teaser)
    }),
    kind("teaser beside the main text", |fetch| {
        let teaser = fetch.teaser()?;
        let at = fetch.html()?.places.beside.or(fetch.page.places.end)?;
        Some(vec![Patch::insert(at, teaser)])
    }),
    kind("list of related pages, drawn anew", related),
    kind("quotation of the day", |fetch| {
        let text = fetch.now.pick(fetch.texts)?.clone();
        let markup = fetch.page.markup()?;
        fetch.block(markup.paragraph(&text))
    }),
    kind("advertisement", advertisement),
    kind("nonce in an attribute", |fetch| {
        let token = fetch.now.token(24, HEX);
        fetch.html()?;
        fetch.block(format!("<script nonce=\"{token}\">run()</script><div data-request=\"{token}\"></div>"))
    }),
    kind("class names, drawn anew", |fetch| {
        let token = fetch.now.token(6, HEX);
        fetch.html()?;
        fetch.block(format!("<p class=\"css-{token}\">The hall is heated in winter.</p>"))
    }),
    kind("token in a form", |fetch| {
        let token = fetch.now.token(40, CAPITALS);
        fetch.html()?;
        fetch.block(format!("<form action=\"/ask\"><input type=\"hidden\" name=\"csrf\" value=\"{token}\"></form>"))
    }),
    kind("session in a link", |fetch| fetch.link(|token| format!("/order;sid={token}?session={token}"))),
    kind("cache-busting in a link", |fetch| fetch.link(|token| format!("/files/plan.pdf?cb={token}"))),
    kind("cache-busting of images", |fetch| {
        let token = fetch.now.token(10, HEX);
        fetch.html()?;
        fetch.block(format!("<p>The plan: <img src=\"/plan.png?v={token}\" alt=\"Plan\"></p>"))
    }),
    kind("A/B halves", |fetch| {
        let texts = ["Try it for thirty days, and pay when you like it.", "Begin today: the first month is on us."];
        let text = fetch.now.pick(&texts)?;
        let markup = fetch.page.markup()?;
        fetch.block(markup.paragraph(text))
    }),
    kind("two whole versions in turn", |fetch| {
        let number = fetch.now.below(2);
        if number == 0 { Some(Vec::new()) } else { other_text(fetch.page, fetch.texts, fetch.fixed) }
    }),
    kind("copyright year, of two servers", |fetch| {
        let year = 2025 + fetch.now.below(2);
        let markup = fetch.page.markup()?;
        fetch.last(markup.paragraph(&format!("© {year} The board of the hall. All rights reserved.")))
    }),
    kind("build date in a comment", |fetch| {
        let build = fetch.now.number();
        fetch.html()?;
        fetch.last(format!("<!-- built {build} -->"))
    }),
    kind("time of rendering", |fetch| {
        let (page, millis) = (fetch.page.markup()?, fetch.now.below(900));
        fetch.last(page.paragraph(&format!("Page generated in 0.{millis:03} seconds")))
    }),
    kind("countdown", |fetch| fetch.paragraph(|n| format!("The offer ends in 02:{:02}:{:02}", n % 60, n / 7 % 60))),
    kind("date and time of the server", |fetch| {
        let (day, hour) = (fetch.number / 4, fetch.number % 4 * 6);
        let date = format!("{} {} January 2026", DAYS[day % 7], day % 28 + 1);
        let (minute, second) = (fetch.now.below(60), fetch.now.below(60));
        let markup = fetch.page.markup()?;
        fetch.block(markup.paragraph(&format!("{date}, {hour:02}:{minute:02}:{second:02}")))
    }),
    kind("counter in each row", |fetch| {
        let rows: Vec<Vec<String>> = ["Lamp", "Rope", "Tent", "Stove"]
            .iter()
            .map(|name| vec![(*name).to_owned(), format!("{} people look at it", fetch.now.below(90) + 2)])
            .collect();
        let markup = fetch.page.markup()?;
        fetch.block(markup.table(&["Product", "Now"], &rows))
    }),
    kind("frame of an advertisement", |fetch| {
        let token = fetch.now.token(16, HEX);
        fetch.html()?;
        fetch.block(format!("\n<div><iframe src=\"https://ads.example/frame?slot=4&amp;r={token}\"></iframe></div>\n"))
    }),
    kind("film with a signed address", |fetch| {
        let token = fetch.now.token(32, HEX);
        fetch.html()?;
        fetch.block(format!(
            "\n<p>The hall: <video src=\"/films/hall.mp4?until={}&amp;sign={token}\"></video></p>\n",
            fetch.number
        ))
    }),
    kind("bar that measures", |fetch| {
        let value = fetch.now.below(100);
        fetch.html()?;
        fetch.block(format!("\n<p>Load of the server: <progress value=\"{value}\" max=\"100\"></progress></p>\n"))
    }),
    kind("words in an empty field", |fetch| {
        let word = fetch.now.pick(&["lamps", "ropes", "tents", "stoves", "boots", "maps", "knives"])?;
        fetch.html()?;
        fetch.block(format!("\n<form action=\"/find\"><input name=\"q\" placeholder=\"Search for {word}\"></form>\n"))
    }),
    kind("choice that two servers make otherwise", |fetch| {
        let state = ["", " checked"][fetch.now.below(2)];
        fetch.html()?;
        fetch.block(format!("\n<p><label><input type=\"checkbox\"{state}> Send me letters</label></p>\n"))
    }),
    kind("session in the target of a form", |fetch| {
        let token = fetch.now.token(24, HEX);
        fetch.html()?;
        fetch.block(format!("\n<form action=\"/order;jsessionid={token}\"><button>Order</button></form>\n"))
    }),
    kind("words of an advertisement's image", |fetch| {
        let (word, token) = (fetch.now.below(40), fetch.now.token(20, HEX));
        fetch.html()?;
        fetch.block(format!(
            "\n<div><a href=\"https://ads.example/{token}\"><img src=\"/{token}.png\" alt=\"Offer number {word}\"></a></div>\n"
        ))
    }),
    kind("JSON: time and number of the request", |fetch| {
        let open = (fetch.page.form == Form::Json).then(|| fetch.page.text.find('{'))?? + 1;
        let (seconds, token) = (1_780_000_000 + 21_600 * fetch.number, fetch.now.token(32, HEX));
        let comma = if fetch.page.text[open..].trim_start().starts_with('}') { "" } else { "," };
        Some(vec![Patch::insert(open, format!("\"generated_at\": {seconds}, \"request_id\": \"{token}\"{comma}"))])
    }),
    kind("feed: date of the build", |fetch| {
        let at = (fetch.page.form == Form::Feed).then(|| fetch.page.text.find("<item"))??;
        let (hour, minute) = (fetch.number % 24, fetch.now.below(60));
        let date = format!("<lastBuildDate>Mon, 02 Mar 2026 {hour:02}:{minute:02}:07 GMT</lastBuildDate>");
        Some(vec![Patch::insert(at, date)])
    }),
];

const DAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

impl Fetch<'_> {
    fn html(&self) -> Option<&EditablePage> {
        (self.page.markup() == Some(Markup::Html)).then_some(self.page)
    }

    /// A block in the main text.
    fn block(&self, block: String) -> Option<Vec<Patch>> {
        let mut fixed = self.fixed;
        let at = self.page.anchor(&mut fixed)?;
        Some(vec![Patch::insert(at, block)])
    }

    /// A block at the end of the page.
    fn last(&self, block: String) -> Option<Vec<Patch>> {
        let at = if self.page.markup()? == Markup::Html { self.page.places.end? } else { self.page.text.len() };
        Some(vec![Patch::insert(at, block)])
    }

    /// A line with a number that differs at every fetch.
    fn paragraph(&mut self, text: impl Fn(usize) -> String) -> Option<Vec<Patch>> {
        let number = 1_000 + 37 * self.number + self.now.below(36);
        let markup = self.page.markup()?;
        self.block(markup.paragraph(&text(number)))
    }

    fn age(&mut self, language: usize) -> Option<Vec<Patch>> {
        let minutes = 3 + (self.now.below(25) + 25 * (self.number % 2));
        let markup = self.page.markup()?;
        self.block(markup.paragraph(&LANGUAGES[language].age(minutes)))
    }

    /// A heading, a text and a link to another page, one of many.
    fn teaser(&mut self) -> Option<String> {
        let number = self.now.below(self.texts.len());
        let text = self.texts.get(number)?;
        let short = text.char_indices().nth(90).map_or(text.as_str(), |(end, _)| &text[..end]);
        self.html()?;
        Some(format!(
            "\n<div class=\"story\"><h4><a href=\"/stories/{number}\">Story {number}</a></h4><p>{short}</p><a href=\"/stories/{number}\">Read \
             more</a></div>\n"
        ))
    }

    fn link(&mut self, target: impl Fn(&str) -> String) -> Option<Vec<Patch>> {
        let token = self.now.token(16, HEX);
        let markup = self.page.markup()?;
        self.block(markup.paragraph(&format!("The plan can be ordered {}.", markup.link("here", &target(&token)))))
    }
}

fn related(fetch: &mut Fetch<'_>) -> Option<Vec<Patch>> {
    let markup = fetch.page.markup()?;
    let story = |number: usize| {
        markup.link(&format!("Story {number} of the town and its people"), &format!("/stories/{number}"))
    };
    let stories: Vec<String> = (0..5).map(|_| story(fetch.now.below(60))).collect();
    fetch.block(markup.list(&stories))
}

fn advertisement(fetch: &mut Fetch<'_>) -> Option<Vec<Patch>> {
    fetch.html()?;
    let texts = [
        "Shoes for every road",
        "Sleep well on wool",
        "A bank without counters",
        "Tea from the hills",
        "Learn to sail in a week",
    ];
    // One fetch in six shows no advertisement.
    let Some(text) = texts.get(fetch.now.below(texts.len() + 1)) else { return fetch.block(String::new()) };
    let token = fetch.now.token(20, HEX);
    fetch.block(format!(
        "\n<div class=\"ad\"><a href=\"https://ads.example/click?c={token}\">{text}</a><p>Advertisement. {text}: order now.</p></div>\n"
    ))
}

/// The page with another text in each of its paragraphs, headings and items.
pub(crate) fn other_text(page: &EditablePage, texts: &[String], mut draw: Draw) -> Option<Vec<Patch>> {
    let counts = |place| matches!(place, Place::Paragraph | Place::Item | Place::Heading);
    let mut ranges: Vec<Range<usize>> =
        page.places.spots.iter().filter(|spot| counts(spot.place)).flat_map(|spot| spot.texts.clone()).collect();
    ranges.sort_by_key(|range| range.start);
    ranges.dedup();
    let replaced: usize = ranges.iter().map(Range::len).sum();
    page.places.spots.iter().any(|spot| spot.place == Place::Paragraph).then_some(())?;
    // Less than this is no other version of the page.
    (replaced >= 600).then(|| {
        ranges.into_iter().filter_map(|range| draw.pick(texts).map(|text| Patch::new(range, text.clone()))).collect()
    })
}
