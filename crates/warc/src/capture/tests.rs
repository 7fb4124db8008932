use super::*;
use messages::{Digest, FetchRequest, Hop, Look, Validators, body};
use page::{CanonicalUrl, Timestamp};

const PAGE: &str = "http://a.test/page";
const MOVED: &str = "http://a.test/moved";
const PLACE: LogPosition<'static> = LogPosition { topic: "recrawl.fetch-results", partition: 2, offset: 7 };

fn later(offset: u64) -> LogPosition<'static> {
    LogPosition { offset, ..PLACE }
}

fn exchange(url: &str, response_head: &str, received_bytes: i64) -> Exchange {
    Exchange {
        url: url.to_owned(),
        requested_at: Timestamp::from_secs(1_763_683_200),
        address: Some("192.0.2.7".to_owned()),
        protocol: "http/1.1".to_owned(),
        request_head: b"GET /page HTTP/1.1\r\nhost: a.test\r\n".to_vec(),
        response_head: response_head.as_bytes().to_vec(),
        is_cut: false,
        received_bytes,
        body: None,
        body_is_cut: false,
    }
}

/// A result for the page with this outcome and these exchanges.
fn result(outcome: FetchOutcome, body: Option<&str>, exchanges: Vec<Exchange>) -> FetchResult {
    let at = Timestamp::from_secs(1_763_683_200);
    let content_digest = body.map(|body| Digest::of(body.as_bytes()));
    let look = Look {
        status: Some(200),
        validators: Validators { content_digest, ..Validators::default() },
        body_length: body.map_or(0, |body| body.len() as i64),
        ..Look::new(FetchRequest::first(CanonicalUrl::parse(PAGE).unwrap(), at), outcome, at)
    };
    FetchResult {
        content_type: Some("text/html".to_owned()),
        body: body.map(|body| body::pack(body.as_bytes(), body::Packing::Lz4)),
        exchanges,
        ..FetchResult::new(look)
    }
}

/// Applies an edit to a value.
fn edited<T>(mut it: T, edit: impl FnOnce(&mut T)) -> T {
    edit(&mut it);
    it
}

fn fetched(text: &str) -> FetchResult {
    let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n";
    result(FetchOutcome::Fetched, Some(text), vec![exchange(PAGE, head, 3)])
}

fn not_modified() -> FetchResult {
    let head = "HTTP/1.1 304 Not Modified\r\nContent-Length: 3\r\n";
    edited(result(FetchOutcome::NotModified, None, vec![exchange(PAGE, head, 0)]), |it| it.look.status = Some(304))
}

fn same_content(text: &str) -> FetchResult {
    let payload_sha1 = Some(Sha1::of(text.as_bytes()));
    edited(fetched(text), |it| {
        it.look.outcome = FetchOutcome::SameContent;
        it.body = None;
        it.payload_sha1 = payload_sha1;
    })
}

fn captured(result: &FetchResult, position: &LogPosition<'_>, originals: &mut Originals) -> Vec<WarcRecord> {
    let body = result.body.as_deref().map(|packed| body::unpack(packed, 1 << 20).unwrap());
    capture(result, body.as_deref(), position, originals)
}

fn kinds(records: &[WarcRecord]) -> Vec<WarcRecordKind> {
    records.iter().map(WarcRecord::kind).collect()
}

#[test]
fn a_page_is_a_request_and_a_response_that_name_each_other() {
    let records = captured(&fetched("a page"), &PLACE, &mut Originals::new(9));
    assert_eq!(kinds(&records), [WarcRecordKind::Request, WarcRecordKind::Response]);
    let [request, response] = &records[..] else { unreachable!("there are two") };
    assert_eq!(request.block(), b"GET /page HTTP/1.1\r\nhost: a.test\r\n\r\n");
    assert_eq!(
        std::str::from_utf8(response.block()).unwrap(),
        "HTTP/1.1 200 OK\r\nX-Crawler-Content-Encoding: gzip\r\nX-Crawler-Content-Length: 3\r\nContent-Length: 6\r\n\r\n\
         a page"
    );
    let sha1 = labelled(Sha1::of(b"a page"));
    for (name, value) in [
        ("WARC-Target-URI", PAGE),
        ("WARC-IP-Address", "192.0.2.7"),
        ("WARC-Protocol", "http/1.1"),
        ("WARC-Payload-Digest", &sha1),
    ] {
        assert_eq!(response.field(name), Some(value));
    }
    assert_eq!(response.field("WARC-Truncated"), None);
    assert_eq!(request.field("WARC-Concurrent-To"), Some(response.id().to_string().as_str()));
    assert_eq!(response.field("WARC-Concurrent-To"), Some(request.id().to_string().as_str()));
}

