//! Edits that people watch pages for, each the only one on its page: all of them are reported. `crates/lab/edits` makes
//! such edits on real pages, and counts.

use change::{PageState, Version, VersionVerdict, diff};
use page::UrlRules;

const TEXT: &str = "<p>We keep what you give us for as long as the law asks, and no longer than that.\
    <p>Orders are sent on the day after they came in, unless that is a Sunday or a holiday.\
    <p>Whoever wants to give something back has two weeks to say so and two more to send it.\
    <p>The house was built by a merchant who never lived in it, and has been a shop ever since.\
    <p>Our staff speak four languages between them and answer letters in any of them, slowly.";

fn verdict(kind: &str, old: &str, new: &str) -> VersionVerdict {
    static URLS: UrlRules = UrlRules::none();
    let version = |body: &str| Version::new(body.as_bytes(), Some(kind), Some("https://a.test/"), &URLS);
    diff(&version(old), &version(new)).verdict
}

fn reported(old: &str, new: &str) {
    let page = |edit: &str| format!("<body><nav><a href=/>Home</a></nav><main>{TEXT}{edit}</main>");
    let verdict = verdict("text/html", &page(old), &page(new));
    assert!(matches!(verdict, VersionVerdict::Minor | VersionVerdict::Major), "{verdict:?}: {old} -> {new}");
}

#[test]
fn times_and_numbers_are_reported() {
    reported("<p>Open 9:00 - 17:00", "<p>Open 10:00 - 16:00");
    reported("<p>The train leaves at 14:05.", "<p>The train leaves at 15:35.");
    reported("<p>Updated: the meeting starts at 9:30", "<p>Updated: the meeting begins at 9:45");
    reported("<p>IBAN DE89370400440532013000", "<p>IBAN DE02120300000000202051");
    let sum = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
    reported(&format!("<p>SHA-256 {sum}"), &format!("<p>SHA-256 {}", sum.replace("9f", "a0")));
    reported("<p>Price: $19.90", "<p>Price: $18.90");
}

#[test]
fn a_cell_is_reported_with_its_row() {
    let table = |c: &str, d: &str| {
        format!("<table><tr><td>A<td>In stock<tr><td>B<td>Sold out<tr><td>C<td>{c}<tr><td>D<td>{d}</table>")
    };
    reported(&table("In stock", "Sold out"), &table("Sold out", "Sold out"));
    reported(&table("In stock", "Sold out"), &table("Sold out", "In stock"));
    let terms = |one: &str, other: &str| format!("<dl><dt>Adults<dd>{one}<dt>Children<dd>{other}</dl>");
    reported(&terms("12", "6"), &terms("6", "12"));
    let list = |items: [&str; 4]| format!("<ul>{}</ul>", items.map(|item| format!("<li>{item}")).concat());
    reported(&list(["Ann", "Bob", "Cem", "Dan"]), &list(["Bob", "Ann", "Cem", "Dan"]));
}

#[test]
fn what_fields_and_buttons_show_is_reported() {
    reported("<button>Buy</button>", "<button disabled>Buy</button>");
    reported("<button><svg></svg></button>", "<button aria-disabled=true><svg></svg></button>");
    reported("<p>Lamp", "<p>Lamp<button>Buy</button>");
    reported("<p>Lamp<button>Buy</button>", "<p>Lamp");
    reported("<select><option>S<option>M</select>", "<select><option>S<option disabled>M</select>");
    reported("<select><option selected>S<option>M</select>", "<select><option>S<option selected>M</select>");
    reported("<select><option>S<option>M</select>", "<select><option>S<option>M<option>L</select>");
    reported("<label><input type=checkbox> News</label>", "<label><input type=checkbox checked> News</label>");
    reported("<textarea>Dear team</textarea>", "<textarea>Dear all</textarea>");
    reported("<input placeholder='from May'>", "<input placeholder='from June'>");
    reported("<form action=/pay><button>Pay</button></form>", "<form action=//b.test/pay><button>Pay</button></form>");
    reported("<p>Taken <meter value=3></meter>", "<p>Taken <meter value=4></meter>");
}

