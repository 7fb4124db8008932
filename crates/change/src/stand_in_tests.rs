use super::*;
use crate::Judgement;
use crate::page_state::PageState;
use crate::verdict::VersionVerdict;
use page::UrlRules;

static URLS: UrlRules = UrlRules::none();
const OWN: &str = "<h1>Bell foundry</h1><p>We cast bells on the second Friday of each month.<p>Tours begin at the gate at ten \
    and take an hour.<p>Children under six come in free with a parent.<p>The old furnace was built in 1871 by two brothers.";

fn version(html: &str) -> Version<'static> {
    Version::new(html.as_bytes(), Some("text/html"), Some("https://bells.test/visit"), &URLS)
}

/// A page of a site with a frame.
fn framed(title: &str, main: &str) -> String {
    format!(
        "<html><head><title>{title}</title></head><body><header><a href=/>Foundry</a></header><nav><ul><li><a \
         href=/visit>Visit</a><li><a href=/shop>Shop</a><li><a href=/jobs>Jobs</a></ul></nav><main>{main}</main><footer><p>Bell \
         Foundry Ltd., Mill Lane 4<p><a href=/imprint>Imprint</a></footer>"
    )
}

fn bare(title: &str, body: &str) -> String {
    format!("<html><head><title>{title}</title></head><body>{body}")
}

fn page() -> String {
    framed("Visit us – Bell foundry", OWN)
}

fn url(text: &str) -> page::CanonicalUrl {
    page::CanonicalUrl::parse(text).unwrap()
}

fn looks_after(before: &str, html: &str, arrival: Arrival<'_>) -> Judgement {
    let mut state = PageState::default();
    state.observe(&version(before), None);
    state.observe_arrival(&version(html), None, arrival)
}

#[test]
fn what_is_served_in_a_pages_place_is_known_in_any_language() {
    let check = |html: &str, expected| {
        let judgement = looks_after(&page(), html, Arrival::default());
        assert_eq!((judgement.held, judgement.looks_like), (true, Some(expected)), "{html}");
    };
    // The page's frame, or its title, without its text.
    check(&framed("Visit us – Bell foundry", ""), StandIn::Empty);
    check(&bare("Visit us – Bell foundry", "<div id=app></div><script src=/a.js></script>"), StandIn::Empty);
    check(&bare("Visit us – Bell foundry", "<div id=app>Wird geladen …</div>"), StandIn::Empty);
    check("", StandIn::Empty);
    check(&bare("Visit us – Bell foundry", "<p>Bitte JavaScript einschalten, um die Seite zu sehen."), StandIn::Empty);
    check(&bare("Entretien", "<h1>Site en maintenance</h1><p>Nous revenons bientôt."), StandIn::Maintenance);
    check(&bare("Visit us – Bell foundry", "<p>ただいまメンテナンス中です。"), StandIn::Maintenance);
    check(&bare("Przerwa", "<h2>Przerwa techniczna</h2><p>Wracamy o 14:00."), StandIn::Maintenance);
    let partners = "<p>Wir und unsere Partner speichern Informationen auf einem Gerät.".repeat(3);
    let consent =
        format!("<h1>Ihre Privatsphäre</h1>{partners}<button>Alle annehmen</button><button>Ablehnen</button>");
    check(&bare("Bevor Sie fortfahren", &consent), StandIn::Consent);
    check(&bare("Konto", "<form><label>Name <input name=n></label><input type=password></form>"), StandIn::Login);
    check(
        &framed("Zaloguj się", "<form>Hasło <input type=password name=p><button>Dalej</button></form>"),
        StandIn::Login,
    );
    check(&framed("Seite nicht gefunden", "<h1>404</h1><p>Diese Seite gibt es nicht."), StandIn::Error);
    check(&bare("Access denied", "<p>Incident 88371"), StandIn::Error);
    let same = framed("Bell foundry", OWN);
    let empty = bare("Bell foundry", "<div id=root></div><script src=/a.js></script>");
    assert_eq!(
        looks_after(&same, &empty, Arrival::default()).looks_like,
        Some(StandIn::Empty),
        "a heading like the title"
    );
    // No word that is known, but nothing of the page either.
    check(&bare("Ooops", "<p>Kpaan yelle, zaame."), StandIn::OtherPage);
}

