use super::*;
use crate::links::RawLink;
use proptest::prelude::*;

fn text_of(html: &str) -> String {
    extract(html).text
}

#[test]
fn text_is_what_a_reader_sees() {
    let check = |html, expected: &str| assert_eq!(text_of(html), expected, "{html}");
    check("a<b>b</b>c <i> d</i>", "abc d");
    check("<p>one<p>two<br>three<div>four</div>five", "one\ntwo\nthree\nfour\nfive");
    check("<table><tr><td>a<td>b<tr><td>c</table>", "a b\nc");
    check("a<!-- <p>no --><script>no()</script><style>no{}</style><noscript>no</noscript>b", "ab");
    check("a<template><p>no</p></template>b<template>", "ab");
    check("a<template shadowrootmode=open><p>b<template>no</template></template>c", "a\nbc");
    check("<script><!-- <script> </script> no --></script>yes", "yes");
    check("<textarea> typed &amp; <b></textarea>", "typed & <b>");
    check("&lt;tag&gt; &eacute;t&#233;&nbsp;&hellip;", "<tag> été …");
    check("1 < 2 <3 and a<b", "1 < 2 <3 and a");
    check("<p title=\"<div>no>\" x='>'>yes", "yes");
    check("<svg><title>no</title><![CDATA[x<y]]></svg>", "x<y");
    check("<head><title>no</title></head>yes<title>no</title>", "yes");
    check("<!doctype html><html><body>网页<br>\u{a0}</body>", "网页");
    check("", "");
}

#[test]
fn the_head_is_read() {
    let page = extract(
        "<head><TITLE>A &amp; B\n C</TITLE><base href='/dir/'><base href=/no>\
         <link rel=stylesheet href=/s.css><link rel='x CANONICAL' href=\"https://a.test/?p=1&amp;q=2\">\
         <title>second</title></head>",
    );
    assert_eq!(page.title, "A & B C");
    assert_eq!(page.base.as_deref(), Some("/dir/"));
    assert_eq!(page.canonical.as_deref(), Some("https://a.test/?p=1&q=2"));
}

#[test]
fn feeds_are_alternates_of_a_feeds_type() {
    let page = extract(
        "<link rel='alternate home' type='Application/RSS+XML; charset=utf-8' href='/feed?a=1&amp;b=2'>\
         <link rel=alternate type=text/html hreflang=fr href=/fr><link rel=preload type=application/rss+xml href=/no>\
         <link type=application/feed+json rel=Alternate href=feed.json><template><link rel=alternate \
         type=application/atom+xml href=/no></template>",
    );
    assert_eq!(page.feeds, ["/feed?a=1&b=2", "feed.json"]);
    let many = "<link rel=alternate type=application/atom+xml href=/f>".repeat(100);
    assert_eq!(extract(&many).feeds.len(), MAX_FEEDS);
}

#[test]
fn links_come_with_target_words_and_rel() {
    let page = extract(
        "<a href='/a'>first <b>one</b></a> x <a class=y HREF = /b?x=1&amp;y=2 rel=\"nofollow noopener\"><img></a>\
         <a name=z>no</a><a href=#top>no</a><a href=' JavaScript:no() '>no</a>\
         <a href=/c><p>un</p><p>closed</p><a href=/d>next<area href=/e><template><a href=/no></template>",
    );
    let link = |href, anchor, rel| RawLink { href, anchor, rel };
    let expected = [
        link("/a", "first one", ""),
        link("/b?x=1&y=2", "", "nofollow noopener"),
        link("/c", "un closed", ""),
        link("/d", "next", ""),
        link("/e", "", ""),
    ];
    assert_eq!(page.links.iter().collect::<Vec<_>>(), expected);
}

#[test]
fn frames_refreshes_and_texts_for_readers_without_scripts_lead_on() {
    let check = |html: &str, expected: &[&str]| {
        let page = extract(html);
        assert_eq!(page.links.iter().map(|link| link.href).collect::<Vec<_>>(), expected, "{html}");
    };
    check("<frameset><frame src=/menu><FRAME name=x src='/main?a&amp;b'><frame></frameset>", &["/menu", "/main?a&b"]);
    check("<frameset><noframes><a href=/plain>plain</a></noframes></frameset>", &["/plain"]);
    check("<p>a<iframe src=/part><a href=/no></iframe><iframe srcdoc='<a href=/no>'></iframe>", &["/part"]);
    check("<iframe src=about:blank></iframe><iframe src='javascript:0'></iframe>", &[]);
    check("<noscript><a href=/1>x</a><iframe src=/2></iframe></noscript><a href=/3>y</a>", &["/1", "/2", "/3"]);
    check("<head><noscript><meta http-equiv=refresh content='0;/plain'></noscript></head>", &["/plain"]);
    check("<noscript></noscript><style><a href=/no></style><xmp><a href=/no></xmp>", &[]);
    check("<noscript><template><a href=/no></a></template><a href=/yes rel=nofollow></noscript>", &["/yes"]);
    let page = extract("<a href=/a>one<noscript><a href=/b>no</a></noscript></a>");
    assert_eq!((page.text.as_str(), page.links.len()), ("one", 2));
}

#[test]
fn a_canonical_is_of_the_head() {
    let canonical = |before: &str| extract(&format!("{before}<link rel=canonical href=/real>")).canonical;
    for head in [
        "",
        "<head>",
        "<title>t</title></head>",
        "<!doctype html>\n<script>x()</script> <style>a{}</style>",
        "<noscript>x</noscript>",
    ] {
        assert_eq!(canonical(head).as_deref(), Some("/real"), "{head}");
    }
    for head in ["<body>", "text", "<p>", "<head></head><div>", "<img>", "<x-y>", "<frameset>"] {
        assert_eq!(canonical(head), None, "{head}");
    }
}

#[test]
fn a_script_changing_between_words_is_no_change() {
    let page = |token| format!("<p>hello <script nonce={token}>t='{token}'</script>world<!--{token}-->");
    assert_eq!(text_of(&page("abc")), text_of(&page("defghi")));
}

#[test]
fn deep_and_unclosed_markup_takes_linear_time() {
    let deep = format!("{}{}x", "<b>".repeat(300_000), "</i>".repeat(300_000));
    assert_eq!(text_of(&deep), "x");
    // Missing ends of comments and quotes are searched for only once.
    assert_eq!(text_of(&"<!-- ".repeat(200_000)), "");
    assert_eq!(text_of(&"<a href=\"".repeat(200_000)), "");
    assert_eq!(text_of(&"<a ' ".repeat(200_000)), "");
}

#[test]
fn what_does_not_fit_is_left_out_and_said_so() {
    let page = extract(&"<a href=/x>word</a> ".repeat(MAX_LINKS + 1));
    assert_eq!((page.links.len(), page.truncated), (MAX_LINKS, true));
    let page = extract(&"word ".repeat(MAX_TEXT_BYTES / 4));
    assert!(page.text.len() <= MAX_TEXT_BYTES && page.truncated);
}

proptest! {
    #[test]
    fn any_soup_is_a_page(
        soup in "(<|>|/|!--|-->|=|\"|'| |a|b|é|&|&#|amp;|title|script|style|template|textarea|href|meta|svg|<!\\[CDATA\\[|\\]\\]>){0,60}"
    ) {
        let page = extract(&soup);
        prop_assert!(page.text.len() <= soup.len() * 3);
    }
}
