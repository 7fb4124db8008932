//! The sites: for each an input of ours of the same kind as that of the reports, and what is right.

use super::inputs::{
    canonical, dated, html, late_charset, nearly_dated_items, page_with_coding, rss, two_members, urlset, windows_1251,
    without_trailer,
};
use crate::site::answer;

/// A site with one odd input. Every other path of it has a page of a sentence.
pub(super) struct Site {
    /// File of the report's input, and the name of the host without `.test`.
    pub(super) input: &'static str,
    /// An input of ours of the same kind: a whole answer if the name ends in `.http`, otherwise a body.
    pub(super) ours: fn() -> Vec<u8>,
    /// Where the input lies.
    pub(super) path: &'static str,
    /// Further pages; an empty one is not found.
    pub(super) others: &'static [(&'static str, &'static str)],
    /// The pages where the crawl begins, if that is not where the input lies.
    begins: &'static [&'static str],
    /// All paths that are right to ask for if links are followed, in order.
    pub(super) asked: &'static [&'static str],
    /// The same if links are not followed. Empty if that is not played.
    pub(super) asked_for_lists: &'static [&'static str],
    /// Dates of its entries, in order. Empty if they are not compared.
    pub(super) dated: &'static [&'static str],
    /// Words of its text.
    pub(super) says: &'static [&'static str],
}

const PAGE: Site = Site {
    input: "",
    ours: Vec::new,
    path: "/",
    others: &[],
    begins: &[],
    asked: &["/"],
    asked_for_lists: &[],
    dated: &[],
    says: &[],
};

const LIST: Site = Site { path: "/list.xml", asked: &["/list.xml"], ..PAGE };

impl Site {
    pub(super) fn host(&self) -> String {
        let (stem, _) = self.input.split_once('.').unwrap();
        format!("{stem}.test")
    }

    /// Addresses where the crawl begins.
    pub(super) fn seeds(&self) -> Vec<String> {
        let paths = if self.begins.is_empty() { &[self.path][..] } else { self.begins };
        paths.iter().map(|path| format!("http://{}{path}", self.host())).collect()
    }
}

/// Inputs that are no site of this table, and where their kind is played.
pub(super) const NOT_SITES: &[(&str, &str)] = &[
    ("README.md", "says what is right"),
    ("serve.py", "serves the others"),
    ("sitemap-of-12000-addresses.py", "the test of a long sitemap"),
    ("conditional-request-answered-412.txt", "the test of conditions"),
    ("h2-http11-required.txt", "services/fetcher/tests/fetcher/http2.rs: reset-wants-http1"),
    ("h2-reset-no-error-before-the-end.txt", "the same: reset-no-error-in-mid-body"),
    ("hosts-with-outer-hyphen.txt", "nowhere: rustls takes no such name"),
];

const MENTIONED: &str = "<title>second</title><p>A page with other words than the first one has.";

