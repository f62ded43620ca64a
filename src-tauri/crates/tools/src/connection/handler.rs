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
}

impl Handler {
    pub(super) fn new(questions: mpsc::Sender<Asked>) -> Self {
        Self {
            progress: ProgressDispatcher::new(),
            tools_changed: watch::Sender::new(0),
            questions,
            open: watch::Sender::new(0),
        }
    }

    pub(super) fn tools_changed(&self) -> watch::Receiver<u64> {
        self.tools_changed.subscribe()
    }

    /// How many questions are with the person.
    pub(super) fn open_questions(&self) -> watch::Receiver<usize> {
        self.open.subscribe()
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
        self.open.send_modify(|open| *open += 1);
        let _asking = Asking(&self.open);
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

/// A question that is with the person, until it is dropped.
struct Asking<'a>(&'a watch::Sender<usize>);

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|open| *open -= 1);
    }
}

impl ClientHandler for Handler {
    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(self.ask(request).await)
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
