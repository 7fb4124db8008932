//! Conversion of records from and to the types of Kafka's client.

use page::Timestamp;
use rdkafka::Message;
use rdkafka::message::{BorrowedHeaders, BorrowedMessage, Header, Headers, OwnedHeaders};
use rdkafka::producer::BaseRecord;
use stream::{InputRecord, OutputRecord, TRACEPARENT, TraceContext};

pub(crate) fn to_record(message: &BorrowedMessage<'_>) -> InputRecord {
    InputRecord {
        partition: message.partition() as u32,
        offset: message.offset() as u64,
        timestamp: Timestamp::from_millis(message.timestamp().to_millis().unwrap_or(0)),
        key: message.key().unwrap_or_default().to_vec(),
        value: message.payload().map(|value| value.to_vec().into()),
        trace: message.headers().and_then(trace_of),
    }
}

/// The trace that a record belongs to. A second header would say something else, so neither counts.
fn trace_of(headers: &BorrowedHeaders) -> Option<Box<TraceContext>> {
    let mut found = headers.iter().filter(|header| header.key == TRACEPARENT);
    let context = TraceContext::parse(found.next()?.value?)?;
    found.next().is_none().then(|| Box::new(context))
}

/// The message of a record. Its delivery report names `opaque`.
pub(crate) fn to_message(record: &OutputRecord, opaque: usize) -> BaseRecord<'_, [u8], [u8], usize> {
    let mut message = BaseRecord::with_opaque_to(&record.to.topic, opaque)
        .partition(record.to.partition as i32)
        // librdkafka takes zero for "now".
        .timestamp(record.timestamp.as_millis().max(1))
        .key(record.key.as_slice());
    if let Some(value) = &record.value {
        message = message.payload(&value[..]);
    }
    if let Some(trace) = &record.trace {
        let header = Header { key: TRACEPARENT, value: Some(&trace.to_string()) };
        message = message.headers(OwnedHeaders::new_with_capacity(1).insert(header));
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_with_two_traces_or_a_wrong_one_belongs_to_none() {
        const ONE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let read = |headers: &[(&str, Option<&str>)]| {
            let headers = headers.iter().fold(OwnedHeaders::new(), |all, (key, value)| {
                let value = value.map(str::to_owned);
                all.insert(Header { key, value: value.as_ref() })
            });
            trace_of(headers.as_borrowed()).map(|trace| trace.to_string())
        };
        assert_eq!(read(&[("other", Some("x")), (TRACEPARENT, Some(ONE))]).as_deref(), Some(ONE));
        assert_eq!(read(&[(TRACEPARENT, Some(ONE)), (TRACEPARENT, Some(ONE))]), None);
        assert_eq!(read(&[(TRACEPARENT, Some("00-1"))]), None);
        assert_eq!(read(&[(TRACEPARENT, None)]), None);
        assert_eq!(read(&[("Traceparent", Some(ONE))]), None, "names of Kafka's headers have a case");
    }
}
