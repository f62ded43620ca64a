//! Tells the calls in what a model writes from the text for people, as it comes. Only the answer is looked at: what a
//! model writes in its thinking is never run.

use foretoken_calls::{Call, CallParser, CallPiece, Tools};

/// Reads the answer of one round.
pub(super) struct CallReader {
    parser: CallParser,
    /// White space at the end of the text so far, which goes where a call follows.
    white: String,
    /// The calls so far.
    calls: Vec<Call>,
}

/// More of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    /// Text for people.
    Text(String),
    /// A call of this tool begins.
    Call(String),
    /// More of its arguments, as the model writes them.
    Arguments(String),
}

impl CallReader {
    /// For an answer that may call these tools.
    pub(super) fn new(tools: &Tools) -> Self {
        Self { parser: CallParser::for_tools(tools.names()), white: String::new(), calls: Vec::new() }
    }

    /// What this text adds.
    pub(super) fn push(&mut self, text: &str) -> Vec<Piece> {
        let pieces = self.parser.push(text);
        self.read(pieces)
    }

    /// What was held back of an answer that has ended, and its calls.
    pub(super) fn finish(mut self) -> (Vec<Piece>, Vec<Call>) {
        let rest = self.parser.finish();
        let mut pieces = self.read(rest);
        if self.calls.is_empty() && !self.white.is_empty() {
            pieces.push(Piece::Text(self.white));
        }
        (pieces, self.calls)
    }

    fn read(&mut self, pieces: Vec<CallPiece>) -> Vec<Piece> {
        let mut read = Vec::new();
        for piece in pieces {
            match piece {
                CallPiece::Text(text) => {
                    let text = std::mem::take(&mut self.white) + &text;
                    let kept = text.trim_end().len();
                    self.white = text[kept..].to_owned();
                    if kept > 0 {
                        read.push(Piece::Text(text[..kept].to_owned()));
                    }
                }
                CallPiece::Name(name) => read.push(Piece::Call(name)),
                CallPiece::End(call) => self.calls.push(call),
                CallPiece::Parameter(name) => read.push(Piece::Arguments(format!("{name}: "))),
                CallPiece::Value(text) | CallPiece::Stray(text) | CallPiece::Json(text) => {
                    read.push(Piece::Arguments(text));
                }
                CallPiece::Quoted { text, .. } => read.push(Piece::Arguments(text)),
                CallPiece::Markup(_) => {}
            }
        }
        read
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tools() -> Tools {
        let parameters = json!({"type": "object", "properties": {"expression": {"type": "string"}}});
        let function = json!({"name": "calculator", "description": "", "parameters": parameters});
        Tools::new(vec![json!({"type": "function", "function": function})]).unwrap()
    }

    fn read(text: &str, piece: usize) -> (String, String, Vec<Call>) {
        let mut reader = CallReader::new(&tools());
        let characters: Vec<char> = text.chars().collect();
        let mut pieces: Vec<Piece> =
            characters.chunks(piece).flat_map(|part| reader.push(&part.iter().collect::<String>())).collect();
        let (rest, calls) = reader.finish();
        pieces.extend(rest);
        let (mut said, mut called) = (String::new(), String::new());
        for piece in pieces {
            match piece {
                Piece::Text(text) => said += &text,
                Piece::Call(text) | Piece::Arguments(text) => called += &text,
            }
        }
        (said, called, calls)
    }

    const CALL: &str = "<tool_call>\n<function=calculator>\n<parameter=expression>\n2 < 3\n</parameter>\n\
                        </function>\n</tool_call>";

    #[test]
    fn a_call_is_told_apart_however_it_is_cut() {
        let text = format!("I compute.\n\n{CALL}\n{CALL}");
        for piece in [1, 2, 3, 7, 400] {
            let (said, called, calls) = read(&text, piece);
            assert_eq!(said, "I compute.", "pieces of {piece}");
            assert_eq!(called, "calculatorexpression: 2 < 3calculatorexpression: 2 < 3");
            assert_eq!(calls.len(), 2);
            assert!(calls.iter().all(|call| !call.cut && call.arguments[0].value == "2 < 3"));
        }
    }

    #[test]
    fn what_only_looks_like_a_call_is_text() {
        for text in ["a <tool_call> is a tag  \n", "1 < 2 and <function", " \n"] {
            let (said, _, calls) = read(text, 3);
            assert_eq!((said.as_str(), calls.len()), (text, 0));
        }
    }

    #[test]
    fn a_call_that_the_end_cuts_is_known_as_cut() {
        let (said, _, calls) = read(&format!("So. {}", &CALL[..70]), 5);
        assert_eq!((said.as_str(), calls.len()), ("So.", 1));
        assert!(calls[0].cut);
    }
}
