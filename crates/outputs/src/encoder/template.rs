//! Bodies of webhooks in the form that a chat system expects, or in the operator's own.

use crate::record::{LineStyle, PublishedChange, change_lines, excerpt, headline, sentence};
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior, Value, context};
use std::borrow::Cow;
use std::error::Error;

/// The templates that come with recrawl. Each is JSON: inserted values are quoted.
const KEPT: [(&str, &str); 4] = [
    ("slack", include_str!("templates/slack.json")),
    ("discord", include_str!("templates/discord.json")),
    ("teams", include_str!("templates/teams.json")),
    ("matrix", include_str!("templates/matrix.json")),
];
/// Steps that a template may take for one change, so that none runs for ever.
const FUEL: u64 = 1_000_000;

/// A template, and the media type of its results.
pub struct Template {
    environment: Environment<'static>,
    name: String,
    form: Form,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Json,
    Html,
    Text,
}

impl Template {
    /// A template of recrawl's by name, or else that of a file. It is tried on examples.
    ///
    /// # Errors
    /// Says what is wrong, beginning with the name.
    pub fn find(name: &str) -> Result<Self, String> {
        let wrong = |problem: String| format!("{name}: {problem}");
        let template = match KEPT.iter().find(|(kept, _)| *kept == name) {
            Some((kept, source)) => Self::new(&format!("{kept}.json"), source),
            None => {
                let source = std::fs::read_to_string(name).map_err(|error| {
                    let kept = KEPT.map(|(kept, _)| kept).join(", ");
                    wrong(format!("{error}; give the name of a file, or one of {kept}"))
                })?;
                Self::new(name, &source)
            }
        };
        let template = template.map_err(wrong)?;
        for example in PublishedChange::examples() {
            template.render(&example).map_err(wrong)?;
        }
        Ok(template)
    }

    fn new(name: &str, source: &str) -> Result<Self, String> {
        let mut environment = environment();
        environment.add_template_owned(name.to_owned(), source.to_owned()).map_err(|error| reported(&error))?;
        Ok(Self { environment, name: name.to_owned(), form: Form::of(name) })
    }

    /// Media type of the bodies.
    pub fn content_type(&self) -> &'static str {
        match self.form {
            Form::Json => "application/json",
            Form::Html => "text/html; charset=utf-8",
            Form::Text => "text/plain; charset=utf-8",
        }
    }

    /// The body for a change.
    pub fn render(&self, change: &PublishedChange) -> Result<String, String> {
        let template = self.environment.get_template(&self.name).map_err(|error| reported(&error))?;
        let body = template.render(values_of(change)).map_err(|error| reported(&error))?;
        if self.form == Form::Json {
            serde_json::from_str::<serde::de::IgnoredAny>(&body)
                .map_err(|error| format!("what it makes is not JSON: {error}, in:\n{body}"))?;
        }
        Ok(body)
    }
}

impl Form {
    /// The form by which values are quoted, as the library takes it from the name.
    fn of(name: &str) -> Self {
        match minijinja::default_auto_escape_callback(name) {
            minijinja::AutoEscape::Json => Self::Json,
            minijinja::AutoEscape::Html => Self::Html,
            _ => Self::Text,
        }
    }
}

/// The environment in which templates are rendered.
pub(crate) fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(FUEL));
    environment.add_filter("slack", |text: &str| slack(text).into_owned());
    environment.add_filter("markdown", markdown);
    environment.add_filter("html", |text: &str| htmlize::escape_attribute(text).into_owned());
    environment.add_filter("cut", |text: &str, characters: usize| excerpt(text, characters));
    environment
}

/// The values that a template knows of a change.
pub(crate) fn values_of(change: &PublishedChange) -> Value {
    let lines: Vec<_> = change_lines(change, LineStyle::Piped).collect();
    let host = change.url.split('/').nth(2).unwrap_or_default();
    let (sentence, headline) = (sentence(change), headline(change));
    context! { lines, host, sentence, headline, ..Value::from(Serde(change)) }
}

/// The problem with its line and causes.
pub(crate) fn reported(error: &minijinja::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        text = format!("{text}: {next}");
        cause = next.source();
    }
    text
}

/// A text that Slack shows as it is: no mention, link or entity of the page's making.
fn slack(text: &str) -> Cow<'_, str> {
    if !text.contains(['&', '<', '>']) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;"))
}

