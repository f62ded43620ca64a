//! The turns of a chat, made to fit what chat templates of the family take: one system message at most, and that first;
//! a user message somewhere; behind an answer's calls their results, in the order of the calls.

use foretoken_protocol::{ChatMessage, Content, ContentPart, FunctionCall, PartialReply, ToolCall};
use serde_json::{Map, Value, json};

use crate::error::ApiError;
use crate::fields::invalid;
use crate::guard::too_deep;
use crate::pictures::{Encoded, Pictures};
use crate::redacted::redacted;

redacted!(Turns, Conversation, Answer, EarlierCall, OpenCall);

/// That a call has no result, and its place says so.
const NO_RESULT: &str = "result-missing";
/// That the arguments of an earlier call are no JSON object.
const BROKEN_ARGUMENTS: &str = "broken-arguments";

/// What stands in the place of a result that never came.
const MISSING: &str = "[no result]";

/// Turns as the engine takes them, in the making.
#[derive(Default)]
pub(crate) struct Turns {
    messages: Vec<ChatMessage>,
    /// The calls of the last answer, until something else than a result follows.
    calls: Vec<OpenCall>,
    /// Instructions that stand among the results.
    notes: Vec<String>,
    pictures: Pictures,
    warnings: Vec<&'static str>,
}

/// What the engine is asked with.
pub(crate) struct Conversation {
    pub(crate) messages: Vec<ChatMessage>,
    /// The pictures that they name.
    pub(crate) pictures: Pictures,
    /// The last turn, where that is the model's: it is gone on with.
    pub(crate) resume: Option<PartialReply>,
    pub(crate) warnings: Vec<&'static str>,
}

/// What the model wrote in an earlier turn.
#[derive(Default)]
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) thinking: String,
    pub(crate) calls: Vec<EarlierCall>,
}

/// A call in an earlier turn.
pub(crate) struct EarlierCall {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) arguments: Map<String, Value>,
}

struct OpenCall {
    id: String,
    result: Option<Content>,
}