#[test]
fn what_is_embedded_and_what_is_struck_is_reported() {
    reported("<iframe src=/embed/a></iframe>", "<iframe src=/embed/b></iframe>");
    reported("<video><source src=/a.mp4></video>", "<video><source src=/b.mp4></video>");
    reported("<object data=/a.pdf></object>", "<object data=/b.pdf></object>");
    reported(
        "<img src=/a1b2c3d4e5f6a7b8.png alt='in service'>",
        "<img src=/a1b2c3d4e5f6a7b8.png alt='out of service'>",
    );
    reported("<p>Ticket: $20", "<p>Ticket: <s>$20</s>");
    reported("<ul><li>Bread<li>Milk</ul>", "<ul><li><del>Bread</del><li>Milk</ul>");
    let episode = |file: &str| {
        format!(
            "<rss><item><title>A talk</title><link>/1</link><enclosure url='{file}' type='audio/mpeg'/></item></rss>"
        )
    };
    let verdict = verdict("application/rss+xml", &episode("/1.mp3"), &episode("/1-cut.mp3"));
    assert!(matches!(verdict, VersionVerdict::Minor | VersionVerdict::Major), "{verdict:?}");
}

#[test]
fn lists_of_links_are_reported_by_item() {
    let list = |items: &[&str]| {
        let items: Vec<String> =
            items.iter().map(|item| format!("<li><a href=/{item}.pdf>Minutes of {item}</a>")).collect();
        format!("<ul>{}</ul>", items.concat())
    };
    reported(&list(&["May", "June"]), &list(&["May", "June", "July"]));
    reported(&list(&["May", "June", "July"]), &list(&["May", "July"]));
    reported("<a href=/watch?v=A>Our film</a>", "<a href=/watch?v=B>Our film</a>");
    reported("<a href=/get?ver=3.1>Get it</a>", "<a href=/get?ver=3.2>Get it</a>");
    reported("<p>Write to <a href=mailto:ann@a.test>us</a>.", "<p>Write to <a href=mailto:bob@a.test>us</a>.");
}

#[test]
fn what_stands_beside_the_text_is_reported() {
    reported("<button>Buy now</button>", "<button>Sold out</button>");
    reported(
        "<article><header>Apply by 1 May</header></article>",
        "<article><header>Apply by 8 May</header></article>",
    );
    reported("<select><option>Red<option>Blue</select>", "<select><option>Red<option>Green</select>");
    reported("<img src=/menu-summer.jpg>", "<img src=/menu-winter.jpg>");
    reported("<p>Fee <input value=20>", "<p>Fee <input value=30>");
    let data = |price: &str| {
        format!("<script type=application/ld+json>{{\"name\":\"L\",\"offers\":{{\"price\":{price}}}}}</script>")
    };
    reported(&data("10"), &data("12"));
    let page = |title: &str| format!("<title>{title}</title><body><main>{TEXT}</main>");
    assert_eq!(verdict("text/html", &page("Lamp"), &page("Lamp: SOLD OUT")), VersionVerdict::Minor);
    let beside = |fee: &str| {
        format!("<body><div id=a>{TEXT}</div><div id=b><h2>Fees</h2><div>Adults pay {fee} euros</div></div>")
    };
    assert_eq!(verdict("text/html", &beside("20"), &beside("30")), VersionVerdict::Minor);
}

