//! Calls of tools in a reply: how models of the family write them, what tools there are, and a call's arguments as JSON
//! by the schema of its tool. Pure: text in, values out.

mod arguments;
mod deltas;
mod form;
mod json;
mod parser;
mod python;
mod thoughts;
mod tools;

pub use arguments::{Misfit, TypedCall, Written};
pub use deltas::{CallDelta, CallDeltas};
pub use form::CallForm;
pub use parser::{
    Argument, CALL, CALL_TAGS, Call, CallParser, CallPiece, TAG_TOKENS, ValueForm, is_name, is_parameter_name,
};
pub use thoughts::{Thoughts, ThoughtsEnd};
pub use tools::{Tools, ToolsError};

#[cfg(test)]
mod testing {
    /// `text` cut at the given places, which are moved down to the next character boundary.
    pub(crate) fn chunks(text: &str, cuts: &[usize]) -> Vec<String> {
        let mut places: Vec<usize> =
            cuts.iter().map(|&cut| text.floor_char_boundary(cut % (text.len() + 1))).collect();
        places.extend([0, text.len()]);
        places.sort_unstable();
        places.windows(2).map(|pair| text[pair[0]..pair[1]].to_owned()).collect()
    }
}
