//! Nothing of the inner network is reached from a page, whichever way it tries.

use crate::site::{Site, in_browser, render_with};
use browser::RenderLimits;
use std::io::{Read, Write};
use std::net::{TcpListener, UdpSocket};
use std::sync::{Arc, Mutex};

/// Ways out, with `ORIGIN` and `HOST` of a server in the inner network, and a `UDP` address there.
const MARKUP: [&str; 16] = [
    r#"<link rel=prefetch href="ORIGIN/prefetch">"#,
    r#"<link rel=preload as=image href="ORIGIN/preload">"#,
    r#"<link rel=dns-prefetch href="ORIGIN"><link rel=preconnect href="ORIGIN">"#,
    r#"<link rel=modulepreload href="ORIGIN/modulepreload">"#,
    r#"<link rel=manifest href="ORIGIN/manifest"><link rel=icon href="ORIGIN/icon">"#,
    r#"<style>@import "ORIGIN/import"; @font-face { font-family: f; src: url(ORIGIN/font) } p { font-family: f }</style>"#,
    r#"<img src="ORIGIN/img" srcset="ORIGIN/srcset 2x">"#,
    r#"<iframe src="ORIGIN/iframe"></iframe>"#,
    r#"<iframe srcdoc="<img src='ORIGIN/srcdoc'><script>fetch('ORIGIN/in-srcdoc',{mode:'no-cors'})</script>"></iframe>"#,
    r#"<video src="ORIGIN/video" autoplay muted></video><audio src="ORIGIN/audio" autoplay></audio>"#,
    r#"<script src="ORIGIN/script"></script><script type=module src="ORIGIN/module"></script>"#,
    r#"<object data="ORIGIN/object"></object><embed src="ORIGIN/embed.pdf" type="application/pdf">"#,
    r#"<iframe src="/redirect"></iframe><img src="/redirect"><script src="/redirect"></script>"#,
    r#"<svg><image href="ORIGIN/svg"/><use href="ORIGIN/use#x"/></svg>"#,
    r#"<form id=form action="ORIGIN/form" target=_blank method=post><input name=x></form><a id=a href="ORIGIN/a" target=_blank ping="ORIGIN/ping">a</a>"#,
    r#"<meta http-equiv=refresh content="1;url=ORIGIN/refresh">"#,
];
const SCRIPTS: [&str; 19] = [
    "fetch('ORIGIN/fetch', { mode: 'no-cors' })",
    "fetch('ORIGIN/keepalive', { mode: 'no-cors', keepalive: true, method: 'POST' })",
    "const x = new XMLHttpRequest(); x.open('GET', 'ORIGIN/xhr'); x.send()",
    "const y = new XMLHttpRequest(); y.open('GET', 'ORIGIN/sync', false); y.send()",
    "new WebSocket('ws://HOST/websocket')",
    "new EventSource('ORIGIN/eventsource')",
    "navigator.sendBeacon('ORIGIN/beacon', 'x')",
    "new Worker(URL.createObjectURL(new Blob([\"fetch('ORIGIN/worker', {mode: 'no-cors'}); importScripts('ORIGIN/import-scripts')\"])))",
    "new Worker(URL.createObjectURL(new Blob([\"new WebSocket('ws://HOST/worker-socket')\"])))",
    "new SharedWorker(URL.createObjectURL(new Blob([\"fetch('ORIGIN/shared', {mode: 'no-cors'})\"])))",
    "navigator.serviceWorker.register('/sw.js')",
    "const f = document.createElement('iframe'); document.body.append(f); new f.contentWindow.WebSocket('ws://HOST/frame-socket')",
    "const e = document.createElement('iframe'); document.body.append(e); \
     e.contentWindow.fetch('ORIGIN/frame-fetch', { mode: 'no-cors' })",
    "const g = document.createElement('iframe'); document.body.append(g); const p = new g.contentWindow.RTCPeerConnection({ \
     iceServers: [{ urls: 'stun:UDP' }, { urls: 'turn:UDP', username: 'u', credential: 'c' }] }); p.createDataChannel('x'); \
     p.createOffer().then(o => p.setLocalDescription(o))",
    "const h = document.createElement('iframe'); document.body.append(h); new h.contentWindow.WebTransport('https://UDP/transport')",
    "window.open('ORIGIN/popup')",
    "document.getElementById('form').submit(); document.getElementById('a').click()",
    "import('ORIGIN/dynamic')",
    "new PresentationRequest('ORIGIN/presentation').start()",
];

#[test]
fn no_inner_address_is_reached_and_no_datagram_is_sent() {
    let reached = Arc::new(Mutex::new(Vec::new()));
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let (server_address, book) = (server.local_addr().unwrap(), reached.clone());
    std::thread::spawn(move || {
        for mut stream in server.incoming().flatten() {
            let mut head = [0; 512];
            let length = stream.read(&mut head).unwrap_or(0);
            book.lock().unwrap().push(String::from_utf8_lossy(&head[..length]).lines().next().unwrap_or("").to_owned());
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\nconnection: close\r\n\r\nsecret");
        }
    });
    let datagrams = UdpSocket::bind("127.0.0.1:0").unwrap();
    datagrams.set_nonblocking(true).unwrap();
    let filled = |text: &str| {
        let host = server_address.to_string();
        let text = text.replace("ORIGIN", &format!("http://{host}")).replace("HOST", &host);
        text.replace("UDP", &datagrams.local_addr().unwrap().to_string())
    };
    let scripts: Vec<String> =
        SCRIPTS.iter().map(|way| format!("<script>try {{ {} }} catch (e) {{}}</script>", filled(way))).collect();
    let page = format!("<p>text</p>{}{}", MARKUP.map(filled).concat(), scripts.concat());
    let mut site = Site::default().redirecting("/redirect", &format!("http://{server_address}/redirected")).with(
        "/sw.js",
        "text/javascript",
        &filled("fetch('ORIGIN/service-worker', {mode: 'no-cors'})"),
    );
    let rendered =
        in_browser(async |browser| render_with(browser, &page, &mut site, &RenderLimits::default()).await.unwrap());
    assert!(rendered.html.contains("<p>text</p>"), "{}", rendered.html);
    assert!(rendered.blocked >= 15, "the page did try: {}", rendered.blocked);
    let asked = site.asked_for();
    for way in ["/fetch", "/xhr", "/sync", "/script", "/module", "/worker", "/frame-fetch", "/dynamic"] {
        assert!(asked.iter().any(|url| url.ends_with(way)), "{way} came to the door: {asked:?}");
    }
    assert_eq!(*reached.lock().unwrap(), [""; 0]);
    assert!(datagrams.recv_from(&mut [0; 64]).is_err(), "no datagram came");
    // The server and the socket do answer whoever has a network.
    let mut stream = std::net::TcpStream::connect(server_address).unwrap();
    stream.write_all(b"GET /test HTTP/1.1\r\n\r\n").unwrap();
    stream.read_to_end(&mut Vec::new()).unwrap();
    assert_eq!(reached.lock().unwrap().len(), 1);
}