impl Turns {
    /// Says once that something was done that the program may not expect.
    pub(crate) fn warn(&mut self, warning: &'static str) {
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    /// Takes in a picture, for the message that it goes with.
    pub(crate) fn picture(&mut self, picture: Encoded) -> ContentPart {
        self.pictures.add(picture)
    }

    /// Instructions. In the middle they stay where they are, inside what people and tools say: at the front they would
    /// change all that was read before.
    pub(crate) fn system(&mut self, text: String) {
        if !self.calls.is_empty() {
            return self.notes.push(text);
        }
        match self.messages.last_mut() {
            None => self.messages.push(ChatMessage::system(text)),
            Some(ChatMessage::System { content }) => {
                content.push_str("\n\n");
                content.push_str(&text);
            }
            Some(ChatMessage::User { content } | ChatMessage::Tool { content }) => add_note(content, &text),
            Some(ChatMessage::Assistant { .. }) => self.messages.push(ChatMessage::user(note(&text))),
        }
    }

    /// What the person says.
    pub(crate) fn user(&mut self, content: Content) {
        self.settle();
        self.messages.push(ChatMessage::User { content });
    }

    /// What the model said.
    pub(crate) fn answer(&mut self, answer: Answer) {
        let Answer { text, thinking, calls } = answer;
        // What some programs send in several messages was one turn.
        let goes_on = self.calls.iter().all(|call| call.result.is_none()) && self.notes.is_empty();
        if !goes_on || !matches!(self.messages.last(), Some(ChatMessage::Assistant { .. })) {
            self.settle();
            self.messages.push(ChatMessage::assistant(""));
        }
        let Some(ChatMessage::Assistant { content, reasoning_content, tool_calls }) =
            self.messages.last_mut()
        else {
            return;
        };
        content.push_str(&text);
        if !thinking.is_empty() {
            reasoning_content.get_or_insert_default().push_str(&thinking);
        }
        for EarlierCall { id, name, arguments } in calls {
            self.calls.push(OpenCall { id, result: None });
            tool_calls.push(ToolCall::Function { function: FunctionCall { name, arguments } });
        }
    }

    /// The result of a call, in whatever order they come. `field` names where its id stands.
    pub(crate) fn result(&mut self, field: &str, id: &str, content: Content) -> Result<(), ApiError> {
        let call = self.calls.iter_mut().find(|call| call.id == id && call.result.is_none());
        let call = call.ok_or_else(|| invalid(field, format!("no call before it has the id {id:?}")))?;
        call.result = Some(content);
        Ok(())
    }

    /// The arguments of a call in JSON, as most programs send them back.
    pub(crate) fn arguments(&mut self, json: &str) -> Map<String, Value> {
        if json.trim().is_empty() {
            return Map::new();
        }
        // Within a text, the depth of the body says nothing of theirs.
        let read = if too_deep(json.as_bytes()) { None } else { serde_json::from_str(json).ok() };
        read.unwrap_or_else(|| {
            self.warn(BROKEN_ARGUMENTS);
            Map::from_iter([("arguments".to_owned(), json!(json))])
        })
    }

    /// All turns. `field` names them.
    pub(crate) fn finish(mut self, field: &str) -> Result<Conversation, ApiError> {
        if !self.calls.is_empty() && self.calls.iter().all(|call| call.result.is_none()) {
            return Err(invalid(field, "the calls at its end have no results"));
        }
        self.settle();
        let mut resume = None;
        if let Some(ChatMessage::Assistant { .. }) = self.messages.last()
            && let Some(ChatMessage::Assistant { content, reasoning_content, .. }) = self.messages.pop()
        {
            let thinking = reasoning_content.unwrap_or_default();
            resume = Some(PartialReply { thinking, answer: content, thought_through: true });
        }
        if !self.messages.iter().any(|message| matches!(message, ChatMessage::User { .. })) {
            return Err(invalid(field, "there is no user message to answer"));
        }
        let Self { messages, mut pictures, warnings, .. } = self;
        pictures.note_question(&messages);
        Ok(Conversation { messages, pictures, resume, warnings })
    }

    /// Puts the results of the last answer's calls in the order of the calls.
    fn settle(&mut self) {
        for call in std::mem::take(&mut self.calls) {
            let content = call.result.unwrap_or_else(|| {
                self.warn(NO_RESULT);
                MISSING.into()
            });
            self.messages.push(ChatMessage::Tool { content });
        }
        for text in std::mem::take(&mut self.notes) {
            if let Some(ChatMessage::Tool { content }) = self.messages.last_mut() {
                add_note(content, &text);
            }
        }
    }
}

fn note(text: &str) -> String {
    format!("<system-note>\n{text}\n</system-note>")
}

fn add_note(content: &mut Content, text: &str) {
    content.push_str("\n\n");
    content.push_str(&note(text));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(id: &str, name: &str) -> EarlierCall {
        EarlierCall { id: id.into(), name: name.into(), arguments: Map::new() }
    }

    fn answer(text: &str, calls: Vec<EarlierCall>) -> Answer {
        Answer { text: text.into(), calls, ..Answer::default() }
    }

    #[test]
    fn results_stand_in_the_order_of_their_calls() {
        let mut turns = Turns::default();
        turns.user("Hi".into());
        turns.answer(answer("", vec![call("a", "f"), call("b", "g"), call("c", "h")]));
        turns.result("x", "b", "B".into()).unwrap();
        turns.system("Short.".into());
        turns.result("x", "a", "A".into()).unwrap();
        turns.user("And?".into());
        let all = turns.finish("messages").unwrap();
        let texts: Vec<_> = all.messages.iter().map(ChatMessage::content).collect();
        let last = "[no result]\n\n<system-note>\nShort.\n</system-note>";
        assert_eq!(texts, ["Hi", "", "A", "B", last, "And?"]);
        assert!(matches!(all.messages[2], ChatMessage::Tool { .. }));
        assert_eq!(all.warnings, [NO_RESULT]);
    }

    #[test]
    fn a_result_belongs_to_a_call_and_calls_need_results() {
        let mut turns = Turns::default();
        turns.user("Hi".into());
        assert!(turns.result("messages[1].tool_call_id", "a", "".into()).is_err());
        turns.answer(answer("", vec![call("a", "f")]));
        turns.result("x", "a", "A".into()).unwrap();
        assert!(turns.result("x", "a", "again".into()).is_err());
        assert_eq!(turns.finish("messages").unwrap().messages.len(), 3);
        let mut open = Turns::default();
        open.user("Hi".into());
        open.answer(answer("", vec![call("a", "f")]));
        assert!(open.finish("messages").is_err());
    }

    #[test]
    fn an_answer_in_several_messages_is_one_turn() {
        let mut turns = Turns::default();
        turns.user("Hi".into());
        turns.answer(answer("I ", vec![call("a", "f")]));
        turns.answer(answer("look.", vec![call("b", "g")]));
        turns.result("x", "a", "A".into()).unwrap();
        turns.result("x", "b", "B".into()).unwrap();
        let all = turns.finish("messages").unwrap();
        let texts: Vec<_> = all.messages.iter().map(ChatMessage::content).collect();
        assert_eq!(texts, ["Hi", "I look.", "A", "B"]);
        assert_eq!(all.warnings, Vec::<&str>::new());
    }

    #[test]
    fn arguments_that_are_no_object_are_kept_and_told() {
        let mut turns = Turns::default();
        assert_eq!(turns.arguments(""), Map::new());
        assert_eq!(json!(turns.arguments("{\"b\": 1, \"a\": \"x\"}")).to_string(), r#"{"b":1,"a":"x"}"#);
        assert_eq!(turns.warnings, Vec::<&str>::new());
        assert_eq!(json!(turns.arguments("{\"b\": ")), json!({"arguments": "{\"b\": "}));
        assert_eq!(json!(turns.arguments("[1]")), json!({"arguments": "[1]"}));
        let deep = format!("{{\"a\": {}{}}}", "[".repeat(100), "]".repeat(100));
        assert_eq!(json!(turns.arguments(&deep)), json!({"arguments": deep}));
        assert_eq!(turns.warnings, [BROKEN_ARGUMENTS]);
    }
}
