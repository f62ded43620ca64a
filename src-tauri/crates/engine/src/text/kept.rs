//! The last replies as the model wrote them, for prompts that hold them again: programs send back of a turn its text
//! and its calls, but neither the thinking behind them nor how they were spelled, so that all from there on would have
//! to be read again.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::{iter, mem};

use foretoken_calls::{Argument, Call, CallForm, CallParser, CallPiece, ValueForm};
use foretoken_protocol::{ChatMessage, FunctionCall, ToolCall};
use serde_json::Value;

use super::Tokenizer;
use super::thinking::{CLOSE, OPEN};

/// The most bytes of kept replies; the oldest go first.
const MOST_BYTES: usize = 16 << 20;

/// Names what was said in a chat: texts, calls and results, but neither the thinking nor how they were spelled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ChatKey(u64);

impl ChatKey {
    /// That of all these messages.
    pub fn of(messages: &[ChatMessage]) -> Self {
        messages.iter().fold(Self::default(), |key, message| key.with(message))
    }

    /// Those of what each of the model's messages answers.
    pub(super) fn answered(messages: &[ChatMessage]) -> Vec<Self> {
        let keys = messages.iter().scan(Self::default(), |key, message| {
            let before = *key;
            *key = key.with(message);
            Some((before, message))
        });
        let of_model = |(key, message)| matches!(message, &ChatMessage::Assistant { .. }).then_some(key);
        keys.filter_map(of_model).collect()
    }

    /// That of a chat with one message more.
    fn with(self, message: &ChatMessage) -> Self {
        let mut hasher = DefaultHasher::new();
        (self.0, mem::discriminant(message), message.content().trim()).hash(&mut hasher);
        message.pictures().for_each(|picture| picture.hash(&mut hasher));
        if let ChatMessage::Assistant { tool_calls, .. } = message {
            for ToolCall::Function { function: FunctionCall { name, arguments } } in tool_calls {
                name.hash(&mut hasher);
                arguments
                    .iter()
                    .for_each(|(name, value)| (name, canonical(&spelled(value))).hash(&mut hasher));
            }
        }
        Self(hasher.finish())
    }
}

/// Replies of this model as it wrote them. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct KeptReplies(Arc<Mutex<Kept>>);

#[derive(Debug, Default)]
struct Kept {
    /// The newest last.
    replies: VecDeque<KeptReply>,
    bytes: usize,
}

/// From where on a template may leave the thinking of turns in the prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Since {
    /// The first message.
    Beginning,
    /// The last question.
    Question,
}

/// A turn of the model, from behind the token that begins messages.
#[derive(Debug, PartialEq)]
struct KeptReply {
    /// What it answers.
    chat: ChatKey,
    ids: Vec<u32>,
    /// What they spell, control tokens by their names.
    text: String,
    /// Where in it control tokens stand.
    controls: Vec<(Range<usize>, u32)>,
    thinking: String,
    /// What it says beside its calls.
    content: String,
    calls: Vec<Call>,
}

impl KeptReply {
    fn bytes(&self) -> usize {
        size_of::<Self>() + size_of_val(&self.ids[..]) + 2 * self.text.len()
    }

    /// Whether a message holds what this reply says.
    fn is_said_by(&self, content: &str, calls: &[ToolCall]) -> bool {
        let same = |(own, ToolCall::Function { function }): (&Call, &ToolCall)| is_same_call(own, function);
        content.trim() == self.content.trim()
            && calls.len() == self.calls.len()
            && self.calls.iter().zip(calls).all(same)
    }
}

impl KeptReplies {
    /// Keeps a reply to `chat` that has ended: the tokens from behind the one that begins messages, those that the
    /// prompt ends with among them.
    pub fn keep(&self, tokenizer: &Tokenizer, chat: ChatKey, ids: Vec<u32>) {
        let (text, controls) = tokenizer.spelled(&ids);
        let answer = text.split_once(CLOSE).map_or(text.as_str(), |(_, answer)| answer);
        let thinking =
            text[..text.len() - answer.len()].split_once(OPEN).map_or("", |(_, thinking)| thinking);
        let thinking = thinking.strip_suffix(CLOSE).unwrap_or(thinking).trim_matches('\n').to_owned();
        // Without a block the name of who writes stands before the answer.
        let answer = if answer.len() == text.len() {
            answer.split_once('\n').map_or("", |(_, rest)| rest)
        } else {
            answer
        };
        let (content, calls) = read(answer);
        let reply = KeptReply { chat, ids, text, controls, thinking, content, calls };
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.bytes += reply.bytes();
        kept.replies.push_back(reply);
        while kept.bytes > MOST_BYTES
            && let Some(oldest) = kept.replies.pop_front()
        {
            kept.bytes -= oldest.bytes();
        }
    }

