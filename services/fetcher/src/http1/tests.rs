use super::*;
use crate::fuzzing::{AnswerEnd, Pieces, parsed_bytes, read_http1};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

const MAX_HEAD: usize = 8 << 10;
const PATIENCE: Duration = Duration::from_secs(300);

fn pair() -> (Http1Connection, DuplexStream, Rc<Buffers>) {
    let (ours, theirs) = duplex(1 << 20);
    let buffers = Rc::new(Buffers::for_heads_of(MAX_HEAD));
    (Http1Connection::new(Box::new(ours), buffers.clone(), MAX_HEAD), theirs, buffers)
}

fn wait_for<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(work)
}

/// Sends a request and reads the response: status, body, and whether the connection is reusable.
async fn exchange(connection: &mut Http1Connection) -> Result<(u16, Vec<u8>, bool), Http1Error> {
    let until = Instant::now() + PATIENCE;
    connection.write(b"GET / HTTP/1.1\r\n\r\n", until).await?;
    let ReadHead { head, .. } = connection.head(false, until).await?;
    let mut body = Vec::new();
    let take = async |piece: &[u8]| {
        body.extend_from_slice(piece);
        More::Wanted
    };
    connection.body(&head, || until, take).await?;
    Ok((head.status.as_u16(), body, connection.is_in_order().await))
}

#[test]
fn answers_come_one_after_the_other_over_a_connection_that_holds_no_room_between_them() {
    let (mut connection, mut host, buffers) = pair();
    wait_for(async {
        let interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n";
        let plain = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello";
        for answer in [
            plain,
            &[interim, plain].concat(),
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n",
        ] {
            host.write_all(answer.as_bytes()).await.unwrap();
            assert_eq!(exchange(&mut connection).await.unwrap(), (200, b"hello".to_vec(), true), "{answer:?}");
            assert!(connection.input.bytes.is_none());
        }
        let mut asked = vec![0; 3 * 18];
        host.read_exact(&mut asked).await.unwrap();
        assert_eq!(asked, b"GET / HTTP/1.1\r\n\r\n".repeat(3));
    });
    assert_eq!(buffers.free(), 1, "one was enough for all of it");
}

#[test]
fn a_connection_that_reads_nothing_for_a_while_keeps_no_more_than_what_is_unread() {
    let (mut connection, mut host, buffers) = pair();
    wait_for(async {
        host.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhello").await.unwrap();
        let until = Instant::now() + PATIENCE;
        connection.write(b"GET / HTTP/1.1\r\n\r\n", until).await.unwrap();
        let ReadHead { head, .. } = connection.head(false, until).await.unwrap();
        for _ in 0..2 {
            connection.keep_only_unread();
            assert_eq!((connection.input.bytes.as_deref(), buffers.free()), (Some(&b"hello"[..]), 1));
        }
        host.write_all(b"world").await.unwrap();
        let mut body = Vec::new();
        let take = async |piece: &[u8]| {
            body.extend_from_slice(piece);
            More::Wanted
        };
        assert!(connection.body(&head, || until, take).await.unwrap());
        assert_eq!(body, b"helloworld");
        // What comes later is read behind it.
        host.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nhel").await.unwrap();
        connection.write(b"GET / HTTP/1.1\r\n\r\n", until).await.unwrap();
        connection.head(false, until).await.unwrap();
        connection.keep_only_unread();
        host.write_all(b"lo!").await.unwrap();
        connection.fill(until).await.unwrap();
        assert_eq!(connection.input.rest(), b"hello!");
        connection.input.consume(6);
    });
    assert_eq!(buffers.free(), 1, "the buffer went back to the pool, and the short ones did not");
}

