//! The result of a call, as it comes in the protocol, made into one that the rest of the app knows.

use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};

use crate::tool::{Outcome, ResultPart};

/// The parts of a result. What is structured is told as JSON where no text says it.
pub(super) fn of(result: CallToolResult) -> Outcome {
    let mut parts: Vec<ResultPart> = result.content.into_iter().map(part).collect();
    let has_text = parts.iter().any(|part| matches!(part, ResultPart::Text { .. }));
    if let Some(structured) = result.structured_content.filter(|_| !has_text) {
        parts.insert(0, ResultPart::Text { text: structured.to_string() });
    }
    Outcome { parts, failed: result.is_error.unwrap_or(false) }
}

/// A part of a result, or of a prompt.
pub(super) fn part(content: ContentBlock) -> ResultPart {
    match content {
        ContentBlock::Text(text) => ResultPart::Text { text: text.text },
        ContentBlock::Image(image) => ResultPart::Picture { media_type: image.mime_type, data: image.data },
        ContentBlock::Audio(audio) => ResultPart::Other {
            media_type: audio.mime_type,
            name: String::new(),
            bytes: of_base64(audio.data.len()),
        },
        ContentBlock::ResourceLink(link) => {
            ResultPart::Link { address: link.uri, name: link.title.unwrap_or(link.name) }
        }
        ContentBlock::Resource(embedded) => contents(embedded.resource),
        _ => ResultPart::Other { media_type: "unknown".into(), name: String::new(), bytes: 0 },
    }
}

/// What a resource holds.
pub(super) fn contents(contents: ResourceContents) -> ResultPart {
    match contents {
        ResourceContents::TextResourceContents { text, .. } => ResultPart::Text { text },
        ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
            let media_type = mime_type.unwrap_or_else(|| "application/octet-stream".into());
            match media_type.starts_with("image/") {
                true => ResultPart::Picture { media_type, data: blob },
                false => ResultPart::Other { media_type, name: uri, bytes: of_base64(blob.len()) },
            }
        }
        _ => ResultPart::Other { media_type: "unknown".into(), name: String::new(), bytes: 0 },
    }
}

/// Bytes that so many characters of base64 stand for, about.
fn of_base64(characters: usize) -> u64 {
    characters as u64 * 3 / 4
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn outcome(result: Value) -> Outcome {
        of(serde_json::from_value(result).unwrap())
    }

    fn text(text: &str) -> ResultPart {
        ResultPart::Text { text: text.into() }
    }

    #[test]
    fn what_is_structured_is_told_where_no_text_says_it() {
        let both = json!({ "content": [{ "type": "text", "text": "3" }], "structuredContent": { "sum": 3 } });
        assert_eq!(outcome(both).parts, [text("3")]);
        let alone = json!({ "content": [], "structuredContent": { "sum": 3 } });
        assert_eq!(outcome(alone).parts, [text(r#"{"sum":3}"#)]);
    }

    #[test]
    fn a_failure_is_a_result_that_says_so() {
        let failed =
            outcome(json!({ "content": [{ "type": "text", "text": "no such file" }], "isError": true }));
        assert_eq!(failed, Outcome { parts: vec![text("no such file")], failed: true });
    }

    #[test]
    fn each_kind_of_content_is_taken_for_what_it_is() {
        let parts = outcome(json!({ "content": [
            { "type": "image", "data": "AAAA", "mimeType": "image/png" },
            { "type": "audio", "data": "AAAAAAAA", "mimeType": "audio/wav" },
            { "type": "resource_link", "uri": "file:///a", "name": "a", "title": "The file" },
            { "type": "resource", "resource": { "uri": "note://1", "mimeType": "text/plain", "text": "kept" } },
            { "type": "resource", "resource": { "uri": "note://2", "mimeType": "image/png", "blob": "BBBB" } },
            { "type": "resource", "resource": { "uri": "note://3", "blob": "CCCC" } },
        ] }))
        .parts;
        let picture = |data: &str| ResultPart::Picture { media_type: "image/png".into(), data: data.into() };
        let other = |media_type: &str, name: &str, bytes| ResultPart::Other {
            media_type: media_type.into(),
            name: name.into(),
            bytes,
        };
        assert_eq!(
            parts,
            [
                picture("AAAA"),
                other("audio/wav", "", 6),
                ResultPart::Link { address: "file:///a".into(), name: "The file".into() },
                text("kept"),
                picture("BBBB"),
                other("application/octet-stream", "note://3", 3),
            ]
        );
    }
}