/// All sites.
pub(super) const SITES: &[Site] = &[
    // Robots.txt.
    Site {
        input: "robots-content-encoding-utf-8.http",
        ours: || {
            answer(
                "200 OK\r\ncontent-type: text/plain\r\ncontent-encoding: UTF-8",
                "User-agent: *\nDisallow: /private\n",
            )
        },
        path: "/robots.txt",
        others: &[(
            "/",
            "<a href=/private/a>A</a><a href=/open>B</a><p>Two links, one of them to where nobody may go.",
        )],
        begins: &["/"],
        asked: &["/", "/open"],
        ..PAGE
    },
    Site {
        input: "robots-relative-sitemap.txt",
        ours: || b"User-agent: *\nDisallow: /private\nSitemap: /s.xml\n".into(),
        path: "/robots.txt",
        begins: &["/"],
        asked: &["/", "/s.xml"],
        asked_for_lists: &["/", "/s.xml"],
        ..PAGE
    },
    // Bodies.
    Site { input: "page-content-encoding-8bit.http", ours: || page_with_coding("8bit"), asked: &["/", "/x"], ..PAGE },
    Site { input: "page-content-encoding-none.http", ours: || page_with_coding("none"), asked: &["/", "/x"], ..PAGE },
    Site { input: "page-content-encoding-utf-8.http", ours: || page_with_coding("utf-8"), asked: &["/", "/x"], ..PAGE },
    Site { input: "page-gzip-without-trailer.http", ours: without_trailer, asked: &["/", "/x"], ..PAGE },
    Site { input: "page-in-two-gzip-members.http", ours: two_members, asked: &["/", "/first", "/last"], ..PAGE },
    // Encodings.
    Site {
        input: "charset-declared-after-2000-bytes.html", ours: late_charset, says: &["100 € Œuvre žž"], ..PAGE
    },
    Site {
        input: "charset-in-data-attribute.html",
        ours: || html("<meta name=x data-charset=gbk content=y>", "<p>naïve café – déjà vu</p>"),
        says: &["naïve café – déjà vu"],
        ..PAGE
    },
    Site {
        input: "charset-in-meta-description.html",
        ours: || html("<meta name=description content='charset=gbk'>", "<p>naïve café – déjà vu</p>"),
        says: &["naïve café – déjà vu"],
        ..PAGE
    },
    Site {
        input: "link-query-in-windows-1251.html",
        ours: windows_1251,
        asked: &["/", "/%D0%BF%D1%83%D1%82%D1%8C", "/s?q=%EF%F0%E8%E2%E5%F2"],
        ..PAGE
    },
    // Where a page leads.
    Site {
        input: "base-is-data-address.html",
        ours: || html("<base href='data:,x'>", "<a href=x.html>X</a>"),
        path: "/d/p.html",
        asked: &["/d/p.html", "/d/x.html"],
        ..PAGE
    },
    Site {
        input: "canonical-in-body.html",
        ours: || html("", "<main><link rel=canonical href=/other><a href=/x>X</a></main>"),
        asked: &["/", "/x"],
        ..PAGE
    },
    Site {
        input: "canonical-is-404.html",
        ours: || canonical("/gone", "/x"),
        others: &[("/gone", "")],
        asked: &["/", "/gone", "/x"],
        ..PAGE
    },
    Site {
        input: "canonical-loop-b.html",
        ours: || canonical("/", "/y"),
        path: "/b",
        others: &[(
            "/",
            "<link rel=canonical href=/b><title>front</title><a href=/x>X</a><p>This is the front page of two.",
        )],
        begins: &["/", "/b"],
        asked: &["/", "/b", "/x", "/y"],
        ..PAGE
    },
    Site {
        input: "canonical-loop-front.html",
        ours: || canonical("/b", "/x"),
        others: &[(
            "/b",
            "<link rel=canonical href=/><title>b</title><a href=/y>Y</a><p>This is the second page of two.",
        )],
        begins: &["/", "/b"],
        asked: &["/", "/b", "/x", "/y"],
        ..PAGE
    },
    Site {
        input: "canonical-of-page-2-is-page-1.html",
        ours: || canonical("/list", "/item-9"),
        path: "/list?page=2",
        others: &[(
            "/list",
            "<link rel=canonical href=/list><title>1</title><a href='/list?page=2'>2</a><p>The first page of a list.",
        )],
        begins: &["/list"],
        asked: &["/item-9", "/list", "/list?page=2"],
        ..PAGE
    },
    Site {
        input: "canonical-on-other-host.html",
        ours: || canonical("http://www.canonical.test/", "/x"),
        asked: &["/", "/x"],
        ..PAGE
    },
    Site {
        input: "frameset.html",
        ours: || b"<title>f</title><frameset rows='*,*'><frame src=/menu.html><frame src=/main.html></frameset>".into(),
        asked: &["/", "/main.html", "/menu.html"],
        ..PAGE
    },
    Site {
        input: "meta-refresh.html",
        ours: || b"<title>m</title><meta http-equiv=Refresh content='3;URL=/new'><p>This page has moved.".into(),
        others: &[("/new", MENTIONED)],
        asked: &["/", "/new"],
        ..PAGE
    },
    Site {
        input: "refresh-header.http",
        ours: || answer("200 OK\r\ncontent-type: text/html\r\nrefresh: 3;url=/new", html("", "")),
        others: &[("/new", MENTIONED)],
        asked: &["/", "/new"],
        ..PAGE
    },
    Site {
        input: "noscript-link.html",
        ours: || html("", "<main><noscript><a href=/plain>plain</a></noscript></main>"),
        asked: &["/", "/plain"],
        ..PAGE
    },
    Site {
        input: "redirect-to-latin-1-bytes.http",
        ours: || b"HTTP/1.1 301 Moved\r\nlocation: /caf\xe9\r\ncontent-length: 0\r\n\r\n".into(),
        asked: &["/", "/caf%E9"],
        ..PAGE
    },
    Site {
        input: "x-robots-tag-nofollow.http",
        ours: || answer("200 OK\r\ncontent-type: text/html\r\nx-robots-tag: nofollow", html("", "<a href=/x>X</a>")),
        ..PAGE
    },
    // Sitemaps.
    Site {
        input: "sitemap-dates-of-the-schema.xml",
        ours: || urlset(&dated(&[("/0", "2026-02-01Z"), ("/1", "2026-02-01+02:00"), ("/2", "2026-02-01T24:00:00Z")])),
        asked: &["/0", "/1", "/2", "/list.xml"],
        dated: &["2026-02-01T00:00:00Z", "2026-01-31T22:00:00Z", "2026-02-02T00:00:00Z"],
        ..LIST
    },
    Site {
        input: "sitemap-index-of-url-elements.xml",
        ours: || {
            b"<sitemapindex><sitemap><loc>http://map.test/s1.xml</loc></sitemap>\
              <url><loc>http://map.test/home</loc></url></sitemapindex>"
                .into()
        },
        asked: &["/home", "/list.xml", "/s1.xml"],
        asked_for_lists: &["/list.xml", "/s1.xml"],
        ..LIST
    },
    Site {
        input: "sitemap-index-with-prefix.xml",
        ours: || {
            b"<s:sitemapindex xmlns:s='http://www.sitemaps.org/schemas/sitemap/0.9'><s:sitemap>\
              <s:loc>http://map.test/s1.xml</s:loc></s:sitemap></s:sitemapindex>"
                .into()
        },
        asked: &["/list.xml", "/s1.xml"],
        asked_for_lists: &["/list.xml", "/s1.xml"],
        ..LIST
    },
    Site {
        input: "sitemap-loc-without-url.xml",
        ours: || urlset("<loc>http://map.test/1</loc><loc>http://map.test/2</loc>"),
        asked: &["/1", "/2", "/list.xml"],
        ..LIST
    },
    Site {
        input: "sitemap-video-date.xml",
        ours: || {
            urlset(
                "<url><loc>http://map.test/1</loc><v:video xmlns:v='http://www.google.com/schemas/sitemap-video/1.1'>\
                 <v:publication_date>2020-01-01</v:publication_date></v:video></url>",
            )
        },
        asked: &["/1", "/list.xml"],
        dated: &["none"],
        ..LIST
    },
    // Feeds.
    Site {
        input: "feed-atom-xml-base.xml",
        ours: || {
            b"<feed xmlns='http://www.w3.org/2005/Atom' xml:base='http://feed.test/ongoing/'>\
              <entry xml:base='When/2026/'><link href='One'/></entry><entry><link href='Two'/></entry></feed>"
                .into()
        },
        asked: &["/list.xml", "/ongoing/Two", "/ongoing/When/2026/One"],
        ..LIST
    },
    Site {
        input: "feed-dates-nearly-right.xml",
        ours: || rss("", &nearly_dated_items()),
        asked: &["/0", "/1", "/2", "/3", "/4", "/5", "/6", "/list.xml"],
        dated: &[
            "2026-01-25T09:35:20Z",
            "2021-09-02T20:00:00Z",
            "2026-06-02T08:00:00Z",
            "2026-06-02T08:00:00Z",
            "2026-06-02T08:00:00Z",
            "2026-06-02T08:00:00Z",
            "2026-09-02T08:00:00Z",
        ],
        ..LIST
    },
    Site {
        input: "feed-guid-is-no-permalink.xml",
        ours: || rss("", "<item><guid isPermaLink='false'>http://feed.test/?p=123</guid></item>"),
        ..LIST
    },
    Site {
        input: "feed-rss-xml-base.xml",
        ours: || rss(" xml:base='http://feed.test/blog/'", "<item><link>post/1</link></item>"),
        asked: &["/blog/post/1", "/list.xml"],
        ..LIST
    },
];