#[test]
fn a_connection_is_used_no_more_when_it_says_so_or_anything_follows_the_answer() {
    for answer in [
        "HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello, world",
        "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhelloHTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nbad",
        "HTTP/1.0 200 OK\r\ncontent-length: 5\r\n\r\nhello",
    ] {
        let (mut connection, mut host, _) = pair();
        wait_for(async {
            host.write_all(answer.as_bytes()).await.unwrap();
            assert_eq!(exchange(&mut connection).await.unwrap(), (200, b"hello".to_vec(), false), "{answer:?}");
        });
    }
    let (mut connection, mut host, _) = pair();
    wait_for(async {
        host.write_all(b"HTTP/1.1 204 None\r\n\r\n").await.unwrap();
        assert_eq!(exchange(&mut connection).await.unwrap(), (204, Vec::new(), true));
        host.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nbad").await.unwrap();
        assert!(!connection.is_in_order().await, "an answer that nobody asked for");
    });
    let (mut connection, host, _) = pair();
    drop(host);
    assert!(!wait_for(connection.is_in_order()), "closed");
}

#[test]
fn an_answer_that_breaks_off_is_whole_only_if_the_end_of_the_connection_is_its_end() {
    let check = |answer: &[u8], is_whole: bool| {
        let (mut connection, mut host, _) = pair();
        wait_for(async {
            host.write_all(answer).await.unwrap();
            host.shutdown().await.unwrap();
            let read = exchange(&mut connection).await;
            assert_eq!(connection.received_bytes() > 0, !answer.is_empty());
            match read {
                Ok((200, body, false)) => assert!(is_whole && body == b"hello", "{answer:?}"),
                other => assert!(!is_whole && matches!(other, Err(Http1Error::Closed)), "{answer:?}: {other:?}"),
            }
        });
    };
    check(b"HTTP/1.1 200 OK\r\n\r\nhello", true);
    check(b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nhello", false);
    check(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n", false);
    check(b"HTTP/1.1 200 OK\r\ncontent-le", false);
    check(b"", false);
}

/// Ends as TLS does without close_notify.
struct WithoutGoodbye(DuplexStream);

impl AsyncRead for WithoutGoodbye {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, room: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = room.filled().len();
        ready!(Pin::new(&mut self.0).poll_read(cx, room))?;
        let is_end = room.filled().len() == before;
        Poll::Ready(if is_end { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) })
    }
}

impl AsyncWrite for WithoutGoodbye {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}

#[test]
fn a_body_until_the_end_of_a_connection_that_ends_without_notice_is_kept_and_not_whole() {
    let (ours, mut host) = duplex(1 << 20);
    let buffers = Rc::new(Buffers::for_heads_of(MAX_HEAD));
    let mut connection = Http1Connection::new(Box::new(WithoutGoodbye(ours)), buffers, MAX_HEAD);
    wait_for(async {
        host.write_all(b"HTTP/1.1 200 OK\r\n\r\nhello").await.unwrap();
        host.shutdown().await.unwrap();
        let until = Instant::now() + PATIENCE;
        connection.write(b"GET / HTTP/1.1\r\n\r\n", until).await.unwrap();
        let ReadHead { head, .. } = connection.head(false, until).await.unwrap();
        let mut body = Vec::new();
        let take = async |piece: &[u8]| {
            body.extend_from_slice(piece);
            More::Wanted
        };
        assert!(!connection.body(&head, || until, take).await.unwrap());
        assert_eq!(body, b"hello");
    });
}

#[test]
fn interim_responses_end() {
    let interim = "HTTP/1.1 103 Early Hints\r\n\r\n";
    for (count, is_read) in [(MAX_INTERIM, true), (MAX_INTERIM + 1, false)] {
        let (mut connection, mut host, _) = pair();
        wait_for(async {
            let answer = format!("{}HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello", interim.repeat(count));
            host.write_all(answer.as_bytes()).await.unwrap();
            assert_eq!(exchange(&mut connection).await.is_ok(), is_read, "{count}");
            assert_eq!(connection.received_bytes(), answer.len() as u64);
        });
    }
}

#[test]
fn the_work_for_a_head_that_comes_byte_by_byte_is_linear() {
    let answer = format!("HTTP/1.1 200 OK\r\n{}content-length: 5\r\n\r\nhello", "a: bbbbbbbb\r\n".repeat(300));
    let (mut connection, mut host, _) = pair();
    wait_for(async {
        let sent = async {
            for byte in answer.as_bytes() {
                host.write_all(&[*byte]).await.unwrap();
                tokio::task::yield_now().await;
            }
        };
        let (read, ()) = tokio::join!(exchange(&mut connection), sent);
        assert_eq!(read.unwrap(), (200, b"hello".to_vec(), true));
    });
    let parsed = PARSED_BYTES.get();
    assert!(parsed <= 3 * answer.len(), "{parsed} bytes parsed for {}", answer.len());
}

