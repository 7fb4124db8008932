//! Answers to operators' questions, in the transaction of the batch.

use crate::process_error::ProcessError;
use crate::processor::Context;
use messages::{Answer, Question};

/// Takes the questions of a task and counts them.
#[derive(Clone, Copy, Debug, Default)]
pub struct QuestionDesk {
    answered: u64,
    expired: u64,
}

impl QuestionDesk {
    /// The answer to a question, still empty. `None` if nobody waits for it any more: a stage that was down does not answer
    /// what was asked meanwhile.
    pub fn open(&mut self, question: &Question, context: &Context<'_>) -> Option<Answer> {
        if context.now() > question.answer_until {
            self.expired += 1;
            return None;
        }
        self.answered += 1;
        let task = context.task();
        Some(Answer {
            question_id: question.question_id.clone(),
            stage: task.stage.clone(),
            partition: i32::try_from(task.partition).unwrap_or(i32::MAX),
            answered_at: context.now(),
            entries: Vec::new(),
            json: None,
        })
    }

    /// Why a question is set aside that is not for this stage.
    pub fn refuse(question: &Question) -> ProcessError {
        ProcessError::SetAside(format!(
            "a question about {} that this stage does not answer; ask with a command of the same version",
            messages::word(&question.about)
        ))
    }

    /// Metrics by name.
    pub fn figures(&self) -> [(&'static str, f64); 2] {
        [("questions_answered_total", self.answered as f64), ("questions_expired_total", self.expired as f64)]
    }
}
