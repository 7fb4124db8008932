//! How a stage takes questions: which it answers, and how many.

use crate::{Answer, Question};
use metrics::Figure;
use metrics::stage::{QUESTIONS_ANSWERED, QUESTIONS_EXPIRED};
use page::Timestamp;

/// Maximum number of late questions answered at once.
const LATE_ANSWERS: f64 = 60.0;
/// Rate at which that allowance is restored.
const LATE_ANSWERS_PER_SECOND: f64 = 1.0;

/// Takes the questions of a task and counts them.
#[derive(Clone, Copy, Debug, Default)]
pub struct QuestionDesk {
    answered: u64,
    expired: u64,
    late: LateAnswers,
}

/// Allowance for late questions, in the crawl's time. A question may seem late only because the clock of the command is behind
/// this one, or is not that of the replay.
#[derive(Clone, Copy, Debug, Default)]
struct LateAnswers {
    used: f64,
    used_at: Option<Timestamp>,
}

impl LateAnswers {
    fn allow_one(&mut self, now: Timestamp) -> bool {
        let seconds = self.used_at.map_or(0.0, |at| now.saturating_since(at).as_secs_f64());
        self.used = (self.used - LATE_ANSWERS_PER_SECOND * seconds).max(0.0);
        self.used_at = Some(now);
        let is_allowed = self.used + 1.0 <= LATE_ANSWERS;
        self.used += f64::from(u8::from(is_allowed));
        is_allowed
    }
}

impl QuestionDesk {
    /// The answer of this stage's partition to a question, still empty. `None` if its time is over, unless few are: a stage that
    /// was down does not answer all that was asked meanwhile.
    pub fn open(&mut self, question: &Question, stage: &str, partition: u32, now: Timestamp) -> Option<Answer> {
        if now > question.answer_until && !self.late.allow_one(now) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn of_questions_whose_time_seems_over_some_are_answered() {
        let mut late = LateAnswers::default();
        let at = |seconds| Timestamp::from_secs(1_000) + Duration::from_secs(seconds);
        let answered = (0..500).filter(|_| late.allow_one(at(0))).count();
        assert_eq!(answered, 60);
        assert_eq!((0..500).filter(|_| late.allow_one(at(10))).count(), 10);
        // A monitor that asks each ten seconds by a clock that is behind is answered for ever.
        assert!((0..500).all(|question| late.allow_one(at(20 + question * 10))));
    }
}
