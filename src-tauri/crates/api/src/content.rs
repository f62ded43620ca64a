//! What a reply consists of, told from its tokens: thinking, answer, and calls of tools with their arguments as JSON.

use foretoken_calls::{CallDelta, CallDeltas, CallParser, CallPiece, Misfit, Thoughts, ThoughtsEnd, Tools};
use foretoken_protocol::{Part, TokenText};

use crate::redacted::redacted;

redacted!(Content, Reader, Calls, Gathered, Block, Call);

/// More of a reply.
#[derive(Clone, PartialEq)]
pub(crate) enum Content {
    /// Thinking.
    Thinking(String),
    /// Text of the answer.
    Answer(String),
    /// A call of this tool begins.
    Call { name: String },
    /// More of its arguments, in JSON.
    Arguments(String),
    /// It has ended, or what read like a call and is none, which was told as text.
    CallEnd {
        /// The call as the model wrote it, where the reply ended before it did.
        cut: Option<String>,
        /// Why it does not fit its tool, in words.
        misfits: Vec<String>,
    },
}

/// How calls begin that are written between tags.
const TAG: &str = "<function=";

/// Tells the content of one reply.
pub(crate) struct Reader {
    /// Where there are tools.
    calls: Option<Calls>,
    /// White space at the end of the answer so far, which is dropped if a call follows.
    white: String,
}

struct Calls {
    parser: CallParser,
    deltas: CallDeltas,
    /// Holds back what may be calls at the end of the thinking.
    thoughts: Thoughts,
    /// Whether only the first call counts.
    one_call: bool,
    /// The call that is being written, as the model writes it.
    written: String,
    /// What is told of it once it is whole, where it is JSON: nobody knows before its end whether it is.
    held: Option<Vec<Content>>,
    /// How many have ended whole, and whether one was cut.
    ended: usize,
    cut: bool,
    /// What of them is told in a word.
    warnings: Vec<&'static str>,
}

/// That what read like a call is none, and that a value is not of the type that it must have.
const MALFORMED_CALL: &str = "malformed-call";
const COERCION: &str = "coercion";

impl Reader {
    /// For a reply that may call these tools.
    pub(crate) fn new(tools: &Tools) -> Self {
        let calls = (!tools.is_empty()).then(|| Calls {
            parser: CallParser::for_tools(tools.names()),
            deltas: CallDeltas::new(tools.clone()),
            thoughts: Thoughts::default(),
            one_call: false,
            written: String::new(),
            held: None,
            ended: 0,
            cut: false,
            warnings: Vec::new(),
        });
        Self { calls, white: String::new() }
    }

    /// The same reply where only its first call counts, if so.
    pub(crate) fn with_one_call(mut self, one_call: bool) -> Self {
        if let Some(calls) = &mut self.calls {
            calls.one_call = one_call;
        }
        self
    }

    /// What a step's tokens add. Neighbours of a kind are one.
    pub(crate) fn tokens(&mut self, tokens: &[TokenText]) -> Vec<Content> {
        let mut contents = Vec::new();
        for TokenText { text, part, .. } in tokens {
            match part {
                Part::Thinking => {
                    let calls = self.calls.as_mut();
                    let thought = calls.map_or_else(|| text.clone(), |calls| calls.thoughts.push(text));
                    push(&mut contents, Content::Thinking(thought));
                }
                Part::Answer => {
                    let calls = self.calls.as_mut();
                    let thought = calls.map(|calls| calls.thoughts.close()).unwrap_or_default();
                    push(&mut contents, Content::Thinking(thought));
                    self.answer(text, &mut contents);
                }
            }
        }
        contents
    }

    /// What was held back of a reply that has ended.
    pub(crate) fn finish(&mut self) -> Vec<Content> {
        let mut contents = Vec::new();
        if let Some(mut calls) = self.calls.take() {
            // A model that forgets to close its thinking calls all the same.
            let ThoughtsEnd { thinking, written, .. } = calls.thoughts.finish();
            push(&mut contents, Content::Thinking(thinking));
            let mut pieces = calls.parser.push(&written);
            pieces.extend(calls.parser.finish());
            for piece in pieces {
                self.piece(&mut calls, piece, &mut contents);
            }
            // Behind a call there is nothing to say.
            if calls.ended == 0 {
                push(&mut contents, Content::Answer(std::mem::take(&mut self.white)));
            }
            self.calls = Some(calls);
        }
        contents
    }

