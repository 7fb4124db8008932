//! Creates topics through librdkafka's own interface: its Rust binding drops the broker's words about a refusal.
//!
//! All `unsafe` code of this crate is here.

use rdkafka::bindings::{
    rd_kafka_AdminOptions_destroy, rd_kafka_AdminOptions_new, rd_kafka_AdminOptions_set_operation_timeout,
    rd_kafka_AdminOptions_set_request_timeout, rd_kafka_CreateTopics, rd_kafka_CreateTopics_result_topics,
    rd_kafka_NewTopic_destroy, rd_kafka_NewTopic_new, rd_kafka_NewTopic_set_config, rd_kafka_admin_op_t,
    rd_kafka_event_CreateTopics_result, rd_kafka_event_destroy, rd_kafka_event_error, rd_kafka_event_error_string,
    rd_kafka_queue_destroy, rd_kafka_queue_new, rd_kafka_queue_poll, rd_kafka_resp_err_t, rd_kafka_topic_result_error,
    rd_kafka_topic_result_error_string, rd_kafka_topic_result_name,
};
use rdkafka::client::Client;
use rdkafka::error::RDKafkaErrorCode;
use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char, c_int};
use std::ptr::{self, NonNull};
use std::time::Duration;

/// A topic to create.
pub(crate) struct NewTopic {
    pub(crate) name: String,
    pub(crate) partitions: u32,
    pub(crate) replication_factor: u16,
    pub(crate) settings: Vec<(&'static str, String)>,
}

/// Why a topic was not created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) code: RDKafkaErrorCode,
    /// The broker's explanation, or librdkafka's text for the code if the broker gave none.
    pub(crate) words: String,
}

impl Refusal {
    fn new(code: rd_kafka_resp_err_t, words: String) -> Self {
        Self { code: code.into(), words }
    }

    fn of_argument(words: String) -> Self {
        Self { code: RDKafkaErrorCode::InvalidArgument, words }
    }
}

/// Creates topics, and returns the refusals by topic name. Fails if the request as a whole got no answer.
pub(crate) fn create_topics(
    client: &Client<impl rdkafka::ClientContext>,
    topics: &[NewTopic],
    timeout: Duration,
) -> Result<HashMap<String, Refusal>, Refusal> {
    let handle = client.native_ptr();
    let timeout_ms = c_int::try_from(timeout.as_millis()).unwrap_or(c_int::MAX);
    let topics: Vec<_> = topics.iter().map(native_topic).collect::<Result<_, _>>()?;
    let mut pointers: Vec<_> = topics.iter().map(|topic| topic.pointer.as_ptr()).collect();
    // SAFETY: `client` keeps the handle valid. All objects are owned here and destroyed after their last use, in reverse order.
    // A result points into its event, which outlives it. Error codes are taken to be among those of the linked librdkafka, as
    // rdkafka does everywhere.
    unsafe {
        let options = rd_kafka_AdminOptions_new(handle, rd_kafka_admin_op_t::RD_KAFKA_ADMIN_OP_CREATETOPICS);
        let options = Owned::new(options, rd_kafka_AdminOptions_destroy)?;
        let (mut words, room) = message_room();
        for set in [rd_kafka_AdminOptions_set_request_timeout, rd_kafka_AdminOptions_set_operation_timeout] {
            let code = set(options.pointer.as_ptr(), timeout_ms, words.as_mut_ptr(), room);
            checked(code, || text(words.as_ptr()))?;
        }
        let queue = Owned::new(rd_kafka_queue_new(handle), rd_kafka_queue_destroy)?;
        let (first, count) = (pointers.as_mut_ptr(), pointers.len());
        rd_kafka_CreateTopics(handle, first, count, options.pointer.as_ptr(), queue.pointer.as_ptr());
        // The request has its own end; the queue is waited for a little longer.
        let event = rd_kafka_queue_poll(queue.pointer.as_ptr(), timeout_ms.saturating_add(5_000));
        let event = Owned::new(event, rd_kafka_event_destroy)?;
        let event = event.pointer.as_ptr();
        checked(rd_kafka_event_error(event), || text(rd_kafka_event_error_string(event)))?;
        let result = rd_kafka_event_CreateTopics_result(event);
        let mut count = 0;
        let results = if result.is_null() {
            ptr::null_mut()
        } else {
            rd_kafka_CreateTopics_result_topics(result, &raw mut count)
        };
        let mut refused = HashMap::new();
        for at in 0..count {
            let topic = *results.add(at);
            // Topics that a broker leaves out of its answer have no result. Whether they are there is asked for afterwards.
            if topic.is_null() {
                continue;
            }
            let code = rd_kafka_topic_result_error(topic);
            if let Err(refusal) = checked(code, || text(rd_kafka_topic_result_error_string(topic))) {
                refused.insert(text(rd_kafka_topic_result_name(topic)), refusal);
            }
        }
        Ok(refused)
    }
}