#[test]
fn exported_twice_a_result_has_the_same_bytes_and_another_place_has_other_names() {
    let records = |position: &LogPosition<'_>| captured(&fetched("a page"), position, &mut Originals::new(9));
    let packed = |position: &LogPosition<'_>| records(position).iter().flat_map(WarcRecord::pack).collect::<Vec<_>>();
    assert_eq!(packed(&PLACE), packed(&PLACE));
    let ids: std::collections::HashSet<_> = [PLACE, later(8), LogPosition { partition: 3, ..PLACE }]
        .iter()
        .flat_map(records)
        .map(|record| record.id())
        .collect();
    assert_eq!(ids.len(), 6);
}

#[test]
fn redirects_are_captures_of_their_own() {
    let redirect = exchange(PAGE, "HTTP/1.1 301 Moved\r\nLocation: /moved\r\nContent-Length: 20\r\n", 20);
    let answer = exchange(MOVED, "HTTP/1.1 200 OK\r\n", 6);
    let moved = edited(result(FetchOutcome::Fetched, Some("a page"), vec![redirect.clone(), answer]), |it| {
        it.look.final_url = CanonicalUrl::parse(MOVED).ok();
        it.hops = vec![Hop { url: PAGE.to_owned(), status: 301 }];
    });
    let mut originals = Originals::new(9);
    let records = captured(&moved, &PLACE, &mut originals);
    assert_eq!(
        kinds(&records),
        [WarcRecordKind::Request, WarcRecordKind::Response, WarcRecordKind::Request, WarcRecordKind::Response]
    );
    let reported = |name: &str| records.iter().map(|record| record.field(name)).collect::<Vec<_>>();
    assert_eq!(reported("WARC-Target-URI"), [Some(PAGE), Some(PAGE), Some(MOVED), Some(MOVED)]);
    assert_eq!(reported("WARC-Truncated"), [None, Some("unspecified"), None, None], "its body was not kept");
    assert_eq!(records[1].field("WARC-Payload-Digest"), None);
    assert!(records[1].block().ends_with(b"X-Crawler-Content-Length: 20\r\nContent-Length: 0\r\n\r\n"));
    assert!(records[3].block().ends_with(b"\r\n\r\na page"));
    let revisit = captured(&not_modified(), &later(8), &mut originals).remove(1);
    assert_eq!(revisit.field("WARC-Refers-To-Target-URI"), Some(MOVED));

    // The second request got no response.
    let lost = edited(result(FetchOutcome::NotModified, None, vec![redirect]), |it| it.look.status = None);
    let records = captured(&lost, &PLACE, &mut originals);
    assert_eq!(kinds(&records), [WarcRecordKind::Request, WarcRecordKind::Response]);
}

