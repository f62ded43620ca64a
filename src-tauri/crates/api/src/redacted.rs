//! What people and models say is in no log: whatever holds it prints its own name and nothing of that.

/// Has types print nothing but their names.
macro_rules! redacted {
    ($($name:ident),+ $(,)?) => {
        $(impl std::fmt::Debug for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        })+
    };
}

pub(crate) use redacted;

#[cfg(test)]
mod tests {
    use axum::http::HeaderMap;
    use foretoken_protocol::Part;
    use serde_json::{Value, json};

    use crate::content::{Gathered, Reader};
    use crate::fields::Fields;
    use crate::replies::{EndReason, Progress};
    use crate::testing::{CALL, happens, token, tools};
    use crate::{chat, completions, messages, parts, responses};

    /// Stands in each text of a request.
    const MARK: &str = "Mtskheta";

    fn printed(value: &impl std::fmt::Debug) -> String {
        format!("{value:?} {value:#?}")
    }

    fn body(fields: Value) -> Vec<u8> {
        let mut body = json!({"model": "m", "stop": MARK, "stop_sequences": [MARK], "metadata": {"a": MARK}});
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        body.to_string().into_bytes()
    }

    #[test]
    fn no_request_prints_what_it_says() {
        let schema = json!({"type": "object", "properties": {"a": {"const": MARK}}});
        let function =
            json!({"name": "f", "description": MARK, "parameters": schema, "input_schema": schema});
        let turns = json!([{"role": "user", "content": MARK}, {"role": "assistant", "content": MARK},
            {"role": "user", "content": [{"type": "text", "text": MARK},
                {"type": "input_image", "image_url": format!("data:;base64,{MARK}")}]}]);
        let headers = HeaderMap::new();
        let chat = body(json!({
            "messages": turns, "tools": [{"type": "function", "function": function}],
            "prediction": {"type": "content", "content": MARK},
            "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": schema}},
        }));
        let message = body(json!({"messages": turns, "system": MARK, "tools": [function]}));
        let completion = body(json!({"prompt": MARK, "suffix": MARK}));
        let response = body(json!({"input": turns, "instructions": MARK}));
        for said in [
            printed(&chat::parse(&chat, &headers).unwrap()),
            printed(&messages::parse(&message, &headers).unwrap()),
            printed(&completions::parse(&completion, &headers).unwrap()),
            printed(&responses::parse(&response, &headers).unwrap()),
            printed(&Fields::of_body(&chat).unwrap()),
            printed(&chat::input(&mut Fields::of_body(&chat).unwrap(), &mut Vec::new()).unwrap()),
            printed(&responses::input(&mut Fields::of_body(&response).unwrap(), &mut Vec::new()).unwrap()),
            printed(&parts::read("content", Some(MARK.into()), "").unwrap()),
        ] {
            assert!(!said.contains(MARK), "{said}");
        }
    }

    #[test]
    fn no_reply_prints_what_it_says() {
        let call = CALL.replace("\na\n", &format!("\n{MARK}\n"));
        let steps = vec![
            vec![token(Part::Thinking, MARK)],
            vec![token(Part::Answer, MARK), token(Part::Answer, &call)],
        ];
        let (mut reader, mut gathered) = (Reader::new(&tools()), Gathered::default());
        for step in &steps {
            reader.tokens(step).iter().for_each(|content| gathered.add(content));
        }
        let all = happens(&tools(), &steps, EndReason::StopText(MARK.into()));
        assert!(
            all.iter().any(|progress| matches!(progress, Progress::Step(step) if !step.contents.is_empty()))
        );
        for said in [printed(&reader), printed(&gathered), printed(&gathered.blocks()), printed(&all)] {
            assert!(!said.contains(MARK), "{said}");
        }
    }
}