/// A text that Markdown shows as it is.
fn markdown(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if "\\`*_{}[]()<>#+-.!|~".contains(character) {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use messages::ChangedUnit;
    use serde_json::{Value as Json, json};

    fn hostile() -> PublishedChange {
        let [mut change, _] = PublishedChange::examples();
        let text = format!("\"}}, <!channel> @everyone **bold** </b>\\ {}", "long ".repeat(3_000));
        change.line.title = Some(format!("{} | <{text}", "t".repeat(30)));
        change.line.rule = Some("a*b<!here>".to_owned());
        change.line.changes = vec![ChangedUnit { before: None, after: Some(text), place: "a\nb".to_owned() }];
        change
    }

    fn rendered(name: &str, change: &PublishedChange) -> Json {
        let body = Template::find(name).expect("it is kept").render(change).expect("it can be made");
        serde_json::from_str(&body).expect("it is JSON")
    }

    #[test]
    fn chat_systems_get_what_they_document() {
        let [change, _] = PublishedChange::examples();
        let lines = "! price below 20\n? .stock is not on the page\n@ Lamp\n- 24,90 €\n+ 19,90 €\npassed over: 2 differences that do not count";
        let sentence = "Desk lamp now costs 19.90 EUR, down from 24.90";
        let slack = rendered("slack", &change);
        assert_eq!(slack["text"], format!("<https://shop.test/lamp|{sentence}>, rule *lamp*\n{lines}"));
        let discord = rendered("discord", &change);
        assert_eq!(discord["allowed_mentions"], json!({"parse": []}));
        assert_eq!(discord["embeds"][0]["title"], r"Desk lamp now costs 19\.90 EUR, down from 24\.90");
        assert!(discord["embeds"][0]["description"].as_str().expect("a text").starts_with("rule **lamp**\n"));
        assert_eq!(discord["embeds"][0]["url"], "https://shop.test/lamp");
        assert_eq!(discord["embeds"][0]["timestamp"], change.seen_at.as_str());
        let teams = rendered("teams", &change);
        let head = &teams["attachments"][0]["content"]["body"][0]["text"];
        assert_eq!(head, r"Desk lamp now costs 19\.90 EUR, down from 24\.90, rule lamp");
        assert_eq!(teams["attachments"][0]["contentType"], "application/vnd.microsoft.card.adaptive");
        assert_eq!(teams["attachments"][0]["content"]["actions"][0]["url"], "https://shop.test/lamp");
        let matrix = rendered("matrix", &change);
        assert_eq!((&matrix["msgtype"], &matrix["format"]), (&json!("m.notice"), &json!("org.matrix.custom.html")));
        assert_eq!(matrix["body"], format!("{sentence}, rule lamp\nhttps://shop.test/lamp\n{lines}"));
    }

    #[test]
    fn a_page_can_neither_leave_its_place_nor_call_anybody_nor_grow_too_long() {
        let change = hostile();
        let slack = rendered("slack", &change)["text"].as_str().expect("a text").to_owned();
        assert!(slack.contains("&lt;!channel&gt;") && slack.chars().count() < 4_000);
        let head = slack.lines().next().expect("a line");
        assert_eq!(
            (head.matches('<').count(), head.matches('>').count(), head.matches('|').count()),
            (1, 1, 1),
            "{head}"
        );
        let discord = rendered("discord", &change)["embeds"][0]["description"].as_str().expect("a text").to_owned();
        assert!(discord.contains(r"\*\*bold\*\*") && discord.chars().count() < 4_096);
        let html = rendered("matrix", &change)["formatted_body"].as_str().expect("a text").to_owned();
        assert!(html.contains("&lt;/b&gt;") && html.len() < 30_000);
        assert!(rendered("teams", &change).to_string().len() < 28 << 10);
    }

    #[test]
    fn mistakes_are_reported_with_their_line() {
        let directory = tempfile::tempdir().expect("there is room for a test");
        let problem = |name: &str, source: &str| {
            let path = directory.path().join(name);
            std::fs::write(&path, source).expect("there is room");
            match Template::find(path.to_str().expect("it is text")) {
                Err(problem) => problem,
                Ok(_) => panic!("{source} was taken"),
            }
        };
        let open = problem("a.json", "{\n{{ url }");
        assert!(open.contains("syntax error") && open.contains("a.json:2"), "{open}");
        let unknown = problem("b.json", "{\"a\": 1,\n\n\"b\": {{ urll }}}");
        assert!(unknown.contains("undefined value") && unknown.contains("b.json:3"), "{unknown}");
        let quoted_twice = problem("c.json", "{\"url\": \"{{ url }}\"}");
        assert!(quoted_twice.contains("is not JSON"), "{quoted_twice}");
        assert!(
            problem("d.txt", "{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}")
                .contains("fuel")
        );
        let missing = Template::find("slakc").err().expect("no template has this name");
        assert!(missing.contains("slack, discord, teams, matrix"), "{missing}");
    }

    #[test]
    fn a_template_of_ones_own_may_be_text() {
        let template = Template::new("mine.txt", "{{ host }} {{ verdict }} {{ lines|length }}").expect("it is one");
        let [change, _] = PublishedChange::examples();
        assert_eq!(template.render(&change).as_deref(), Ok("shop.test minor 6"));
        assert_eq!(template.content_type(), "text/plain; charset=utf-8");
    }
}