#[test]
fn what_did_not_change_refers_to_the_record_with_the_body() {
    let mut originals = Originals::new(9);
    let original = captured(&fetched("a page"), &PLACE, &mut originals).remove(1);
    let sha1 = labelled(Sha1::of(b"a page"));
    let (id, date) = (original.id().to_string(), original.date().to_string());
    let check = |result: &FetchResult, position, originals: &mut Originals, profile: &str, end: &str| {
        let records = captured(result, &position, originals);
        assert_eq!(kinds(&records), [WarcRecordKind::Request, WarcRecordKind::Revisit]);
        let revisit = &records[1];
        for (name, value) in [
            ("WARC-Profile", profile),
            ("WARC-Refers-To", &id),
            ("WARC-Refers-To-Target-URI", PAGE),
            ("WARC-Refers-To-Date", &date),
            ("WARC-Payload-Digest", &sha1),
        ] {
            assert_eq!(revisit.field(name), Some(value), "{profile}");
        }
        assert!(revisit.block().ends_with(end.as_bytes()), "{:?}", String::from_utf8_lossy(revisit.block()));
        assert_ne!(revisit.id(), original.id());
    };
    check(&not_modified(), later(8), &mut originals, SERVER_NOT_MODIFIED, "");
    check(&same_content("a page"), later(9), &mut originals, IDENTICAL_PAYLOAD, "\r\nContent-Length: 6\r\n\r\n");
    check(&not_modified(), later(10), &mut originals, SERVER_NOT_MODIFIED, "");
}

#[test]
fn a_response_without_a_body_is_beside_its_revisit_and_not_in_it() {
    let (result, mut originals) = (not_modified(), Originals::new(9));
    let revisit = captured(&result, &PLACE, &mut originals).remove(1);
    assert_eq!(revisit.block(), b"");
    let record = metadata_record(&result, &["index=n@x-robots-tag".to_owned()], &PLACE).unwrap();
    let id = revisit.id().to_string();
    assert_eq!([record.field("WARC-Refers-To"), record.field("WARC-Concurrent-To")], [Some(id.as_str()); 2]);
    let lines =
        "response: HTTP/1.1 304 Not Modified\r\nresponse: Content-Length: 3\r\npreference: index=n@x-robots-tag\r\n";
    assert_eq!(str::from_utf8(record.block()).unwrap(), lines);
    let lost = edited(not_modified(), |it| it.look.status = None);
    assert_eq!(metadata_record(&lost, &[], &PLACE), None);
}

#[test]
fn a_revisit_does_not_refer_to_what_it_is_not_of() {
    let refers = |result: &FetchResult, originals: &mut Originals| {
        let revisit = captured(result, &later(8), originals).remove(1);
        assert_eq!(revisit.kind(), WarcRecordKind::Revisit);
        let payload = revisit.field("WARC-Payload-Digest").is_some();
        (revisit.field("WARC-Refers-To").is_some() && revisit.field("WARC-Refers-To-Date").is_some(), payload)
    };
    assert_eq!(refers(&same_content("a page"), &mut Originals::new(9)), (false, true), "nothing came before");
    assert_eq!(refers(&not_modified(), &mut Originals::new(9)), (false, false));
    let mut originals = Originals::new(9);
    originals.note(&fetched("another version"), &PLACE);
    assert_eq!(refers(&same_content("a page"), &mut originals), (false, true));
    assert_eq!(refers(&not_modified(), &mut originals), (true, false), "known, but its body was not looked at");
    let mut none = Originals::new(0);
    none.note(&fetched("a page"), &PLACE);
    assert_eq!(refers(&not_modified(), &mut none), (false, false), "there was no room for it");
}

#[test]
fn what_is_not_all_there_says_so() {
    let truncated = |result: &FetchResult| {
        let records = captured(result, &PLACE, &mut Originals::new(9));
        records.last().and_then(|record| record.field("WARC-Truncated").map(str::to_owned))
    };
    let cut = FetchResult { truncated: true, ..fetched("a page") };
    assert_eq!(truncated(&cut).as_deref(), Some("length"));
    assert_eq!(truncated(&FetchResult { exchanges: Vec::new(), ..cut }).as_deref(), Some("length"));
    let head = Exchange { is_cut: true, ..exchange(PAGE, "HTTP/1.1 200 OK\r\n", 6) };
    assert_eq!(truncated(&result(FetchOutcome::Fetched, Some("a page"), vec![head])).as_deref(), Some("length"));
    let missing = |bytes| result(FetchOutcome::NotFound, None, vec![exchange(PAGE, "HTTP/1.1 404 None\r\n", bytes)]);
    assert_eq!(truncated(&missing(9)).as_deref(), Some("unspecified"));
    assert_eq!(truncated(&missing(0)), None);
}

