//! Applies the commands of operators.

use crate::effects::Effect;
use crate::state::{FORGOTTEN, PAGES};
use crate::{Scheduler, send};
use frontier::PageSource;
use messages::topics::HOST_STOPS;
use messages::{Command, CommandKind, HostStop};
use page::{CanonicalUrl, Host};
use stream::{Context, ProcessError};

impl Scheduler {
    pub(crate) fn take_command(&mut self, command: &Command, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let effect = self.carry_out(command, context)?;
        self.effects.note(command, effect, context.now());
        Ok(())
    }

    fn carry_out(&mut self, command: &Command, context: &mut Context<'_>) -> Result<Effect, ProcessError> {
        let missing = |what: &str| ProcessError::SetAside(format!("a {:?} command has no {what}", command.kind));
        let url = command.url.as_ref().map(|url| self.frontier.canonical(url)).ok_or_else(|| missing("url"));
        let host = command.host.as_ref().ok_or_else(|| missing("host"));
        match command.kind {
            CommandKind::Seed | CommandKind::ListedSeed => self.seed(url?, command, context),
            CommandKind::Forget => Ok(match self.forget(url?, context)? {
                true => Effect::Pages(1),
                false => Effect::Unchanged,
            }),
            CommandKind::Refetch => {
                let id = url?.page_id();
                let Some(mut page) = self.find(id, context)? else {
                    return Ok(Effect::Refused("the page is not known: seed it"));
                };
                self.frontier.refetch(&mut page);
                context.put(PAGES, &id, &page);
                Ok(Effect::Pages(1))
            }
            CommandKind::PauseHost | CommandKind::ResumeHost => {
                let host = host?;
                let is_change = self.frontier.pause(host, command.kind == CommandKind::PauseHost);
                self.notify_fetchers(host, context);
                Ok(Effect::of_host(is_change))
            }
            CommandKind::BlockHost | CommandKind::UnblockHost => {
                let host = host?;
                let is_change = self.frontier.block(host, command.kind == CommandKind::BlockHost);
                self.notify_fetchers(host, context);
                Ok(Effect::of_host(is_change))
            }
            CommandKind::ForgetSite => self.forget_site(host?, command, context),
            CommandKind::ForgetDiscovered => {
                let of_host = || command.host.as_ref().map(|host| PageSource::Site(host.site_key()));
                let source = url.ok().map(|url| PageSource::Page(url.page_id())).or_else(of_host);
                let source = source.ok_or_else(|| missing("url or host"))?;
                self.forget_discovered(&source, command, context)
            }
            CommandKind::Unknown => {
                let problem =
                    "a command of a kind that only a newer scheduler knows; update this one and send the command again";
                Err(ProcessError::SetAside(problem.to_owned()))
            }
        }
    }

    fn seed(
        &mut self,
        url: CanonicalUrl,
        command: &Command,
        context: &mut Context<'_>,
    ) -> Result<Effect, ProcessError> {
        let id = url.page_id();
        if command.kind == CommandKind::ListedSeed && self.frontier.leaves_out_seed(id) {
            let why = "a forgotten page in a list of seeds is left out; recrawl seed URL brings it back";
            tracing::info!(%url, "{why}");
            return Ok(Effect::Refused(why));
        }
        if self.frontier.allow(id) {
            context.delete(FORGOTTEN, &id);
        }
        if let Some(mut page) = context.get(PAGES, &id)? {
            let Some(messages) = self.frontier.seed_again(&mut page, command.weight) else {
                return Ok(Effect::Unchanged);
            };
            context.put(PAGES, &id, &page);
            send(messages, context);
            return Ok(Effect::Pages(1));
        }
        let Some(page) = self.frontier.discover(url.clone(), command.weight, 0, context.now()) else {
            let remedy = self.frontier.refusal_of_seed(&url).remedy();
            tracing::warn!(%url, remedy, "a seed is not taken in");
            return Ok(Effect::Refused(remedy));
        };
        context.put(PAGES, &id, &page);
        Ok(Effect::Pages(1))
    }

    /// Sends the fetchers whether requests that are handed out already may be sent.
    fn notify_fetchers(&self, host: &Host, context: &mut Context<'_>) {
        let stopped = self.frontier.is_stopped(host);
        context.emit(HOST_STOPS, HostStop { host: host.clone(), stopped, taken_at: context.now() });
    }
}
