use super::*;
use proptest::prelude::*;

/// Tokens in short form: texts as they are, scripts and hidden text in brackets, tags by name.
fn shown(html: &str) -> String {
    let show = |token: Token<'_>| match token {
        Token::Text(text, TextKind::Raw | TextKind::Script) => format!("[{text}]"),
        Token::Text(text, _) => text.to_owned(),
        Token::Start(tag) => format!("{{{}}}", String::from_utf8_lossy(tag.name.as_bytes())),
        Token::End(name) => format!("{{/{}}}", String::from_utf8_lossy(name.as_bytes())),
    };
    tokens(html).map(show).collect()
}

#[test]
fn text_is_distinguished_from_markup_as_the_standard_says() {
    let check = |html: &str, expected: &str| assert_eq!(shown(html), expected, "{html}");
    check("a<B Class='>'>b</b >c", "a{b}b{/b}c");
    check("a < b <3 <>c</>d</ x>e", "a < b <3 <>cde");
    check("a<p title=x=\"y>z\"q", "a{p}z\"q");
    check("a<p ='>'b>c", "a{p}'b>c");
    check("a<p id=\"unclosed>b", "a");
    check("a<!-->b<!--->c<!-- > -- > --!>d<!--!>e-->f<!-- never", "abcdf");
    check("<!doctype html>a<?php x?>b<!x>c<![CDATA[d>e", "abce");
    check("<svg><![CDATA[<b>]]></svg><![CDATA[x]]>", "{svg}<b>{/svg}");
    check(
        "<svg><style>a<g>b</style></svg><style>a<b></style>",
        "{svg}{style}[a]{g}[b]{/style}{/svg}{style}[a<b>]{/style}",
    );
    check("<svg><title>a<g>b</g></title>c</svg>d", "{svg}{title}[a]{g}[b]{/g}{/title}c{/svg}d");
    check("<title>a<b>&amp;</TITLE >b", "{title}a<b>&amp;{/title}b");
    check("<textarea></p></textareas></textarea>", "{textarea}</p></textareas>{/textarea}");
    check("<plaintext>a</plaintext>", "{plaintext}a</plaintext>");
}

#[test]
fn scripts_end_where_browsers_end_them() {
    let check = |html: &str, expected: &str| assert_eq!(shown(html), expected, "{html}");
    check("<script>a<b</script>c", "{script}[a<b]{/script}c");
    check("<script><!-- </script>c", "{script}[<!-- ]{/script}c");
    check("<script><!-- <script> </script> --></script>c", "{script}[<!-- <script> </script> -->]{/script}c");
    check("<script><!--><script></script>c", "{script}[<!--><script>]{/script}c");
    check("<script></scripty></script/x>c", "{script}[</scripty>]{/script}c");
}

proptest! {
    #[test]
    fn any_soup_has_tokens(soup in "(<|>|/|!--|--|=|\"|'| |a|é|title|script|style|svg|math|mi|<!\\[CDATA\\[|\\]\\]>|\\?){0,60}") {
        let length: usize = tokens(&soup).map(|token| match token {
            Token::Text(text, _) => text.len(),
            Token::Start(tag) => tag.attributes().len(),
            Token::End(_) => 0,
        }).sum();
        prop_assert!(length <= soup.len());
    }
}
