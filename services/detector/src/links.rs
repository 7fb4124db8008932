//! Sends addresses that could become pages: links, sitemaps, feeds.

use crate::DetectorRules;
use crate::read_page::ReadPage;
use crate::state::{PAGES, PageSketch};
use messages::topics::{RANKER_EVENTS, SCHEDULER_EVENTS};
use messages::{FetchResult, Link, LinkedSite, PageLinks, PageOutLinks};
use page::{CanonicalUrl, PageId, SiteKey};
use preferences::Use;
use scope::Decision;
use settings::Discover;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::iter::Peekable;
use stream::{Context, ProcessError};

/// The most links of a page that are followed.
pub const LINKS_PER_PAGE: usize = 10_000;
/// The most bytes of these links. Below the limit of the ranker's topic.
const LINK_BYTES_PER_PAGE: usize = 3 << 20;
/// The most sites that the links of a page count for again at each look.
const LINKED_SITES: usize = 64;
/// The most pages in a row that name each the next as canonical.
const COPIES_IN_A_ROW: usize = 8;
/// The most bytes a link takes besides its texts.
const FRAME_BYTES: usize = 16;
/// The most links per record.
const LINKS_PER_RECORD: usize = 1_000;
/// The most bytes per record: a page may have a thousand links of 2,000 bytes each. Half of the topic's limit.
const LINK_BYTES_PER_RECORD: usize = 512 << 10;

/// Sends the feeds that a page names, if they are on its site.
pub(crate) fn send_feeds(
    result: &FetchResult,
    page: &document::PageText,
    known: &PageSketch,
    rules: &DetectorRules,
    context: &mut Context<'_>,
) {
    // Every post of a blog may name the feed of its comments, so where no link is followed only the front page's feeds count.
    let is_front = result.look.url.path() == "/";
    let is_received = rules.follows_links() || (is_front && rules.lists.feeds && rules.lists.discover);
    if !is_received || !may_follow(result, known, rules) {
        return;
    }
    let base = link_base(result.look.answered_by(), page);
    let own = |url: &CanonicalUrl| url.site_key() == result.look.site_key;
    let feeds: BTreeSet<_> = page.feeds.iter().filter_map(|feed| link_target(&base, feed, page)).filter(own).collect();
    let link = |url| Link { url, anchor: String::new(), rel: Link::FEED.to_owned() };
    emit(result, feeds.into_iter().map(link), context);
}

/// Whether the links of the page may be followed.
fn may_follow(result: &FetchResult, known: &PageSketch, rules: &DetectorRules) -> bool {
    !(rules.heeds_nofollow && known.disallows(Use::Follow, result.look.fetched_at))
}

/// The address that a page names as canonical, if it is another. It concerns the page, and not its links.
pub(crate) fn canonical(
    result: &FetchResult,
    page: &document::PageText,
    rules: &DetectorRules,
) -> Option<CanonicalUrl> {
    let canonical = link_target(&link_base(result.look.answered_by(), page), page.canonical.as_deref()?, page)?;
    Some(rules.urls.apply(canonical)).filter(|canonical| *canonical != result.look.url)
}

/// The page that this one is a copy of, if its canonical address is one of its site that was fetched, is there, and does not
/// lead back. Pages that name each other are no copies: the first that was fetched counts for itself.
pub(crate) fn copied_page(
    source: &CanonicalUrl,
    canonical: Option<&CanonicalUrl>,
    rules: &DetectorRules,
    context: &Context<'_>,
) -> Result<Option<PageId>, ProcessError> {
    let is_in_reach = |url: &&CanonicalUrl| {
        url.site_key() == source.site_key() && rules.urls.check(url).is_ok() && rules.scope.allows(url)
    };
    let Some(canonical) = canonical.filter(is_in_reach) else { return Ok(None) };
    let (own, named) = (source.page_id(), canonical.page_id());
    let mut at = named;
    for _ in 0..COPIES_IN_A_ROW {
        let Some(sketch) = context.get(PAGES, &at)? else { return Ok(None) };
        if sketch.last_look_at.is_none() || sketch.missing_since.is_some() {
            return Ok(None);
        }
        match sketch.copy_of {
            None => return Ok(Some(named)),
            Some(next) if next == own => return Ok(None),
            Some(next) => at = next,
        }
    }
    Ok(None)
}

