//! How far the end of the app is, and what the system hears that waits for it.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// What the system is told that wants to end the app.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// To end it.
    Now,
    /// To wait for an answer.
    Later,
    /// Not to end it for this request; an earlier one is waiting.
    Never,
}

/// How far the end of the app is.
#[derive(Debug, Default)]
pub(crate) struct Quitting(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    stage: Stage,
    /// Whether the system waits for an answer.
    system_waits: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Stage {
    #[default]
    Running,
    /// The person is being asked.
    Asking,
    /// What was typed last is being handed over.
    Ending,
    /// All that is left is to close.
    Ended,
}

impl Quitting {
    /// Whether the person is being asked whether the app is to end.
    #[cfg_attr(
        not(any(target_os = "macos", test)),
        expect(dead_code, reason = "only macOS leaves full screen")
    )]
    pub(crate) fn is_asking(&self) -> bool {
        self.state().stage == Stage::Asking
    }

    /// Whether the question is to be shown: it is not yet there, and nothing has been decided.
    pub(crate) fn begin_asking(&self) -> bool {
        let mut state = self.state();
        let begins = state.stage == Stage::Running;
        if begins {
            state.stage = Stage::Asking;
        }
        begins
    }

    /// Whether the end is to begin, which it does once.
    pub(crate) fn begin_ending(&self) -> bool {
        let mut state = self.state();
        let begins = matches!(state.stage, Stage::Running | Stage::Asking);
        if begins {
            state.stage = Stage::Ending;
        }
        begins
    }

    /// The person wants to go on, which comes too late where the end has begun. Returns whether the system waits to
    /// hear it.
    pub(crate) fn go_on(&self) -> bool {
        let mut state = self.state();
        if state.stage != Stage::Asking {
            return false;
        }
        state.stage = Stage::Running;
        std::mem::take(&mut state.system_waits)
    }

    /// Nothing is left but to close. Returns whether the system waits to hear it.
    pub(crate) fn end(&self) -> bool {
        let mut state = self.state();
        state.stage = Stage::Ended;
        state.system_waits
    }

    /// What to answer the system that wants to end the app.
    #[cfg_attr(not(any(target_os = "macos", test)), expect(dead_code, reason = "only macOS asks"))]
    pub(crate) fn asked_by_system(&self) -> Answer {
        let mut state = self.state();
        if state.stage == Stage::Ended {
            Answer::Now
        } else if std::mem::replace(&mut state.system_waits, true) {
            Answer::Never
        } else {
            Answer::Later
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_waits_for_the_person_and_hears_once() {
        let quitting = Quitting::default();
        assert_eq!(quitting.asked_by_system(), Answer::Later);
        assert!(quitting.begin_asking());
        // Two requests cannot wait for one answer.
        assert_eq!(quitting.asked_by_system(), Answer::Never);
        assert!(!quitting.begin_asking(), "the question is there already");
        assert!(quitting.go_on());
        assert!(!quitting.go_on());

        assert_eq!(quitting.asked_by_system(), Answer::Later);
        assert!(quitting.begin_asking());
        assert!(quitting.begin_ending());
        assert!(quitting.end());
        assert_eq!(quitting.asked_by_system(), Answer::Now);
    }

    #[test]
    fn a_question_that_is_there_answers_the_system_too() {
        let quitting = Quitting::default();
        assert!(quitting.begin_asking());
        assert!(quitting.is_asking());
        assert_eq!(quitting.asked_by_system(), Answer::Later);
        assert!(quitting.go_on(), "a log-out is told that the person goes on");
        assert!(!quitting.is_asking());
    }

    #[test]
    fn the_system_waits_until_what_was_typed_last_is_there() {
        let quitting = Quitting::default();
        assert!(quitting.begin_ending());
        assert!(!quitting.begin_ending(), "it ends once");
        assert_eq!(quitting.asked_by_system(), Answer::Later);
        assert!(!quitting.begin_asking(), "nobody is asked any more");
        assert!(!quitting.go_on(), "an answer that comes too late changes nothing");
        assert!(quitting.end());
    }

    #[test]
    fn without_a_system_that_waits_the_app_ends_by_itself() {
        let quitting = Quitting::default();
        assert!(quitting.begin_asking());
        // The reply has ended meanwhile, and somebody has asked for the end again.
        assert!(quitting.begin_ending());
        assert!(!quitting.end());
    }
}
