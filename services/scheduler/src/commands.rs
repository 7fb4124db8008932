//! Applies the commands of operators.

use crate::state::{FORGOTTEN, PAGES};
use crate::{Scheduler, send};
use messages::topics::HOST_STOPS;
use messages::{Command, CommandKind, HostStop};
use page::Host;
use stream::{Context, ProcessError};

impl Scheduler {
    pub(crate) fn take_command(&mut self, command: &Command, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let missing = |what: &str| ProcessError::SetAside(format!("a {:?} command has no {what}", command.kind));
        let url = command.url.as_ref().map(|url| self.frontier.canonical(url)).ok_or_else(|| missing("url"));
        match command.kind {
            CommandKind::Seed | CommandKind::ListedSeed => {
                let url = url?;
                let id = url.page_id();
                if command.kind == CommandKind::ListedSeed && self.frontier.leaves_out_seed(id) {
                    tracing::info!(%url, "a forgotten page in a list of seeds is left out; recrawl seed URL brings it back");
                    return Ok(());
                }
                if self.frontier.allow(id) {
                    context.delete(FORGOTTEN, &id);
                }
                match context.get(PAGES, &id)? {
                    Some(mut page) => {
                        if let Some(messages) = self.frontier.seed_again(&mut page, command.weight) {
                            context.put(PAGES, &id, &page);
                            send(messages, context);
                        }
                    }
                    None => match self.frontier.discover(url.clone(), command.weight, 0, context.now()) {
                        Some(page) => context.put(PAGES, &id, &page),
                        None => {
                            let remedy = self.frontier.refusal_of_seed(&url).remedy();
                            tracing::warn!(%url, remedy, "a seed is not taken in");
                        }
                    },
                }
            }
            CommandKind::Forget => self.forget(url?, context)?,
            CommandKind::Refetch => {
                let id = url?.page_id();
                if let Some(mut page) = self.find(id, context)? {
                    self.frontier.refetch(&mut page);
                    context.put(PAGES, &id, &page);
                }
            }
            CommandKind::PauseHost | CommandKind::ResumeHost => {
                let host = command.host.as_ref().ok_or_else(|| missing("host"))?;
                self.frontier.pause(host, command.kind == CommandKind::PauseHost);
                self.notify_fetchers(host, context);
            }
            CommandKind::BlockHost | CommandKind::UnblockHost => {
                let host = command.host.as_ref().ok_or_else(|| missing("host"))?;
                self.frontier.block(host, command.kind == CommandKind::BlockHost);
                self.notify_fetchers(host, context);
            }
            CommandKind::ForgetSite => {
                let host = command.host.as_ref().ok_or_else(|| missing("host"))?;
                self.forget_site(host, command, context)?;
            }
            CommandKind::Unknown => {
                let problem =
                    "a command of a kind that only a newer scheduler knows; update this one and send the command again";
                return Err(ProcessError::SetAside(problem.to_owned()));
            }
        }
        Ok(())
    }

    /// Sends the fetchers whether requests that are handed out already may be sent.
    fn notify_fetchers(&self, host: &Host, context: &mut Context<'_>) {
        let stopped = self.frontier.is_stopped(host);
        context.emit(HOST_STOPS, HostStop { host: host.clone(), stopped, taken_at: context.now() });
    }
}
