//! How a stage takes questions: which it answers, and how many.

use crate::{Answer, Question};
use metrics::Figure;
use metrics::stage::{QUESTIONS_ANSWERED, QUESTIONS_EXPIRED};
use page::Timestamp;

/// Takes the questions of a task and counts them.
#[derive(Clone, Copy, Debug, Default)]
pub struct QuestionDesk {
    answered: u64,
    expired: u64,
}

impl QuestionDesk {
    /// The answer of this stage's partition to a question, still empty. `None` if its time is over: a stage that was down
    /// does not answer what was asked meanwhile.
    pub fn open(&mut self, question: &Question, stage: &str, partition: u32, now: Timestamp) -> Option<Answer> {
        if now > question.answer_until {
            self.expired += 1;
            return None;
        }
        self.answered += 1;
        Some(Answer {
            question_id: question.question_id.clone(),
            stage: stage.to_owned(),
            partition: i32::try_from(partition).unwrap_or(i32::MAX),
            answered_at: now,
            entries: Vec::new(),
            json: None,
        })
    }

    /// Why a question is set aside that is not for this stage.
    pub fn refusal(question: &Question) -> String {
        format!(
            "a question about {} that this stage does not answer; ask with a command of the same version",
            crate::word(&question.about)
        )
    }

    /// Figures of the stage.
    pub fn figures(&self) -> [Figure; 2] {
        [(QUESTIONS_ANSWERED, self.answered as f64), (QUESTIONS_EXPIRED, self.expired as f64)]
    }
}