/// The end of an answer that comes in pieces of this size.
fn end_of(answer: &[u8], size: usize, is_closed: bool) -> AnswerEnd {
    read_http1(Pieces::new(answer.chunks(size), is_closed), MAX_HEAD).end
}

#[test]
fn the_work_for_empty_lines_that_come_byte_by_byte_is_linear() {
    for lines in ["\n", "\r\n"] {
        let answer = lines.repeat(MAX_HEAD / lines.len());
        parsed_bytes();
        assert_eq!(end_of(answer.as_bytes(), 1, true), AnswerEnd::Malformed);
        let parsed = parsed_bytes();
        assert!(parsed <= 3 * answer.len(), "{parsed} bytes parsed for {}", answer.len());
    }
    let answer = [&b"\n\r\n\n"[..], b"HTTP/1.1 204 None\n\n"].concat();
    for size in [1, 2, 3, 100] {
        assert_eq!(end_of(&answer, size, true), AnswerEnd::Whole, "{size}");
    }
}

#[test]
fn half_a_head_is_malformed_however_small_its_pieces_are() {
    for is_closed in [true, false] {
        for size in [1, 2, 3, 100] {
            assert_eq!(end_of(b"HTTP/1.1 200 OK\r\n\rx", size, is_closed), AnswerEnd::Malformed, "{size}");
            let expected = if is_closed { AnswerEnd::Closed } else { AnswerEnd::Silent };
            assert_eq!(end_of(b"HTTP/1.1 200 OK\r\na: b\r\n", size, is_closed), expected, "{size}");
        }
    }
}

#[test]
fn an_interim_head_is_no_longer_than_others() {
    let answer = |length: usize| {
        let line = "a".repeat(length - "HTTP/1.1 100 \r\n\r\n".len());
        format!("HTTP/1.1 100 {line}\r\n\r\nHTTP/1.1 204 None\r\n\r\n").into_bytes()
    };
    for size in [1, 1_000, 2 * MAX_HEAD] {
        assert_eq!(end_of(&answer(MAX_HEAD), size, true), AnswerEnd::Whole, "{size}");
        assert_eq!(end_of(&answer(MAX_HEAD + 1), size, true), AnswerEnd::Malformed, "{size}");
    }
}

#[test]
fn odd_lines_before_and_behind_the_answer_end_the_connection() {
    let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    let check = |answer: String, is_reusable: bool| {
        let reading = read_http1(Pieces::new([answer.as_bytes()], false), MAX_HEAD);
        assert_eq!((reading.end, reading.is_reusable), (AnswerEnd::Whole, is_reusable), "{answer:?}");
    };
    check(format!("HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n{head}0\r\na: b\r\n\r\n"), true);
    check(format!("HTTP/1.1 103 Early Hints\r\nno header\r\n\r\n{head}0\r\n\r\n"), false);
    check(format!("HTTP/1.1 103 Early Hints\r\na: b\r\n c\r\n\r\n{head}0\r\n\r\n"), false);
    check(format!("{head}0\r\nno header\r\n\r\n"), false);
}

#[test]
fn a_head_without_end_is_refused_and_one_that_does_not_come_is_late() {
    let (mut connection, mut host, _) = pair();
    wait_for(async {
        host.write_all(&[b"HTTP/1.1 200 OK\r\n".to_vec(), b"a: b\r\n".repeat(2_000)].concat()).await.unwrap();
        assert!(matches!(exchange(&mut connection).await, Err(Http1Error::Malformed(_))));
    });
    let (mut connection, _host, _) = pair();
    wait_for(async {
        assert!(matches!(connection.head(false, Instant::now()).await, Err(Http1Error::Late)));
        // The alarm is not set yet. It is set for the later of two deadlines once the earlier has passed.
        let soon = Duration::from_millis(5);
        assert!(matches!(connection.head(false, Instant::now() + soon).await, Err(Http1Error::Late)));
        assert!(matches!(connection.head(false, Instant::now() + 2 * soon).await, Err(Http1Error::Late)));
    });
}
