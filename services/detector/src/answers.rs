//! Answers the questions of operators. It changes nothing.

use crate::Detector;
use crate::state::{CONTENTS, PAGES};
use messages::topics::ANSWERS;
use messages::{Question, QuestionKind};
use stream::{Context, ProcessError, Processor, QuestionDesk};

impl Detector {
    pub(crate) fn answer(&mut self, question: &Question, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let Some(mut answer) = self.questions.open(question, context) else { return Ok(()) };
        match (question.about, &question.url) {
            (QuestionKind::Page, Some(url)) => {
                answer.add(PAGES.name(), context.get(PAGES, &url.page_id())?.as_ref());
            }
            (QuestionKind::Copy, Some(url)) => {
                answer.add(CONTENTS.name(), context.get(CONTENTS, &url.page_id())?.as_ref());
            }
            (QuestionKind::Figures, _) => {
                answer.set_figures(&self.figures(context.now())).map_err(ProcessError::SetAside)?;
            }
            _ => return Err(QuestionDesk::refuse(question)),
        }
        context.emit(ANSWERS, answer);
        Ok(())
    }
}