    /// What of its calls a program may not expect, a word each.
    pub(crate) fn warnings(&self) -> &[&'static str] {
        self.calls.as_ref().map_or(&[], |calls| &calls.warnings)
    }

    /// Whether there are calls that can be run, and none that was not written to its end.
    pub(crate) fn has_calls(&self) -> bool {
        self.calls.as_ref().is_some_and(|calls| calls.ended > 0 && !calls.cut)
    }

    /// Whether the reply ended before a call did, part of which may have been told.
    pub(crate) fn is_cut(&self) -> bool {
        self.calls.as_ref().is_some_and(|calls| calls.cut)
    }

    fn answer(&mut self, text: &str, contents: &mut Vec<Content>) {
        let Some(mut calls) = self.calls.take() else {
            return push(contents, Content::Answer(text.to_owned()));
        };
        for piece in calls.parser.push(text) {
            self.piece(&mut calls, piece, contents);
        }
        self.calls = Some(calls);
    }

    fn piece(&mut self, calls: &mut Calls, piece: CallPiece, contents: &mut Vec<Content>) {
        if calls.one_call && calls.ended > 0 {
            return;
        }
        if let CallPiece::Text(text) = &piece {
            calls.written.clear();
            let text = std::mem::take(&mut self.white) + text;
            let kept = text.trim_end().len();
            self.white = text[kept..].to_owned();
            return push(contents, Content::Answer(text[..kept].to_owned()));
        }
        calls.written.push_str(piece.written());
        if matches!(&piece, CallPiece::End(call) if call.name.is_empty()) {
            // It was cut before anybody could say what it calls: text, but behind whole calls it is nothing.
            let text = std::mem::take(&mut self.white) + &std::mem::take(&mut calls.written);
            if calls.ended == 0 {
                push(contents, Content::Answer(text));
            }
            return;
        }
        for delta in calls.deltas.push(&piece) {
            match delta {
                CallDelta::Begin { name } => {
                    calls.held = (!calls.written.contains(TAG)).then(Vec::new);
                    calls.written.insert_str(0, &std::mem::take(&mut self.white));
                    push(calls.held.as_mut().unwrap_or(contents), Content::Call { name });
                }
                CallDelta::Arguments(json) => {
                    push(calls.held.as_mut().unwrap_or(contents), Content::Arguments(json));
                }
                CallDelta::End { misfits, cut } => calls.end(&misfits, cut, contents),
            }
        }
    }
}

impl Calls {
    /// The call has ended: one that is JSON is told now, or what was written in its place.
    fn end(&mut self, misfits: &[Misfit], cut: bool, contents: &mut Vec<Content>) {
        let written = std::mem::take(&mut self.written);
        let broken = misfits.contains(&Misfit::Broken);
        self.cut |= cut;
        self.ended += usize::from(!cut && !broken);
        // What has not come cannot fit.
        let told = misfits.iter().filter(|_| !cut || broken);
        for misfit in told.clone() {
            let warning = match misfit {
                Misfit::Broken => MALFORMED_CALL,
                Misfit::Type { .. } => COERCION,
                _ => continue,
            };
            if !self.warnings.contains(&warning) {
                self.warnings.push(warning);
            }
        }
        let misfits = told.map(ToString::to_string).collect();
        let cut = match self.held.take() {
            Some(_) if cut || broken => {
                push(contents, Content::Answer(written));
                None
            }
            held => {
                held.into_iter().flatten().for_each(|content| push(contents, content));
                cut.then_some(written)
            }
        };
        push(contents, Content::CallEnd { cut, misfits });
    }
}

/// Adds content to what there is, joined to the last where that is of its kind.
fn push(contents: &mut Vec<Content>, content: Content) {
    use Content::{Answer, Arguments, Thinking};
    match (contents.last_mut(), content) {
        (_, Thinking(text) | Answer(text) | Arguments(text)) if text.is_empty() => {}
        (Some(Thinking(before)), Thinking(more))
        | (Some(Answer(before)), Answer(more))
        | (Some(Arguments(before)), Arguments(more)) => before.push_str(&more),
        (_, content) => contents.push(content),
    }
}

/// A reply, gathered.
#[derive(Clone, Default, PartialEq)]
pub(crate) struct Gathered {
    blocks: Vec<Block>,
    /// Why its calls do not fit their tools, in words.
    misfits: Vec<String>,
}