    /// The messages with what was kept of the model's own: its thinking where there is none, `since` the last question
    /// or in all turns, and the values in its calls as it wrote them, where the template writes calls in the same
    /// `form`. Says also whether the thinking of all turns is known now, though it be empty.
    pub(super) fn restored(
        &self,
        messages: &[ChatMessage],
        form: CallForm,
        since: Since,
    ) -> (Vec<ChatMessage>, bool) {
        let (mut messages, mut all_known) = (messages.to_vec(), true);
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let question = messages.iter().rposition(|message| matches!(message, ChatMessage::User { .. }));
        let mut chat = ChatKey::default();
        for (index, message) in messages.iter_mut().enumerate() {
            let before = chat;
            chat = chat.with(message);
            let ChatMessage::Assistant { content, reasoning_content, tool_calls } = message else { continue };
            let is_read = since == Since::Beginning || question.is_none_or(|question| index > question);
            if !is_read && tool_calls.is_empty() {
                all_known &= reasoning_content.is_some();
                continue;
            }
            let Some(own) = kept
                .replies
                .iter()
                .rev()
                .find(|own| own.chat == before && own.is_said_by(content, tool_calls))
            else {
                all_known &= reasoning_content.is_some();
                continue;
            };
            if is_read && reasoning_content.is_none() {
                *reasoning_content = Some(own.thinking.clone()).filter(|thinking| !thinking.is_empty());
            }
            for (ToolCall::Function { function }, call) in tool_calls.iter_mut().zip(&own.calls) {
                // A text between tags would be a text in JSON as well, whatever its type.
                if form == CallForm::Json && call.arguments.iter().any(|own| own.form == ValueForm::Plain) {
                    continue;
                }
                let value = |argument: &Argument| (argument.name.clone(), argument.as_came());
                function.arguments = call.arguments.iter().map(value).collect();
            }
        }
        (messages, all_known)
    }

    /// The tokens of a turn that answers `chat` and reads so, if it was kept. Blanks beside control tokens do not
    /// count: templates trim.
    pub(super) fn ids_of(
        &self,
        chat: ChatKey,
        text: &str,
        controls: &[(Range<usize>, u32)],
    ) -> Option<Vec<u32>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |own: &&KeptReply| {
            own.chat == chat && pieces(&own.text, &own.controls).eq(pieces(text, controls))
        };
        kept.replies.iter().rev().find(same).map(|own| own.ids.clone())
    }
}

/// The stretches of a text, each with the control token behind it.
fn pieces<'a>(
    text: &'a str,
    controls: &'a [(Range<usize>, u32)],
) -> impl Iterator<Item = (&'a str, Option<u32>)> {
    let begins = iter::once(0).chain(controls.iter().map(|(range, _)| range.end));
    let ends = controls.iter().map(|(range, id)| (range.start, Some(*id))).chain([(text.len(), None)]);
    begins.zip(ends).map(|(begin, (end, control))| (text[begin..end].trim(), control))
}

/// What an answer says, and its calls.
fn read(answer: &str) -> (String, Vec<Call>) {
    let mut parser = CallParser::default();
    let mut pieces = parser.push(answer);
    pieces.extend(parser.finish());
    let (mut content, mut calls) = (String::new(), Vec::new());
    for piece in pieces {
        match piece {
            CallPiece::Text(text) => content.push_str(&text),
            CallPiece::End(call) => calls.push(call),
            _ => {}
        }
    }
    (content, calls)
}

/// Whether a call that came back is this one: its values may be spelled otherwise.
fn is_same_call(own: &Call, came: &FunctionCall) -> bool {
    let same = |(own, (name, value)): (&Argument, (&String, &Value))| {
        let came = spelled(value);
        own.name == *name && (own.value == came || canonical(&own.value) == canonical(&came))
    };
    own.name == came.name
        && own.arguments.len() == came.arguments.len()
        && own.arguments.iter().zip(&came.arguments).all(same)
}

