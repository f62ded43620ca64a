//! What servers ask the person in the middle of a call. The page shows it until it is answered, or the call that asked
//! is over.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use foretoken_protocol::{ErrorReport, ServerAnswer, ServerQuestion, ServerWants};
use foretoken_tools::form;
use foretoken_tools::{Answer, Asked, Question, visible};
use reqwest::Url;
use serde_json::{Map, Value};
use tokio::sync::oneshot;

/// Questions that stand open.
#[derive(Default)]
pub(super) struct Questions(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    next: u32,
    open: BTreeMap<u32, (ServerQuestion, oneshot::Sender<Answer>)>,
}

/// A question that stands open, until it is answered.
pub(super) struct Standing {
    id: u32,
    /// What the person answers.
    answered: oneshot::Receiver<Answer>,
    /// Where it goes; closed where nobody waits for it any more.
    server: oneshot::Sender<Answer>,
}

impl Questions {
    /// Takes down what a server asks; `None` where it cannot be asked here, which is declined.
    pub(super) fn stand(&self, server: String, asked: Asked) -> Option<Standing> {
        let (message, wants) = match asked.question {
            Question::Form { message, schema } => {
                (message, ServerWants::Form { fields: form::fields(&schema)? })
            }
            Question::Visit { message, address } => {
                let is_page = Url::parse(&address).is_ok_and(|url| {
                    matches!(url.scheme(), "http" | "https")
                        && url.username().is_empty()
                        && url.password().is_none()
                });
                (message, ServerWants::Visit { address: is_page.then_some(address)? })
            }
        };
        let mut inner = self.lock();
        let id = inner.next;
        inner.next += 1;
        let (answer, answered) = oneshot::channel();
        let question = ServerQuestion { id, server, message: visible(&message).0, wants };
        inner.open.insert(id, (question, answer));
        Some(Standing { id, answered, server: asked.answer })
    }

    /// Waits until a question is answered, and passes that on, or nobody wants to know any more.
    pub(super) async fn settle(&self, standing: Standing) {
        let Standing { id, answered, mut server } = standing;
        tokio::select! {
            answer = answered => drop(server.send(answer.unwrap_or(Answer::Decline))),
            () = server.closed() => {}
        }
        self.lock().open.remove(&id);
    }

    /// Those that stand open, oldest first.
    pub(super) fn all(&self) -> Vec<ServerQuestion> {
        self.lock().open.values().map(|(question, _)| question.clone()).collect()
    }

    /// Answers a question. Returns the address that the person has agreed to open.
    pub(super) fn answer(&self, id: u32, answer: ServerAnswer) -> Result<Option<String>, ErrorReport> {
        let mut inner = self.lock();
        let (question, _) = inner.open.get(&id).ok_or_else(gone)?;
        let (answer, address) = match (answer, &question.wants) {
            (ServerAnswer::Decline, _) => (Answer::Decline, None),
            (ServerAnswer::Accept { .. }, ServerWants::Visit { address }) => {
                (Answer::Accept(None), Some(address.clone()))
            }
            (ServerAnswer::Accept { values }, ServerWants::Form { fields }) => {
                let values: Map<String, Value> = serde_json::from_str(&values.unwrap_or_default())
                    .map_err(|error| misfilled(&error.to_string()))?;
                let values = form::filled(fields, values).map_err(|error| misfilled(&error.to_string()))?;
                (Answer::Accept(Some(values)), None)
            }
        };
        let (_, asker) = inner.open.remove(&id).ok_or_else(gone)?;
        asker.send(answer).map_err(|_| gone())?;
        Ok(address)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn gone() -> ErrorReport {
    ErrorReport {
        code: "server_question_gone".into(),
        message: "The server no longer waits for this answer.".into(),
        hint: "Its call is over. Ask the model again if you want to.".into(),
    }
}

fn misfilled(problem: &str) -> ErrorReport {
    ErrorReport {
        code: "server_form_misfilled".into(),
        message: problem.to_owned(),
        hint: "Change what stands there, or decline.".into(),
    }
}
