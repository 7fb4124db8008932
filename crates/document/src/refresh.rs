//! Refreshes: pages that lead on by themselves.

/// The address that a refresh leads to, in `<meta http-equiv=refresh>` or the header `Refresh` (HTML standard, "shared
/// declarative refresh steps"). `None` if it loads the page itself again.
pub fn refresh_target(content: &str) -> Option<&str> {
    let content = content.trim_ascii_start();
    let after_time = content.trim_start_matches(|sign: char| sign.is_ascii_digit() || sign == '.');
    if after_time.len() == content.len() {
        return None;
    }
    let rest = after_time.trim_ascii_start();
    let target = rest.strip_prefix([';', ',']).unwrap_or(rest);
    if target.len() == after_time.len() && !target.is_empty() {
        return None;
    }
    let target = target.trim_ascii_start();
    let named = target.get(..3).filter(|word| word.eq_ignore_ascii_case("url"));
    let named = named.and_then(|_| target[3..].trim_ascii_start().strip_prefix('='));
    let target = named.unwrap_or(target).trim_ascii();
    let quoted = target.strip_prefix(['"', '\'']).map(|inside| (inside, &target[..1]));
    let target = quoted.map_or(target, |(inside, quote)| inside.split(quote).next().unwrap_or(inside)).trim_ascii();
    (!target.is_empty()).then_some(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refresh_leads_where_a_browser_goes() {
        let check = |content, expected| assert_eq!(refresh_target(content), expected, "{content}");
        for content in
            ["0; url=/new", "0;URL=/new", " 5 , Url = '/new' ", "0.5;\"/new\" x", "3 /new", "0;/new", ".5;url=\"/new"]
        {
            check(content, Some("/new"));
        }
        for content in ["", "30", "30;", "0; url=", "url=/new", "soon; url=/new", "5x", "-1; url=/new"] {
            check(content, None);
        }
        check("0;url/new", Some("url/new"));
        check("0; url=/a;b=c, d", Some("/a;b=c, d"));
    }
}