/// A stretch of a reply that is of one kind.
#[derive(Clone, PartialEq)]
pub(crate) enum Block {
    Thinking(String),
    Text(String),
    Call(Call),
}

/// A call of a tool.
#[derive(Clone, PartialEq)]
pub(crate) struct Call {
    pub(crate) name: String,
    /// JSON.
    pub(crate) arguments: String,
}

impl Block {
    /// The thinking that it is.
    pub(crate) fn thinking(&self) -> Option<&str> {
        if let Self::Thinking(text) = self { Some(text) } else { None }
    }
}

impl Gathered {
    /// Adds more of the reply. A call that was cut becomes text, as the model wrote it: half a call is none.
    pub(crate) fn add(&mut self, content: &Content) {
        if let Content::CallEnd { misfits, .. } = content {
            self.misfits.extend_from_slice(misfits);
        }
        match (self.blocks.last_mut(), content) {
            (Some(Block::Thinking(before)), Content::Thinking(more))
            | (Some(Block::Text(before)), Content::Answer(more)) => before.push_str(more),
            (_, Content::Thinking(text)) => self.blocks.push(Block::Thinking(text.clone())),
            (_, Content::Answer(text)) => self.blocks.push(Block::Text(text.clone())),
            (_, Content::Call { name }) => {
                let (name, arguments) = (name.clone(), String::new());
                self.blocks.push(Block::Call(Call { name, arguments }));
            }
            (Some(Block::Call(call)), Content::Arguments(more)) => call.arguments.push_str(more),
            (Some(last @ Block::Call(_)), Content::CallEnd { cut: Some(written), .. }) => {
                *last = Block::Text(written.clone());
            }
            (_, Content::Arguments(_) | Content::CallEnd { .. }) => {}
        }
    }

    /// All of it, in order.
    pub(crate) fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Why its calls do not fit their tools, in words.
    pub(crate) fn misfits(&self) -> &[String] {
        &self.misfits
    }

    pub(crate) fn thinking(&self) -> String {
        self.blocks.iter().filter_map(Block::thinking).collect()
    }

    pub(crate) fn text(&self) -> String {
        self.blocks
            .iter()
            .filter_map(|block| if let Block::Text(text) = block { Some(text.as_str()) } else { None })
            .collect()
    }

