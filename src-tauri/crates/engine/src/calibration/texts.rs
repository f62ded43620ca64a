//! Texts as a model reads them, and the one that the program brings along.

use serde::{Deserialize, Serialize};

use super::prompts::{self, Prompt, prompts};
use super::{CalibrationError, Renderer, digest};
use crate::text::TextError;

/// A text of its own, as a model reads it. Nothing that is measured goes from one into another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Its tokens.
    pub ids: Vec<u32>,
    /// Where it is in what it was read from, for people, from 1: the line of a file in which it begins, or the number
    /// of its prompt.
    pub place: usize,
}

/// Documents and where they come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Texts {
    /// Where from.
    pub source: Source,
    /// SHA-256 of what they were read from, in hexadecimal digits: of the file's bytes, of those of the built-in
    /// prompts, or of the tokens of the model's replies.
    pub sha256: String,
    /// In the order of the source.
    pub documents: Vec<Document>,
}

/// Where documents come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Source {
    /// The prompts and worked examples of the program.
    BuiltIn,
    /// The model's own replies to these prompts.
    Replies {
        /// What its tokens were drawn by.
        seed: u64,
        /// Where a reply was cut off, in tokens.
        max_tokens: u32,
    },
    /// A file of the person's.
    File,
}

/// The program's prompts, each with its worked example where it has one, as the model's template writes them. Those
/// with tools are left out where the template knows none.
pub fn built_in(renderer: &Renderer) -> Result<Texts, CalibrationError> {
    let mut documents = Vec::new();
    for (place, Prompt { thinking, tools, mut messages, example }) in (1..).zip(prompts()?) {
        let ids = if example.is_empty() {
            renderer.prompt(&messages, &tools, thinking)
        } else {
            messages.extend(example);
            renderer.chat(&messages, &tools, thinking)
        };
        match ids {
            Ok(ids) => documents.push(Document { ids, place }),
            Err(TextError::TemplateWithoutTools | TextError::TemplateWithOtherCalls) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(Texts { source: Source::BuiltIn, sha256: digest::of_bytes(prompts::FILE.as_bytes()), documents })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::Split;
    use super::*;
    use crate::text::testing::{TOKENIZER, demo};

    #[test]
    fn the_built_in_text_is_enough_to_be_divided_and_ends_its_replies() {
        let renderer = Renderer::load(demo()).unwrap();
        let texts = built_in(&renderer).unwrap();
        assert_eq!(texts.documents.len(), 96);
        assert_eq!(texts, built_in(&renderer).unwrap());
        let split = Split::of(&texts.documents).unwrap();
        assert_eq!(split.documents, 96);
        let tokens = |part: &[Vec<u32>]| part.iter().map(Vec::len).sum::<usize>() as f64;
        let all = tokens(&split.calibrate) + tokens(&split.tune) + tokens(&split.report);
        assert!(all >= 8000.0, "{all}");
        for (part, share) in [(&split.calibrate, 0.7), (&split.tune, 0.1), (&split.report, 0.2)] {
            assert!((tokens(part) / all - share).abs() < 0.03, "{} of {all} for {share}", tokens(part));
        }
        let (end, open) = (TOKENIZER.token_id("<|im_end|>"), TOKENIZER.token_id("<think>"));
        let finished =
            texts.documents.iter().filter(|document| document.ids.iter().rev().nth(1) == end.as_ref());
        assert_eq!(
            finished.count(),
            prompts().unwrap().iter().filter(|prompt| !prompt.example.is_empty()).count()
        );
        assert!(texts.documents.iter().all(|document| document.ids.contains(&open.unwrap())));
    }

    /// A folder with the demo model's tokenizer and this template, if any.
    fn folder(template: Option<&str>) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        fs::copy(demo().join("tokenizer.json"), dir.path().join("tokenizer.json")).unwrap();
        if let Some(template) = template {
            fs::write(dir.path().join("chat_template.jinja"), template).unwrap();
        }
        dir
    }

    #[test]
    fn prompts_with_tools_are_left_out_where_the_template_knows_none() {
        let template = "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}\
                        <|im_end|>\n{% endfor %}<|im_start|>assistant\n";
        let texts = built_in(&Renderer::load(folder(Some(template)).path()).unwrap()).unwrap();
        let with_tools = prompts().unwrap().iter().filter(|prompt| !prompt.tools.is_empty()).count();
        assert!(with_tools > 0);
        assert_eq!(texts.documents.len(), 96 - with_tools);
    }

    #[test]
    fn a_model_without_a_template_reads_the_texts_without_control_tokens() {
        let texts = built_in(&Renderer::load(folder(None).path()).unwrap()).unwrap();
        assert_eq!(texts.documents.len(), 96);
        let ordinary = TOKENIZER.ordinary_vocab_size() as u32;
        assert!(texts.documents.iter().flat_map(|document| &document.ids).all(|&id| id < ordinary));
    }
}
