//! The destination of orders to a crawl.

use crate::client::ask;
use crate::{Access, Author, Order, OrderSender};
use daemon::http::{Task, of_task};
use daemon::{CommandFailure, Status, WebClock};
use settings::Settings;
use std::sync::Arc;
use stream::{Log, StageTopology};
use topology::LogNames;

/// The crawl that orders are for.
pub enum Crawl {
    /// One that is running.
    Running(Access),
    /// The log of one that is stopped, or is over Kafka.
    Log(OrderSender, Author),
}

impl Crawl {
    /// The crawl named by an address, by the data directory, or by the brokers in the settings. `client` is the name of the
    /// Kafka client.
    ///
    /// # Errors
    /// The settings name none, its log cannot be opened, or another crawl has its address.
    pub fn find(
        settings: &Settings,
        address: Option<&str>,
        topologies: &[StageTopology],
        client: &str,
    ) -> Result<Self, CommandFailure> {
        let running = match (address, settings.crawl.data.as_deref()) {
            (Some(address), _) => Some(Access::at(address, settings)?),
            (None, data) => data.map(Access::running).transpose()?.flatten(),
        };
        let log: Arc<dyn Log> = match (running, &settings.crawl.data, &settings.kafka.brokers) {
            (Some(access), _, _) => return Ok(Self::Running(access)),
            (None, None, Some(_)) => Arc::new(daemon::connect(settings, client)?),
            (None, Some(data), _) => {
                let log = stream_rocksdb::open_log(data)?;
                log.create_topics(&topology::topic_configs(settings, topologies, settings.log.partitions))?;
                Arc::new(log)
            }
            (None, None, None) => {
                return Err(CommandFailure::Input(
                    "no crawl given: give --data DIR, --url HOST:PORT, or --config with kafka.brokers".into(),
                ));
            }
        };
        let clock = Arc::new(WebClock::new(&settings.clock));
        let sender = OrderSender::new(log, &LogNames::new(settings), clock)?;
        Ok(Self::Log(sender, Author::of_process(settings)))
    }

    pub fn send(&self, order: &Order) -> Result<(), CommandFailure> {
        match self {
            Self::Running(access) => have_done(access, Task::Order(order.kind()), &order.text()),
            Self::Log(sender, author) => sender.send(order, author),
        }
    }
}

/// Has a running crawl carry out a task. `text` is the body, or the parameter of the path if the route has one.
fn have_done(access: &Access, task: Task, text: &str) -> Result<(), CommandFailure> {
    let missing = || CommandFailure::Input(format!("no route leads to {task:?}"));
    let route = of_task(task).ok_or_else(missing)?;
    let (path, body) = match route.parameter() {
        Some(_) => (route.path_with(Some(text)), ""),
        None => (route.path.to_owned(), text),
    };
    ask(access, route.method.name(), &path, body).map(drop)
}

/// The state of the process at an address.
pub fn status_at(access: &Access) -> Result<Status, CommandFailure> {
    serde_json::from_str(&ask(access, "GET", "/status", "")?)
        .map_err(|error| CommandFailure::World(format!("cannot read the status of {}: {error}", access.address)))
}

/// Has the crawl at an address make a backup in a directory of its machine.
pub fn back_up_at(access: &Access, directory: &str) -> Result<(), CommandFailure> {
    have_done(access, Task::BackUp, directory)
}

/// Fails if the process at an address says that it is not healthy.
pub fn check_health(access: &Access) -> Result<(), CommandFailure> {
    ask(access, "GET", "/healthz", "").map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpListener;

    /// Answers one request, and returns the address.
    fn answers_once(answer: &'static str) -> Access {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 1024];
            let count = stream.read(&mut request).unwrap();
            assert!(request[..count].starts_with(b"GET /healthz "));
            stream.write_all(answer.as_bytes()).unwrap();
        });
        Access { address, log: None, token: None, ca_file: None }
    }

    #[test]
    fn a_process_with_a_stage_that_hangs_is_distinguished_from_a_healthy_one() {
        check_health(&answers_once("HTTP/1.0 200 OK\r\n\r\nok\n")).unwrap();
        let hung = answers_once("HTTP/1.0 503 Service Unavailable\r\n\r\nstage detector hangs\n");
        let failure = check_health(&hung).unwrap_err();
        assert!(matches!(&failure, CommandFailure::World(why) if why.contains("stage detector hangs")), "{failure:?}");
    }
}