#[test]
fn bodies_of_what_is_no_page_are_archived_where_they_were_kept() {
    let kept = |url: &str, head: &str, body: &[u8]| Exchange {
        body: Some(body::pack(body, body::Packing::Lz4)),
        ..exchange(url, head, 3)
    };
    let robots = kept("http://a.test/robots.txt", "HTTP/1.1 200 OK\r\n", b"User-agent: *\n");
    let gone = "HTTP/1.1 404 None\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n";
    let gone = Exchange { body_is_cut: true, ..kept(PAGE, gone, b"it is gone") };
    let failed = edited(result(FetchOutcome::NotFound, None, vec![robots.clone(), gone]), |it| {
        it.look.status = Some(404);
    });
    let records = captured(&failed, &PLACE, &mut Originals::new(9));
    assert!(records[1].block().ends_with(b"\r\n\r\nUser-agent: *\n"));
    assert_eq!(records[1].field("WARC-Payload-Digest"), Some(labelled(Sha1::of(b"User-agent: *\n")).as_str()));
    assert_eq!(records[1].field("WARC-Truncated"), None);
    assert!(records[3].block().ends_with(b"Content-Length: 10\r\n\r\nit is gone"));
    assert_eq!(records[3].field("WARC-Truncated"), Some("length"));

    // The answer of robots.txt is not that of the page.
    let page = exchange(PAGE, "HTTP/1.1 200 OK\r\n", 6);
    let records =
        captured(&result(FetchOutcome::Fetched, Some("a page"), vec![robots, page]), &PLACE, &mut Originals::new(9));
    let ends = [&b"User-agent: *\n"[..], b"a page"];
    assert!([1, 3].iter().zip(ends).all(|(at, end)| records[*at].block().ends_with(end)));
}

#[test]
fn without_heads_a_body_is_a_resource_and_all_else_is_nothing() {
    let without = |result: FetchResult| FetchResult { exchanges: Vec::new(), ..result };
    let mut originals = Originals::new(9);
    let records = captured(&without(fetched("a page")), &PLACE, &mut originals);
    assert_eq!(kinds(&records), [WarcRecordKind::Resource]);
    assert_eq!((records[0].block(), records[0].field("WARC-Target-URI")), (b"a page".as_slice(), Some(PAGE)));
    assert_eq!(captured(&without(not_modified()), &later(8), &mut originals), []);
    let failed = edited(result(FetchOutcome::DnsFailed, None, Vec::new()), |it| it.look.status = None);
    assert_eq!(captured(&failed, &PLACE, &mut originals), []);
    // Empty heads count as not recorded.
    let headless = exchange(PAGE, "", 6);
    let records = captured(&result(FetchOutcome::Fetched, Some("a page"), vec![headless]), &PLACE, &mut originals);
    assert_eq!(kinds(&records), [WarcRecordKind::Resource]);
    // Later revisits refer to the resource.
    let revisit = captured(&not_modified(), &later(8), &mut originals).remove(1);
    assert_eq!(revisit.field("WARC-Refers-To"), Some(records[0].id().to_string().as_str()));
}

#[test]
fn preferences_are_a_record_about_the_one_with_the_page() {
    let (fetched, mut originals) = (fetched("a page"), Originals::new(10));
    let list = ["index=n@x-robots-tag".to_owned(), "tdm-policy=http://a.test/p\r\nx: y@tdm-reservation".to_owned()];
    let record = metadata_record(&fetched, &list, &PLACE).unwrap();
    let records = capture(&fetched, Some(b"a page"), &PLACE, &mut originals);
    assert_eq!(record.field("WARC-Refers-To"), Some(records[1].id().to_string().as_str()));
    assert_eq!((record.kind(), record.date()), (WarcRecordKind::Metadata, records[1].date()));
    let lines = "preference: index=n@x-robots-tag\r\npreference: tdm-policy=http://a.test/p  x: y@tdm-reservation\r\n";
    assert_eq!(str::from_utf8(record.block()).unwrap(), lines);
    assert!(records.iter().all(|other| other.id() != record.id()));
    assert_eq!(metadata_record(&fetched, &[], &PLACE), None);
}