#[test]
fn json_elements_are_reported_by_their_name() {
    let sensors = |seven: &str| format!(r#"{{"sensors":[{{"id":3,"status":"down"}},{{"id":7,"status":"{seven}"}}]}}"#);
    assert_ne!(verdict("application/json", &sensors("ok"), &sensors("down")), VersionVerdict::Cosmetic);
    assert_ne!(verdict("application/json", "[5, 7, 9]", "[7, 7, 9]"), VersionVerdict::Cosmetic);
}

#[test]
fn counters_are_one_place_wherever_their_number_is() {
    static URLS: UrlRules = UrlRules::none();
    for counter in
        ["# people are online", "Viewed # times", "$#.34", "浏览次数：#次", "vor # Minuten gesehen", "by now #"]
    {
        let mut page = PageState::default();
        let mut look = |number: i64, since_last_look_s| {
            let body = format!("<main>{TEXT}<p>{}</main>", counter.replace('#', &format!("{}", 7 + 131 * number)));
            page.observe(&Version::new(body.as_bytes(), Some("text/html"), None, &URLS), Some(since_last_look_s))
        };
        let is_reported = |day: &i64| {
            let judgement = look(2 * day, 86_400);
            if judgement.wants_second_look && look(2 * day + 1, 60).wants_second_look {
                look(3 * day + 2, 60);
            }
            judgement.meaningful
        };
        let reported = (0..40).filter(is_reported).count();
        assert!(reported <= 5, "{counter}: reported {reported} times");
    }
}

#[test]
fn cells_that_change_places_are_reported_and_an_edited_cell_is_no_other_order() {
    let row = |cells: &[&str]| format!("<tr><td>{}</tr>", cells.join("<td>"));
    let table = |rows: &[&[&str]]| {
        format!("<main>{TEXT}<table>{}</table></main>", rows.iter().map(|cells| row(cells)).collect::<String>())
    };
    let diffed = |old: &str, new: &str| {
        let urls = UrlRules::none();
        let [old, new] = [old, new].map(|text| Version::new(text.as_bytes(), Some("text/html"), None, &urls));
        diff(&old, &new).record
    };
    let score = |home, away| table(&[&["Ajax", home, away, "PSV"], &["Feyenoord", "0", "0", "Twente"]]);
    let record = diffed(&score("2", "1"), &score("1", "2"));
    let reported: Vec<_> =
        record.changes.iter().map(|it| (it.before.as_deref(), it.after.as_deref(), &*it.place)).collect();
    assert_eq!(reported, [(Some("Ajax, 2, 1, PSV"), Some("Ajax, 1, 2, PSV"), "Ajax")]);
    assert_eq!(record.passed_over, 0);
    let numbers = |one, other| table(&[&[one, other], &["5", "7"]]);
    assert_eq!(verdict("text/html", &numbers("2", "1"), &numbers("1", "2")), VersionVerdict::Minor);
    let record = diffed(&score("2", "1"), &score("2", "3"));
    assert_eq!((record.changes.len(), record.passed_over), (1, 0), "{record:?}");
}

#[test]
fn what_an_item_of_a_feed_said_is_reported_with_what_it_says() {
    let feed = |said: &str| {
        let item = |number: u32, said: &str| {
            format!(
                "<item><title>Outage {number}</title><link>/o/{number}</link><description>{said}</description></item>"
            )
        };
        format!("<rss><channel><title>Water</title>{}{}</channel></rss>", item(2, said), item(1, "Mended."))
    };
    let urls = UrlRules::none();
    let read = |text: &str| Version::new(text.as_bytes(), Some("application/rss+xml"), None, &urls);
    let record = diff(&read(&feed("No water in Mill Street.")), &read(&feed("Water is back in Mill Street."))).record;
    let reported: Vec<_> =
        record.changes.iter().map(|it| (it.before.as_deref(), it.after.as_deref(), &*it.place)).collect();
    let said = (Some("No water in Mill Street."), Some("Water is back in Mill Street."), "Outage 2 /o/2");
    assert_eq!(reported, [said]);
}

#[test]
fn the_text_of_a_picture_is_text() {
    reported(
        "<svg><title>Level</title><text x=1>2.35 m</text></svg>",
        "<svg><title>Level</title><text x=1>2.95 m</text></svg>",
    );
}
