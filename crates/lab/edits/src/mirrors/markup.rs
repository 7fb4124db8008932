//! Links, texts and elements of HTML as it is written.

/// Passes the number and the target of each link to `target`, and writes what it returns; a link without a target is
/// none any more.
pub(crate) fn map_links(html: &str, mut target: impl FnMut(usize, &str) -> Option<String>) -> String {
    let lower = html.to_ascii_lowercase();
    let (mut out, mut copied, mut number) = (String::with_capacity(html.len()), 0, 0);
    for (tag, _) in lower.match_indices("<a") {
        let Some(end) = lower[tag..].find('>').map(|length| tag + length) else { continue };
        if !lower.as_bytes().get(tag + 2).is_some_and(u8::is_ascii_whitespace) {
            continue;
        }
        let Some(name) = lower[tag..end].find(" href=").map(|length| tag + length + 1) else { continue };
        let value = name + "href=".len();
        let Some(quote) = lower[value..end].chars().next().filter(|quote| ['"', '\''].contains(quote)) else {
            continue;
        };
        let Some(length) = lower[value + 1..end].find(quote) else { continue };
        if tag < copied {
            continue;
        }
        let link = value + 1..value + 1 + length;
        match target(number, &html[link.clone()]) {
            Some(target) => {
                out += &html[copied..link.start];
                out += &target;
            }
            None => {
                out += &html[copied..name];
                out += "data-was=";
                out += &html[value..link.end];
            }
        }
        (copied, number) = (link.end, number + 1);
    }
    out + &html[copied..]
}

/// Passes each text between tags to `text`, and writes what it returns. Scripts and styles have none.
pub(crate) fn map_texts(html: &str, mut text: impl FnMut(&str) -> String) -> String {
    let lower = html.to_ascii_lowercase();
    let (mut out, mut at) = (String::with_capacity(html.len()), 0);
    while at < html.len() {
        let tag = html[at..].find('<').map_or(html.len(), |length| at + length);
        // Entities are left whole.
        for (number, piece) in html[at..tag].split('&').enumerate() {
            let (entity, rest) =
                if number == 0 { ("", piece) } else { piece.split_at(piece.find(';').map_or(0, |end| end + 1)) };
            out += if number == 0 { "" } else { "&" };
            out += entity;
            out += &text(rest);
        }
        if tag == html.len() {
            break;
        }
        let end = behind_tag(&lower, tag);
        out += &html[tag..end];
        at = end;
    }
    out
}

/// The end of a tag, of a comment, or of an element whose content is no text.
fn behind_tag(lower: &str, tag: usize) -> usize {
    let rest = &lower[tag..];
    let close = if rest.starts_with("<!--") {
        "-->"
    } else if rest.starts_with("<script") {
        "</script>"
    } else if rest.starts_with("<style") {
        "</style>"
    } else {
        ">"
    };
    rest.find(close).map_or(lower.len(), |length| tag + length + close.len())
}

/// The page without the elements of these names.
pub(crate) fn without_elements(html: &str, names: &[&str]) -> String {
    let mut html = html.to_owned();
    for name in names {
        let (open, close) = (format!("<{name}"), format!("</{name}>"));
        let mut from = 0;
        loop {
            let lower = html.to_ascii_lowercase();
            let Some(start) = lower[from..].find(&open).map(|at| from + at) else { break };
            let is_it = lower.as_bytes().get(start + open.len()).is_some_and(|next| !next.is_ascii_alphanumeric());
            let end = lower[start..].find(&close).map(|at| start + at + close.len());
            match end.filter(|_| is_it) {
                Some(end) => html.replace_range(start..end, ""),
                None => from = start + open.len(),
            }
        }
    }
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_texts_and_elements_are_found() {
        let html =
            "<p>One <a class=x href=\"/a\">two</a> <abbr>x</abbr><script>if (a<b) {}</script> &amp; <A href='b'>y</A>";
        let linked = map_links(html, |number, link| (number == 0).then(|| format!("{link}{link}")));
        assert!(linked.contains("href=\"/a/a\"") && linked.contains("data-was='b'"), "{linked}");
        let upper = map_texts(html, str::to_uppercase);
        assert_eq!(
            upper,
            "<p>ONE <a class=x href=\"/a\">TWO</a> <abbr>X</abbr><script>if (a<b) {}</script> &amp; <A href='b'>Y</A>"
        );
        let bare = without_elements("a<nav id=1>b</nav>c<navy>d</navy><NAV>e</NAV>", &["nav"]);
        assert_eq!(bare, "ac<navy>d</navy>");
    }
}