    pub(crate) fn calls(&self) -> impl Iterator<Item = &Call> {
        self.blocks.iter().filter_map(|block| if let Block::Call(call) = block { Some(call) } else { None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools() -> Tools {
        let tool = r#"[{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties":
            {"text": {"type": "string"}, "count": {"type": "integer"}}}}}]"#;
        Tools::parse(tool).unwrap()
    }

    fn token(part: Part, text: &str) -> TokenText {
        TokenText { text: text.into(), part, draft_position: None }
    }

    fn read(tools: &Tools, answer: &str) -> (Gathered, bool) {
        let mut reader = Reader::new(tools);
        let mut gathered = Gathered::default();
        for letter in answer.split_inclusive(|_| true) {
            reader.tokens(&[token(Part::Answer, letter)]).iter().for_each(|content| gathered.add(content));
        }
        reader.finish().iter().for_each(|content| gathered.add(content));
        (gathered, reader.has_calls())
    }

    const CALL: &str = "<tool_call>\n<function=f>\n<parameter=text>\na\n</parameter>\n<parameter=count>\n5\n\
                        </parameter>\n</function>\n</tool_call>";

    #[test]
    fn text_and_calls_come_apart() {
        let (read, calls) = read(&tools(), &format!("I look.\n\n{CALL}\n{CALL}\n"));
        let call = Block::Call(Call { name: "f".into(), arguments: r#"{"text":"a","count":5}"#.into() });
        assert_eq!(read.blocks(), [Block::Text("I look.".into()), call.clone(), call]);
        assert!(calls);
    }

    #[test]
    fn without_tools_and_without_a_call_all_is_text() {
        let (text, calls) = read(&Tools::default(), &format!("A\n\n{CALL} \n"));
        assert_eq!((text.text(), calls), (format!("A\n\n{CALL} \n"), false));
        let (text, calls) = read(&tools(), "A <tool_call> is\n\nwritten so. \n");
        assert_eq!((text.text(), calls), ("A <tool_call> is\n\nwritten so. \n".into(), false));
    }

    #[test]
    fn a_cut_call_is_text() {
        let (cut, calls) = read(&tools(), &CALL[..60]);
        assert_eq!((cut.text(), cut.calls().count(), calls), (CALL[..60].to_owned(), 0, false));
        let (both, calls) = read(&tools(), &format!("{CALL}\n{}", &CALL[..60]));
        assert_eq!((both.calls().count(), both.text(), calls), (1, format!("\n{}", &CALL[..60]), false));
        let (early, calls) = read(&tools(), &format!("{CALL}\n<tool_call>\n<func"));
        assert_eq!((early.calls().count(), early.text(), calls), (1, String::new(), true));
        let (early, calls) = read(&tools(), "A.\n\n<tool_call>\n<func");
        assert_eq!((early.text(), calls), ("A.\n\n<tool_call>\n<func".into(), false));
        let (named, _) = read(&tools(), &format!("A.\n\n{}", &CALL[..60]));
        assert_eq!(named.text(), format!("A.\n\n{}", &CALL[..60]));
    }

    const JSON: &str =
        "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"text\": \"a\", \"count\": \"5\"}}\n</tool_call>";

    fn whole_call() -> Block {
        Block::Call(Call { name: "f".into(), arguments: r#"{"text":"a","count":5}"#.into() })
    }

    #[test]
    fn calls_in_json_and_without_a_tag_before_them_are_calls() {
        let bare = CALL.trim_start_matches("<tool_call>\n");
        for call in [JSON, bare, bare.trim_end_matches("\n</tool_call>")] {
            let (read, calls) = read(&tools(), &format!("I look.\n\n{call}\n"));
            assert_eq!(read.blocks(), [Block::Text("I look.".into()), whole_call()], "{call}");
            assert!(calls && read.misfits().is_empty());
        }
    }

    #[test]
    fn a_call_that_is_no_json_is_text_and_told() {
        let broken = JSON.replace("}}", "}");
        let (read, calls) = read(&tools(), &format!("A.\n\n{broken}"));
        assert_eq!((read.text(), calls), (format!("A.\n\n{broken}"), false));
        assert_eq!(read.misfits(), ["the call is no JSON object with a name and arguments"]);
    }

    /// What a reply is that thinks this, letter by letter, and then answers, if it does.
    fn think(thinking: &str, answer: Option<&str>, one_call: bool) -> (Gathered, bool) {
        let mut reader = Reader::new(&tools()).with_one_call(one_call);
        let mut gathered = Gathered::default();
        let letters = thinking.split_inclusive(|_| true).map(|letter| token(Part::Thinking, letter));
        for token in letters.chain(answer.map(|answer| token(Part::Answer, answer))) {
            reader.tokens(&[token]).iter().for_each(|content| gathered.add(content));
        }
        reader.finish().iter().for_each(|content| gathered.add(content));
        (gathered, reader.has_calls())
    }

    #[test]
    fn a_call_at_the_end_of_a_thinking_that_is_never_closed_is_one() {
        let thought = || Block::Thinking("I look.".into());
        for call in [CALL, JSON] {
            let (read, calls) = think(&format!("I look.\n\n{call}\n{call}\n"), None, false);
            assert_eq!((read.blocks(), calls), (&[thought(), whole_call(), whole_call()][..], true));
            let (read, calls) = think(&format!("I look.\n\n{call}\n{call}\n"), None, true);
            assert_eq!((read.blocks(), calls), (&[thought(), whole_call()][..], true));
        }
        let draft = format!("I may write\n{CALL}");
        for (thinking, answer) in
            [(draft.clone(), Some("So.")), (draft.clone(), Some("")), (format!("{draft}\nor not."), None)]
        {
            let (read, calls) = think(&thinking, answer, false);
            assert_eq!((read.thinking(), read.text(), calls), (thinking, answer.unwrap_or("").into(), false));
        }
        let (read, calls) = think(&draft, Some(CALL), false);
        assert_eq!((read.blocks(), calls), (&[Block::Thinking(draft), whole_call()][..], true));
    }

    #[test]
    fn a_step_that_ends_the_thinking_has_both() {
        let mut reader = Reader::new(&Tools::default());
        let tokens = [
            token(Part::Thinking, "H"),
            token(Part::Thinking, "m"),
            token(Part::Answer, ""),
            token(Part::Answer, "A"),
        ];
        assert_eq!(reader.tokens(&tokens), [Content::Thinking("Hm".into()), Content::Answer("A".into())]);
    }
}