/// The place of a page among others, beside its links.
pub(crate) struct LinkingPage {
    /// The address that it names as canonical, if it is another.
    pub(crate) canonical: Option<CanonicalUrl>,
    /// Whether it is a copy of that.
    pub(crate) is_copy: bool,
    pub(crate) is_first_look: bool,
}

/// Links of a page that are not followed, and what is remembered of the others.
#[derive(Debug, Default)]
pub(crate) struct LinksLeftOut {
    /// The other sites that they lead to.
    pub(crate) linked_sites: Vec<LinkedSite>,
    pub(crate) is_unwanted: bool,
    /// Because there are too many.
    pub(crate) too_many: u64,
    /// Because it is unknown whether a rule denies them.
    pub(crate) undecided: u64,
    /// The first of these, with what decides.
    pub(crate) example: Option<String>,
}

/// Sends the ranker the links of a page that may be followed, and the relevance of the page and its links to the
/// focuses. Returns what was left out.
pub(crate) fn send_links(
    result: &FetchResult,
    read: &ReadPage,
    (place, known): (&LinkingPage, &PageSketch),
    rules: &DetectorRules,
    context: &mut Context<'_>,
) -> LinksLeftOut {
    let page = read.text();
    let base = link_base(result.look.answered_by(), page);
    let source = &result.look.url;
    let is_followed = may_follow(result, known, rules);
    let followed = page.links.iter().filter(|link| is_followed && !link.is_nofollow());
    let followed = followed.map(|link| (link.href, link.anchor, link.rel));
    let refreshed = result.refresh.as_deref().filter(|_| is_followed).and_then(document::refresh_target);
    let refreshed = refreshed.map(|target| (target, "", ""));
    let named = place.canonical.as_ref().map(|canonical| (canonical.as_str(), "", "canonical"));
    let (mut links, mut bytes, mut left_out) = (BTreeMap::new(), 0, LinksLeftOut::default());
    // Pages link to the same page repeatedly, often to different parts of it. The first link counts.
    let mut seen = HashSet::new();
    for (href, anchor, rel) in named.into_iter().chain(refreshed).chain(followed) {
        if !seen.insert(href.trim().split('#').next()) {
            continue;
        }
        let Some(url) = link_target(&base, href, page) else { continue };
        let url = rules.urls.apply(url);
        if url == *source || links.contains_key(&url) || !is_near(source, &url, rules) {
            continue;
        }
        let decision = rules.scope.decide(&url);
        if let Decision::Unknown(_) = decision {
            left_out.undecided += 1;
            left_out.example.get_or_insert_with(|| format!("{url}: {decision}"));
        }
        if !decision.allows() {
            continue;
        }
        bytes += url.as_str().len() + anchor.len() + rel.len() + FRAME_BYTES;
        if links.len() == LINKS_PER_PAGE || bytes > LINK_BYTES_PER_PAGE {
            left_out.too_many += 1;
            continue;
        }
        links.insert(url, (anchor.to_owned(), rel.to_owned()));
    }
    let links: Vec<Link> = links.into_iter().map(|(url, (anchor, rel))| Link { url, anchor, rel }).collect();
    if rules.counts_every_look {
        left_out.linked_sites = linked_sites(source, &links);
    }
    left_out.is_unwanted = place.is_copy || known.disallows(Use::Index, result.look.fetched_at);
    let links = PageOutLinks {
        source_page_id: result.look.page_id,
        source_url: source.clone(),
        found_at: result.look.fetched_at,
        is_first_look: place.is_first_look,
        is_unwanted: left_out.is_unwanted,
        text_hash: hash_without_digits(&page.text),
        focus: rules.focuses.judge(result, read, &links),
        links,
        is_repeated: false,
        repeated_sites: Vec::new(),
    };
    context.emit(RANKER_EVENTS, links);
    left_out
}