/// A value as templates print it.
fn spelled(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A value that may be JSON in the one way that JSON is written here.
fn canonical(text: &str) -> String {
    match text.trim() {
        "True" => "true".into(),
        "False" => "false".into(),
        "None" => "null".into(),
        text => {
            serde_json::from_str::<Value>(text).map_or_else(|_| text.to_owned(), |value| value.to_string())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use foretoken_protocol::{ChatInput, Input, TemplateOptions};
    use serde_json::json;
    use tempfile::TempDir;

    use super::super::testing::{TOKENIZER, demo};
    use super::super::{ChatTemplate, MESSAGE_START, Prompter};
    use super::*;

    const CALL: &str = "<tool_call>\n<function=note>\n<parameter=list>\n[1, {\"a\": 2}]\n</parameter>\n\
                        <parameter=text>\nA  b\n</parameter>\n</function>\n</tool_call>";

    fn tools() -> Vec<Value> {
        vec![json!({"type": "function", "function": {"name": "note"}})]
    }

    fn prompter() -> Prompter {
        Prompter::new(TOKENIZER.clone(), ChatTemplate::load(demo()).unwrap())
    }

    fn ids(prompter: &Prompter, messages: &[ChatMessage]) -> Vec<u32> {
        let chat = ChatInput { messages: messages.to_vec(), tools: tools(), ..ChatInput::default() };
        prompter.input(&Input::Chat(chat), true).unwrap().ids
    }

    /// The ids of a text, some of its words spelled letter by letter.
    fn oddly_spelled(text: &str) -> Vec<u32> {
        text.split_inclusive(' ')
            .enumerate()
            .flat_map(|(index, word)| {
                let letters = word.split("").filter(|letter| !letter.is_empty());
                let pieces: Vec<&str> =
                    if index % 2 == 0 || word.contains('<') { vec![word] } else { letters.collect() };
                pieces.into_iter().flat_map(|piece| TOKENIZER.encode(piece).unwrap())
            })
            .collect()
    }

    /// What a program sends back of a turn with a call.
    fn sent_back(thinking: Option<&str>, content: &str) -> ChatMessage {
        let arguments = json!({"list": [1, {"a": 2}], "text": "A  b"});
        let Value::Object(arguments) = arguments else { unreachable!() };
        let function = FunctionCall { name: "note".into(), arguments };
        ChatMessage::Assistant {
            content: content.into(),
            reasoning_content: thinking.map(str::to_owned),
            tool_calls: vec![ToolCall::Function { function }],
        }
    }

    #[test]
    fn a_turn_that_comes_back_is_read_as_it_was_written_and_what_follows_is_all_that_is_new() {
        let prompter = prompter();
        let question = ChatMessage::user("Note it.");
        let asked = ids(&prompter, std::slice::from_ref(&question));
        let reply =
            oddly_spelled(&format!("I should note it, so I do.\n</think>\n\nI note that now.\n\n{CALL}"));
        let turn = asked.iter().rposition(|&id| Some(id) == TOKENIZER.token_id("<|im_start|>")).unwrap();
        prompter.kept().keep(
            &TOKENIZER,
            ChatKey::of(std::slice::from_ref(&question)),
            [&asked[turn + 1..], &reply].concat(),
        );
        let result = ChatMessage::Tool { content: "done".into() };
        let before = [&asked[..], &reply].concat();
        let again = ids(&prompter, &[question.clone(), sent_back(None, "I note that now."), result.clone()]);
        assert!(again.starts_with(&before));
        let given = Some("I should note it, so I do.");
        let with = ids(&prompter, &[question.clone(), sent_back(given, "I note that now."), result.clone()]);
        assert_eq!(with, again);

        // What was changed is read as it is now, and so is what was never written here.
        for other in [sent_back(None, "I note it."), sent_back(Some("Hm."), "I note that now.")] {
            let changed = ids(&prompter, &[question.clone(), other, result.clone()]);
            assert!(!changed.starts_with(&before));
        }
        // Behind a later question, the template leaves the thinking out.
        let later = ids(
            &prompter,
            &[question, sent_back(None, "I note that now."), result, ChatMessage::user("Well?")],
        );
        assert!(!TOKENIZER.decode(&later).contains("I should note it"));
    }

    /// The demo model's template, if the thinking of all turns stays where that is asked for; it ends with the effort.
    fn preserving() -> ChatTemplate {
        let source = fs::read_to_string(demo().join("chat_template.jinja")).unwrap();
        let last = "{%- if loop.index0 > last.question %}";
        assert!(source.contains(last));
        let all = "{%- if loop.index0 > last.question or preserve_thinking | default(false) %}";
        let folder = TempDir::new().unwrap();
        let source = source.replace(last, all) + "{{- reasoning_effort | default('') }}";
        fs::write(folder.path().join("chat_template.jinja"), source).unwrap();
        ChatTemplate::load(folder.path()).unwrap()
    }

    #[test]
    fn where_the_template_can_keep_all_thinking_a_next_question_reads_no_round_again() {
        let prompter = Prompter::new(TOKENIZER.clone(), preserving());
        let with = |messages: &[ChatMessage], tools: Vec<Value>, template: TemplateOptions| {
            let chat = ChatInput { messages: messages.to_vec(), tools, template, ..ChatInput::default() };
            prompter.input(&Input::Chat(chat), true).unwrap().ids
        };
        let ids = |messages: &[ChatMessage]| with(messages, tools(), TemplateOptions::default());
        let mut chat = vec![ChatMessage::user("Note it.")];
        let turns = [
            (
                format!("I should note it.\n</think>\n\nI note that now.\n\n{CALL}"),
                sent_back(None, "I note that now."),
            ),
            ("Now I know.\n</think>\n\nIt is noted.".into(), ChatMessage::assistant("It is noted.")),
        ];
        let mut written = Vec::new();
        for (reply, sent) in turns {
            let asked = ids(&chat);
            assert!(asked.starts_with(&written), "each round goes on where the last one ended");
            let turn = asked.iter().rposition(|&id| Some(id) == TOKENIZER.token_id(MESSAGE_START)).unwrap();
            let reply = oddly_spelled(&reply);
            prompter.kept().keep(&TOKENIZER, ChatKey::of(&chat), [&asked[turn + 1..], &reply].concat());
            written = [asked, reply].concat();
            let calls = matches!(&sent, ChatMessage::Assistant { tool_calls, .. } if !tool_calls.is_empty());
            chat.push(sent);
            if calls {
                chat.push(ChatMessage::Tool { content: "done".into() });
            }
        }
        chat.push(ChatMessage::user("Well?"));
        assert!(ids(&chat).starts_with(&written));

        let says = |ids: &[u32]| TOKENIZER.decode(ids).contains("I should note it");
        let preserve = |preserve| TemplateOptions { preserve_thinking: Some(preserve), ..Default::default() };
        assert!(!says(&with(&chat, tools(), preserve(false))), "unless a program will not have it");
        assert!(
            !says(&with(&chat, vec![], TemplateOptions::default())),
            "chats without tools are as they were"
        );
        assert!(says(&with(&chat, vec![], preserve(true))), "unless a program wants it");
        // A turn that is not known would stand there as if nothing had been thought.
        let strange = [&[ChatMessage::user("Hi"), ChatMessage::assistant("Hello")], &chat[..]].concat();
        assert!(!TOKENIZER.decode(&ids(&strange)).contains("<think>\n\n</think>\n\nHello"));

        let effort = TemplateOptions { reasoning_effort: Some("xhigh".into()), ..Default::default() };
        assert!(TOKENIZER.decode(&with(&chat, tools(), effort)).ends_with("xhigh"));
    }

    #[test]
    fn a_plain_answer_keeps_its_tokens() {
        let prompter = prompter();
        let chat = |messages: &[ChatMessage]| prompter.prompt(messages, None, false).unwrap().ids;
        let question = ChatMessage::user("Hi");
        let asked = chat(std::slice::from_ref(&question));
        // A template that leaves the empty block out of earlier turns is not fooled.
        let turn = asked.iter().rposition(|&id| Some(id) == TOKENIZER.token_id("<|im_start|>")).unwrap();
        prompter.kept().keep(
            &TOKENIZER,
            ChatKey::of(std::slice::from_ref(&question)),
            [&asked[turn + 1..], &oddly_spelled("Hello to you there")].concat(),
        );
        let bare = [TOKENIZER.encode("assistant\n").unwrap(), oddly_spelled("Hello to all there")].concat();
        prompter.kept().keep(&TOKENIZER, ChatKey::of(std::slice::from_ref(&question)), bare.clone());
        let with = |answer: &str| {
            chat(&[question.clone(), ChatMessage::assistant(answer), ChatMessage::user("So?")])
        };
        let holds = |ids: &[u32], part: &[u32]| ids.windows(part.len()).any(|window| window == part);
        assert!(holds(&with("Hello to all there"), &bare));
        assert!(!holds(&with("Hello to you there"), &oddly_spelled("Hello to you there")));
        let text = TOKENIZER.decode(&with("Hello to you there"));
        assert!(text.contains("Hello to you there"), "{text}");
    }

    #[test]
    fn the_oldest_go_first() {
        let kept = KeptReplies::default();
        for number in 0..40 {
            kept.keep(&TOKENIZER, ChatKey::default(), vec![number + 100; 100_000]);
        }
        let kept = kept.0.lock().unwrap();
        assert!(kept.bytes <= MOST_BYTES && kept.replies.len() > 4, "{}", kept.replies.len());
        assert_eq!(kept.replies.back().unwrap().ids[0], 139);
        assert_eq!(kept.bytes, kept.replies.iter().map(KeptReply::bytes).sum::<usize>());
    }
}
