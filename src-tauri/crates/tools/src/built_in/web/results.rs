//! What a SearXNG has found, as text.

use std::fmt::Write as _;

use reqwest::Url;
use serde::Deserialize;
use serde_json::Value;

use super::error::WebError;

/// Results that are told.
const MOST: usize = 8;
/// The longest title, address and snippet, in characters. Longer addresses are left out with their results.
const LONGEST: (usize, usize, usize) = (200, 1_000, 500);

#[derive(Deserialize)]
struct Answer {
    results: Vec<Found>,
}

/// A result; whatever it lacks, or has in another form, is as if it were empty.
#[derive(Deserialize)]
struct Found {
    #[serde(default)]
    url: Value,
    #[serde(default)]
    title: Value,
    #[serde(default)]
    content: Value,
}

/// The results that are in this answer, each with its number, title, address and snippet.
pub(super) fn results(json: &[u8]) -> Result<String, WebError> {
    let answer: Answer = serde_json::from_slice(json).map_err(|_| WebError::NoResults)?;
    let mut text = String::new();
    let told = answer.results.iter().filter_map(|found| Some((address(&found.url)?, found))).take(MOST);
    for (at, (address, found)) in told.enumerate() {
        let title = match line(&found.title, LONGEST.0) {
            title if title.is_empty() => address.host_str().unwrap_or_default().to_owned(),
            title => title,
        };
        let separator = if at == 0 { "" } else { "\n" };
        let _ = writeln!(text, "{separator}{}. {title}\n   {address}", at + 1);
        let snippet = line(&found.content, LONGEST.2);
        if !snippet.is_empty() {
            let _ = writeln!(text, "   {snippet}");
        }
    }
    Ok(if text.is_empty() { "Nothing was found.".to_owned() } else { text.trim_end().to_owned() })
}

fn address(value: &Value) -> Option<Url> {
    let address: Url = value.as_str()?.parse().ok()?;
    let is_page = matches!(address.scheme(), "http" | "https") && address.username().is_empty();
    (is_page && address.password().is_none() && address.as_str().len() <= LONGEST.1).then_some(address)
}

/// A text on one line, without characters that people do not see, cut where it is longer than `most`.
fn line(value: &Value, most: usize) -> String {
    let (text, _) = crate::stripped(value.as_str().unwrap_or_default());
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(found: Value) -> String {
        results(json!({ "query": "q", "results": found }).to_string().as_bytes()).unwrap()
    }

    #[test]
    fn results_are_numbered_with_title_address_and_snippet() {
        let text = told(json!([
            { "url": "https://example.org/a b", "title": " An\n example ", "content": "Short \u{202e}text.", "x": 1 },
            { "url": "http://example.com/", "title": null, "content": 3 },
        ]));
        let expected = "1. An example\n   https://example.org/a%20b\n   Short text.\n\n\
                        2. example.com\n   http://example.com/";
        assert_eq!(text, expected);
    }

    #[test]
    fn what_is_no_page_is_left_out_and_no_more_than_eight_are_told() {
        let text = told(json!([
            { "url": "javascript:alert(1)", "title": "a" },
            { "url": "https://a:b@example.org/", "title": "b" },
            { "title": "c" },
            { "url": format!("https://example.org/{}", "x".repeat(2_000)) },
        ]));
        assert_eq!(text, "Nothing was found.");
        let many: Vec<_> =
            (0..30).map(|n| json!({ "url": format!("https://{n}.org/"), "title": "t" })).collect();
        let text = told(json!(many));
        assert!(text.contains("8. t\n   https://7.org/") && !text.contains("https://8.org/"));
    }

    #[test]
    fn long_texts_are_cut_and_what_hides_is_gone() {
        let text = told(json!([{
            "url": "https://example.org/",
            "title": "ä".repeat(300),
            "content": format!("a\u{200b}b\u{e0041}\u{1b}[31m{}", " word".repeat(200)),
        }]));
        assert!(text.contains(&format!("1. {}…", "ä".repeat(200))) && text.ends_with('…'));
        assert_eq!(crate::stripped(&text).1, 0);
    }

    #[test]
    fn what_is_no_list_of_results_is_said_to_be_none() {
        for json in ["", "[]", "{}", "<html>", r#"{"results": 3}"#] {
            assert_eq!(results(json.as_bytes()), Err(WebError::NoResults), "{json}");
        }
        assert_eq!(told(json!([])), "Nothing was found.");
    }
}