/// The other sites that links lead to, those with most links first.
fn linked_sites(source: &CanonicalUrl, links: &[Link]) -> Vec<LinkedSite> {
    let own = source.site_key();
    let mut by_site = BTreeMap::<SiteKey, i32>::new();
    for site in links.iter().map(|link| link.url.site_key()).filter(|site| *site != own) {
        *by_site.entry(site).or_default() += 1;
    }
    let mut sites: Vec<_> = by_site.into_iter().map(|(site, links)| LinkedSite { site, links }).collect();
    sites.sort_by(|a, b| b.links.cmp(&a.links).then_with(|| a.site.cmp(&b.site)));
    sites.truncate(LINKED_SITES);
    sites
}

/// Sends the ranker word of a look that found the same links again, where every look counts.
pub(crate) fn repeat_links(result: &FetchResult, known: &PageSketch, context: &mut Context<'_>) {
    let links = PageOutLinks {
        source_page_id: result.look.page_id,
        source_url: result.look.url.clone(),
        found_at: result.look.fetched_at,
        is_first_look: false,
        is_unwanted: known.is_unwanted,
        text_hash: 0,
        focus: None,
        links: Vec::new(),
        is_repeated: true,
        repeated_sites: known.linked_sites.clone(),
    };
    context.emit(RANKER_EVENTS, links);
}

/// Whether an address is as near as links are followed, and none that is refused by its form.
fn is_near(source: &CanonicalUrl, url: &CanonicalUrl, rules: &DetectorRules) -> bool {
    let is_near = match rules.discover {
        Discover::None => false,
        Discover::SameHost => url.host() == source.host(),
        Discover::SameSite => url.site_key() == source.site_key(),
        Discover::Anywhere => true,
    };
    is_near && rules.urls.check(url).is_ok()
}

/// The address that relative links of a page are resolved against.
pub fn link_base(address: &CanonicalUrl, page: &document::PageText) -> CanonicalUrl {
    page.base.as_deref().and_then(|base| address.join(base).ok()).unwrap_or_else(|| address.clone())
}

/// The address that a reference on a page means to a browser.
pub fn link_target(base: &CanonicalUrl, reference: &str, page: &document::PageText) -> Option<CanonicalUrl> {
    base.join(&document::with_encoded_query(reference, page.charset)).ok()
}

fn hash_without_digits(text: &str) -> i64 {
    let characters: String = text.chars().filter(|sign| !sign.is_numeric()).collect();
    document::text_hash(characters.as_bytes()) as i64
}

/// Sends the sitemaps named by robots.txt, if it was just fetched.
pub(crate) fn send_sitemaps(result: &FetchResult, rules: &DetectorRules, context: &mut Context<'_>) {
    let wanted = rules.lists.sitemaps && (rules.follows_links() || rules.lists.discover);
    let own = |text: &String| CanonicalUrl::parse(text).ok().filter(|url| url.site_key() == result.look.site_key);
    let link = |url| Link { url, anchor: String::new(), rel: Link::SITEMAP.to_owned() };
    emit(result, result.sitemaps.iter().filter(|_| wanted).filter_map(own).map(link), context);
}

/// Sends the links of one page in as few records as possible.
pub(crate) fn emit(result: &FetchResult, links: impl Iterator<Item = Link>, context: &mut Context<'_>) {
    let mut links = links.peekable();
    while links.peek().is_some() {
        let record = PageLinks {
            source_page_id: result.look.page_id,
            source_url: result.look.url.clone(),
            target_site: result.look.site_key.clone(),
            found_at: result.look.fetched_at,
            links: next_batch(&mut links),
        };
        context.emit(SCHEDULER_EVENTS, record);
    }
}

/// Takes the links of the next record; at least one.
fn next_batch(links: &mut Peekable<impl Iterator<Item = Link>>) -> Vec<Link> {
    let size = |link: &Link| link.url.as_str().len() + link.anchor.len() + link.rel.len() + FRAME_BYTES;
    let (mut batch, mut bytes) = (Vec::new(), 0);
    while let Some(link) = links.next_if(|link| {
        batch.is_empty() || (batch.len() < LINKS_PER_RECORD && bytes + size(link) <= LINK_BYTES_PER_RECORD)
    }) {
        bytes += size(&link);
        batch.push(link);
    }
    batch
}