fn native_topic(topic: &NewTopic) -> Result<Owned<rdkafka::bindings::rd_kafka_NewTopic_t>, Refusal> {
    let c_text = |text: &str| CString::new(text).map_err(|_| Refusal::of_argument(format!("{text:?} has a zero byte")));
    let (partitions, copies) = (c_int::try_from(topic.partitions), c_int::from(topic.replication_factor));
    let partitions = partitions.map_err(|_| Refusal::of_argument("too many partitions".to_owned()))?;
    let name = c_text(&topic.name)?;
    let (mut words, room) = message_room();
    // SAFETY: librdkafka copies all texts, and `words` has `room` bytes.
    unsafe {
        let made = rd_kafka_NewTopic_new(name.as_ptr(), partitions, copies, words.as_mut_ptr(), room);
        let made = NonNull::new(made).ok_or_else(|| Refusal::of_argument(text(words.as_ptr())))?;
        let made = Owned { pointer: made, destroy: rd_kafka_NewTopic_destroy };
        for (name, value) in &topic.settings {
            let (name, value) = (c_text(name)?, c_text(value)?);
            let code = rd_kafka_NewTopic_set_config(made.pointer.as_ptr(), name.as_ptr(), value.as_ptr());
            checked(code, String::new)?;
        }
        Ok(made)
    }
}

/// An object of librdkafka with its destructor.
struct Owned<T> {
    pointer: NonNull<T>,
    destroy: unsafe extern "C" fn(*mut T),
}

impl<T> Owned<T> {
    /// A null pointer is a failure without words, almost always of a request without an answer.
    fn new(pointer: *mut T, destroy: unsafe extern "C" fn(*mut T)) -> Result<Self, Refusal> {
        let late = || Refusal { code: RDKafkaErrorCode::OperationTimedOut, words: "no answer in time".to_owned() };
        NonNull::new(pointer).map(|pointer| Self { pointer, destroy }).ok_or_else(late)
    }
}

impl<T> Drop for Owned<T> {
    fn drop(&mut self) {
        // SAFETY: it was made by the constructor of this destructor, is destroyed once, and nothing points to it any more.
        unsafe { (self.destroy)(self.pointer.as_ptr()) }
    }
}

/// Room for a message of librdkafka.
fn message_room() -> ([c_char; 512], usize) {
    ([0; 512], 512)
}

fn checked(code: rd_kafka_resp_err_t, words: impl FnOnce() -> String) -> Result<(), Refusal> {
    match code {
        rd_kafka_resp_err_t::RD_KAFKA_RESP_ERR_NO_ERROR => Ok(()),
        code => Err(Refusal::new(code, words())),
    }
}

/// The text at a pointer that is zero or leads to a terminated string.
///
/// # Safety
/// It has to be one of the two.
unsafe fn text(pointer: *const c_char) -> String {
    if pointer.is_null() {
        return String::new();
    }
    // SAFETY: the caller vouches for it.
    unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
}
