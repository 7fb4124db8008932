//! What an operator says.

use crate::Scheduler;
use crate::dispatch::find;
use crate::state::PAGES;
use ::frontier::ScheduledPage;
use messages::{Command, CommandKind};
use stream::{Context, ProcessError};

impl Scheduler {
    /// An operator speaks.
    pub(crate) fn take_command(&mut self, command: &Command, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let missing = |what: &str| ProcessError::SetAside(format!("a {:?} command names no {what}", command.kind));
        let url = command.url.clone().map(|url| self.rules.urls.apply(url)).ok_or_else(|| missing("url"));
        match command.kind {
            CommandKind::Seed => {
                let url = url?;
                match find(context, url.page_id())? {
                    Some(page) if page.weight == command.weight && page.depth == 0 => {}
                    Some(page) => {
                        let mut page = ScheduledPage { weight: command.weight, depth: 0, ..page };
                        self.reweigh(url.page_id(), &mut page, context);
                        let slot = self.store(url.page_id(), &page, context);
                        self.plan_for(slot, &page, context.now());
                    }
                    None => self.discover(&url, command.weight, 0, context),
                }
            }
            CommandKind::Forget => {
                let id = url?.page_id();
                if let Some(mut page) = find(context, id)? {
                    self.dissolve_ties(id, &mut page, context);
                }
                context.delete(PAGES, &id);
                if let (Some(slot), Some(planner)) = (self.frontier.remove(id, &mut self.hosts), &mut self.planner) {
                    planner.remove(slot);
                }
            }
            CommandKind::Refetch => {
                let url = url?;
                match find(context, url.page_id())? {
                    Some(page) => {
                        let page = ScheduledPage { request: page.request.command(), ..page };
                        self.store(url.page_id(), &page, context);
                    }
                    None => self.counts.unknown_pages += 1,
                }
            }
            CommandKind::PauseHost | CommandKind::ResumeHost => {
                let host = command.host.as_ref().ok_or_else(|| missing("host"))?;
                let number = self.hosts.number(host);
                let gate = self.hosts.gate_mut(number);
                gate.paused = command.kind == CommandKind::PauseHost;
                gate.save(context);
            }
            CommandKind::Unknown => {
                let problem = "a command that only a newer scheduler knows; update this one and give it again";
                return Err(ProcessError::SetAside(problem.to_owned()));
            }
        }
        Ok(())
    }
}
