//! What a server may ask of the app: how far it is, that its tools have changed, and questions to the person. All else
//! is refused by the SDK: no sampling, no roots.

use rmcp::handler::client::progress::ProgressDispatcher;
use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationCapability, FormElicitationCapability, Implementation, ProgressNotificationParam,
    UrlElicitationCapability,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ClientHandler, ErrorData, RoleClient};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot, watch};

/// A question that a server has to the person in the middle of a call.
#[derive(Debug)]
pub struct Asked {
    /// What it asks.
    pub question: Question,
    /// Where the answer goes. Dropped, the question is declined.
    pub answer: oneshot::Sender<Answer>,
}

/// What a server asks.
#[derive(Debug, Clone, PartialEq)]
pub enum Question {
    /// To fill in a form.
    Form {
        /// In the server's words.
        message: String,
        /// The fields, as a JSON Schema of an object whose properties are no objects.
        schema: Value,
    },
    /// To open an address, where it asks the person itself.
    Visit {
        /// In the server's words.
        message: String,
        /// As it came; it is shown before it is opened.
        address: String,
    },
}

/// What the person answers.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// With what was filled in; `None` for an address that was opened.
    Accept(Option<Value>),
    /// The call goes on without.
    Decline,
    /// The call is not wanted any more.
    Cancel,
}

/// The client's side of a connection.
#[derive(Debug)]
pub(super) struct Handler {
    pub(super) progress: ProgressDispatcher,
    tools_changed: watch::Sender<u64>,
    questions: mpsc::Sender<Asked>,
    open: watch::Sender<usize>,
    calls: watch::Sender<usize>,
}

impl Handler {
    pub(super) fn new(questions: mpsc::Sender<Asked>) -> Self {
        Self {
            progress: ProgressDispatcher::new(),
            tools_changed: watch::Sender::new(0),
            questions,
            open: watch::Sender::new(0),
            calls: watch::Sender::new(0),
        }
    }

    pub(super) fn tools_changed(&self) -> watch::Receiver<u64> {
        self.tools_changed.subscribe()
    }

    /// How many questions are with the person.
    pub(super) fn open_questions(&self) -> watch::Receiver<usize> {
        self.open.subscribe()
    }

    /// A call runs until what is returned is dropped. A server may only ask meanwhile.
    pub(super) fn calling(&self) -> impl Drop {
        Counted::new(&self.calls)
    }

    /// Asks the person what a server wants to know by itself, for as long as a call of it runs; one thing at a time.
    async fn ask_in_call(&self, asked: ElicitRequestParams) -> ElicitResult {
        let declined = || ElicitResult::new(ElicitationAction::Decline);
        let mut calls = self.calls.subscribe();
        if *calls.borrow() == 0 || *self.open.borrow() > 0 {
            return declined();
        }
        tokio::select! {
            answer = self.ask(asked) => answer,
            _ = calls.wait_for(|calls| *calls == 0) => declined(),
        }
    }

    /// Asks the person; where nobody is there to ask, the question is declined.
    pub(super) async fn ask(&self, asked: ElicitRequestParams) -> ElicitResult {
        let declined = || ElicitResult::new(ElicitationAction::Decline);
        let question = match asked {
            ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } => {
                let Ok(schema) = serde_json::to_value(requested_schema) else { return declined() };
                Question::Form { message, schema }
            }
            ElicitRequestParams::UrlElicitationParams { message, url, .. } => {
                Question::Visit { message, address: url }
            }
            _ => return declined(),
        };
        let (answer, answered) = oneshot::channel();
        let _asking = Counted::new(&self.open);
        if self.questions.send(Asked { question, answer }).await.is_err() {
            return declined();
        }
        match answered.await {
            Ok(Answer::Accept(Some(content))) => {
                ElicitResult::new(ElicitationAction::Accept).with_content(content)
            }
            Ok(Answer::Accept(None)) => ElicitResult::new(ElicitationAction::Accept),
            Ok(Answer::Cancel) => ElicitResult::new(ElicitationAction::Cancel),
            Ok(Answer::Decline) | Err(_) => declined(),
        }
    }
}

/// One more of something, until it is dropped.
struct Counted<'a>(&'a watch::Sender<usize>);

impl<'a> Counted<'a> {
    fn new(count: &'a watch::Sender<usize>) -> Self {
        count.send_modify(|count| *count += 1);
        Self(count)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

impl ClientHandler for Handler {
    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(self.ask_in_call(request).await)
    }

    async fn on_progress(&self, told: ProgressNotificationParam, _context: NotificationContext<RoleClient>) {
        self.progress.handle_notification(told).await;
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.tools_changed.send_modify(|count| *count += 1);
    }

    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = Some(
            ElicitationCapability::new()
                .with_form(FormElicitationCapability::default())
                .with_url(UrlElicitationCapability::default()),
        );
        ClientConfig::new(capabilities, Implementation::new("foretoken", env!("CARGO_PKG_VERSION")))
    }
}
