//! Answers the questions of operators. It changes nothing.

use crate::Detector;
use crate::history::PageHistory;
use crate::state::{BLIND, CONTENTS, PAGES};
use messages::topics::ANSWERS;
use messages::{CopyKind, Question, QuestionDesk, QuestionKind};
use stream::{Context, ProcessError, Processor};

impl Detector {
    pub(crate) fn answer(&mut self, question: &Question, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let task = context.task();
        let answer = self.questions.open(question, &task.stage, task.partition, context.now());
        let Some(mut answer) = answer else { return Ok(()) };
        match (question.about, &question.url) {
            (QuestionKind::Page, Some(url)) => {
                answer.add(PAGES.name(), context.get(PAGES, &url.page_id())?.as_ref());
            }
            (QuestionKind::Copy, Some(url)) => {
                answer.add(CONTENTS.name(), context.get(CONTENTS, &url.page_id())?.as_ref());
            }
            (QuestionKind::History, Some(url)) => {
                let history = PageHistory::of_context(&url.page_id(), context)?;
                match question.version {
                    None => answer.set_json(&history.versions()).map_err(ProcessError::SetAside)?,
                    Some(number) => {
                        let copy = history.copy(url, number.unsigned_abs()).map_err(ProcessError::SetAside)?;
                        answer.add(CONTENTS.name(), copy.as_ref());
                    }
                }
            }
            (QuestionKind::Watched, Some(url)) => {
                let id = url.page_id();
                answer.add(PAGES.name(), context.get(PAGES, &id)?.as_ref());
                answer.add(BLIND.name(), context.get(BLIND, &id)?.as_ref());
                // Rules are not tried on texts.
                let copy = context.get(CONTENTS, &id)?.filter(|copy| copy.kind == CopyKind::Body);
                answer.add(CONTENTS.name(), copy.as_ref());
            }
            (QuestionKind::Figures, _) => {
                answer.set_figures(&self.figures()).map_err(ProcessError::SetAside)?;
            }
            _ => return Err(ProcessError::SetAside(QuestionDesk::refusal(question))),
        }
        context.emit(ANSWERS, answer);
        Ok(())
    }
}