#[test]
fn edits_are_not_taken_for_something_else() {
    let check = |before: &str, after: &str| {
        let judgement = looks_after(before, after, Arrival::default());
        assert!(!judgement.held && judgement.meaningful, "{after}: {judgement:?}");
    };
    // Cut to half and less.
    check(
        &page(),
        &framed("Visit us – Bell foundry", "<h1>Bell foundry</h1><p>Children under six come in free with a parent."),
    );
    // Another notice within the site's frame.
    check(&page(), &framed("Visit us – Bell foundry", "<h1>Winter break</h1><p>We are back in March."));
    // A new design with the same texts.
    check(&page(), &bare("Bells since 1871", &format!("<div class=v2>{OWN}<p>Now with a shop.</div>")));
    // A relaunch with other texts, and a frame of its own.
    let links = "<nav><a href=/a>Casting</a><a href=/b>Repairs</a><a href=/c>Concerts</a><a href=/d>Contact</a></nav>";
    let text = "<p>Each of our bells is tuned by ear, as it was done in the days of our founders.".repeat(2);
    check(&page(), &bare("Foundry of bells", &format!("{links}<main><h1>Welcome</h1>{text}</main>")));
    // A page of one sentence that becomes another.
    check(&bare("Status", "<p>All systems work as they should."), &bare("Status", "<p>Service unavailable."));
    check(
        &framed("Status", "<p>All systems work as they should today."),
        &framed("Status", "<p>Two systems are down."),
    );
    check("<p>The ferry leaves at nine.", "<p>No ferry.");
    // A page that speaks of errors and cookies.
    check(
        &page(),
        &framed("Visit us – Bell foundry", &OWN.replace("an hour", "an hour, no login or cookie is needed")),
    );
    // A page without a frame that is written anew, and has a link to its rules of privacy as before.
    let privacy = "<p>Privacy · Terms · Help";
    check(&format!("{OWN}{privacy}"), &format!("<p>We are back, with two bells of a new kind.{privacy} · News"));
    let list = |items: [&str; 4]| framed("News", &items.map(|item| format!("<h2>{item}</h2>")).concat());
    check(&list(["One opens", "Two closes", "Three waits", "Four wins"]), &list(["Five", "Six", "Seven", "Eight"]));
}

#[test]
fn another_page_behind_a_redirect_or_an_odd_status_is_held() {
    let tower =
        |number: usize| format!("<p>Bells for tower {}, cast in sand and tuned by ear since 1871.", "I".repeat(number));
    let home = framed("Home", &(1..80).map(tower).collect::<String>());
    let arrival = Arrival { leads_to: Some("https://bells.test/"), ..Arrival::default() };
    let mut state = PageState::default();
    let own = url("https://bells.test/visit");
    let judged = |state: &mut PageState, html: &str| state.observe_arrival(&version(html), None, arrival);
    state.observe_address(&own, &own, &URLS);
    judged(&mut state, &page());
    state.observe_address(&own, &url("https://bells.test/"), &URLS);
    assert_eq!(judged(&mut state, &home).looks_like, Some(StandIn::OtherPage));
    assert!(judged(&mut state, &home).held && judged(&mut state, &home).held);
    let believed = judged(&mut state, &home);
    assert_eq!((believed.held, believed.meaningful), (false, false), "the redirect was told");
    assert!(judged(&mut state, &home.replace("tower III,", "ship III,")).meaningful);
    state.observe_address(&own, &own, &URLS);
    let back = judged(&mut state, &page());
    assert!(!back.held && !back.meaningful && state.end_absence(), "as it was");
    let challenge = Arrival { status: Some(202), ..Arrival::default() };
    assert!(looks_after(&page(), &framed("Visit us – Bell foundry", "<p>Kpaan."), challenge).held);
}

#[test]
fn where_the_address_of_the_newest_issue_leads_next_is_its_next_version() {
    let newest = url("https://bells.test/newest");
    let issue = |number: usize| {
        framed(&format!("Issue {number}"), &format!("<h1>Of bell {number}</h1><p>{number} tons of bronze."))
    };
    let mut state = PageState::default();
    let mut see = |to: &str, html: &str| {
        let address = url(to);
        let lead = state.observe_address(&newest, &address, &URLS);
        let arrival = Arrival { leads_to: Some(address.as_str()), ..Arrival::default() };
        (lead, state.observe_arrival(&version(html), None, arrival))
    };
    see("https://bells.test/issues/1", &issue(1));
    let (lead, next) = see("https://bells.test/issues/2", &issue(2));
    assert_eq!((lead, next.held, next.meaningful), (crate::Lead::Elsewhere { is_reported: true }, false, true));
    for (path, number) in [("issues/404", 3), ("puzzle-500", 4), ("cookies-recipe", 5)] {
        let next = see(&format!("https://bells.test/{path}"), &issue(number)).1;
        assert_eq!((next.held, next.meaningful), (false, true), "{path}");
    }
    let login = bare("Log in", "<form><input type=password></form>");
    assert!(see("https://bells.test/login", &login).1.held);
}

#[test]
fn what_stands_in_for_a_page_is_reported_at_its_second_look_and_its_end() {
    let wall = version(&bare("Wartung", "<h1>Wartungsarbeiten</h1><p>Wir sind gleich wieder da."));
    let mut state = PageState::default();
    state.observe(&version(&page()), None);
    let mut reported = (0..3).map(|_| state.observe(&wall, Some(3_600)));
    assert!(!reported.next().unwrap().reports_stand_in, "one look may be an accident");
    let second = reported.next().unwrap();
    assert_eq!((second.reports_stand_in, second.looks_like), (true, Some(StandIn::Maintenance)));
    assert_eq!(second.record.added, ["Wartung", "Wartungsarbeiten", "Wir sind gleich wieder da."]);
    assert!(!reported.next().unwrap().reports_stand_in, "once");
    let (mut changed, mut same) = (state.clone(), state);
    let back = same.observe(&version(&page()), Some(60));
    assert!(!back.meaningful && same.end_absence() && !same.end_absence());
    let back = changed.observe(&version(&page().replace("1871", "1869")), Some(60));
    assert!(back.meaningful && changed.end_absence(), "what changed meanwhile");
    assert_eq!(back.record.changes.len(), 1);
    // The edit is no noise, though the look before was a minute ago.
    let again = changed.observe(&version(&page()), Some(3_600));
    assert!(again.meaningful);
}

#[test]
fn a_page_that_returns_after_something_else_was_accepted_is_compared_with_what_it_was() {
    let wall = |number: u32| version(&bare("Wartung", &format!("<h1>Wartungsarbeiten</h1><p>Vorgang {number} läuft.")));
    let mut state = PageState::default();
    state.observe(&version(&page()), None);
    assert!((0..3).all(|number| state.observe(&wall(number), Some(21_600)).held));
    assert_eq!(state.observe(&wall(4), Some(21_600)).verdict, VersionVerdict::Major);
    assert!(!state.end_absence(), "it is told as a change");
    let mut state = PageState::new(
        crate::LookMemory::decode(&state.looks().encode()).unwrap(),
        crate::VersionMemory::decode(&state.version().encode()).unwrap(),
    );
    state.observe(&wall(5), Some(3_600));
    let back = state.observe(&version(&page().replace("1871", "1869")), Some(3_600));
    assert_eq!((back.verdict, back.record.changes.len()), (VersionVerdict::Returned, 1));
}

#[test]
fn a_page_without_any_of_its_watched_parts_is_held_and_not_reported_as_something_else() {
    let mut selection = document::select::Selection::default();
    selection.add(document::select::PartUse::Watch, ".hours").unwrap();
    let read = |html: &str| {
        let body = document::Body::new(html.as_bytes(), Some("text/html"), None).with_selection(&selection);
        Version::of_body(&body, &URLS)
    };
    let mut state = PageState::default();
    let page = framed("Visit", &format!("{OWN}<p class=hours>Nine to five."));
    state.observe(&read(&page), None);
    let without = state.clone().observe(&read(&framed("Visit", OWN)), None);
    assert_eq!((without.held, without.looks_like), (true, None));
    let wall = state.observe(&read(&bare("Wartung", "<h1>Wartungsarbeiten</h1>")), None);
    assert_eq!((wall.held, wall.looks_like), (true, Some(StandIn::Maintenance)));
}
