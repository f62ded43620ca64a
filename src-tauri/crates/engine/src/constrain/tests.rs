use foretoken_calls::{CallForm, CallParser, CallPiece, Tools, TypedCall};
use foretoken_protocol::{CallRule, Constraint as Asked, Format, Part};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;
use crate::text::testing::TOKENIZER;
use crate::text::{ReplyStart, TokenPrompt};

const VOCAB: u32 = 2048;
/// The tokens that end replies of the demo model.
const ENDS: [u32; 2] = [2038, 2040];
const CLOSE: u32 = 2043;
const CALL: u32 = 2044;

fn prompt(part: Part) -> TokenPrompt {
    TokenPrompt { start: ReplyStart { part, resumed: false }, ..TokenPrompt::plain(vec![1, 2, 3]) }
}

fn compiled(asked: &Asked, tools: &Tools, part: Part) -> Result<Constraint, ConstraintError> {
    compiled_in(CallForm::Tags, asked, tools, part)
}

/// The same for a model that writes calls so.
fn compiled_in(
    form: CallForm,
    asked: &Asked,
    tools: &Tools,
    part: Part,
) -> Result<Constraint, ConstraintError> {
    let compiler = Compiler::new(TOKENIZER.clone(), &ENDS, VOCAB as usize).with_calls_in(form);
    compiler
        .compile(asked, tools, &prompt(part))
        .map(|compiled| compiled.constraint.expect("something binds"))
}

fn schema(schema: Value) -> Asked {
    Asked { format: Some(Format::JsonSchema(schema)), ..Asked::default() }
}

fn person() -> Value {
    json!({"type": "object", "additionalProperties": false, "required": ["name", "age", "tags"], "properties": {
        "name": {"type": "string", "maxLength": 12}, "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "tags": {"type": "array", "maxItems": 3, "items": {"enum": ["red", "green", "blue"]}},
        "city": {"anyOf": [{"type": "string", "maxLength": 5}, {"type": "null"}]},
    }})
}

fn tools(strict: bool) -> Tools {
    let weather = json!({"type": "function", "function": {"name": "weather", "strict": strict, "parameters": {
        "type": "object", "required": ["place", "days"], "properties": {
            "place": {"type": "string"}, "days": {"type": "integer", "minimum": 1, "maximum": 9},
            "unit": {"enum": ["C", "F"]}, "sure": {"type": "boolean"},
            "at": {"$ref": "#/$defs/point"},
        }, "$defs": {"point": {"type": "object", "required": ["x"], "additionalProperties": false,
            "properties": {"x": {"type": "number"}}}},
    }}});
    Tools::new(vec![weather, json!({"type": "function", "function": {"name": "now"}})]).unwrap()
}

fn allowed(mask: Option<&Mask>) -> Vec<u32> {
    (0..VOCAB).filter(|&id| mask.is_none_or(|mask| mask.allows(id))).collect()
}

/// Writes on, by `choices`, and then as shortly as it can; the tokens without the one that ends the reply.
fn written(constraint: &Constraint, choices: &[usize]) -> Vec<u32> {
    let mut state = ConstraintState::new(constraint.clone());
    let mut tokens = Vec::new();
    let closers = ["\"", "}", "]"].map(|text| TOKENIZER.encode_text(text).unwrap()[0]);
    let newline = TOKENIZER.encode_text("\n").unwrap()[0];
    let mut queue = Vec::new();
    for step in 0..2000 {
        let open = allowed(state.mask().as_ref());
        let next = match choices.get(step) {
            // As models do: they never spell the tag.
            _ if open.len() < 1000 && open.contains(&CALL) => CALL,
            Some(choice) => open[choice % open.len()],
            // What may end ends.
            None if open.iter().any(|id| ENDS.contains(id)) => ENDS[1],
            None if queue.last().is_some_and(|id| open.contains(id)) => queue.pop().unwrap(),
            // In a text of a call.
            None if open.len() > 1000 && open.contains(&newline) => {
                queue = TOKENIZER.encode_text("\n</parameter>\n").unwrap();
                queue.reverse();
                queue.pop().unwrap()
            }
            None => *closers.iter().find(|id| open.contains(id)).unwrap_or(&open[step % open.len()]),
        };
        assert!(!state.is_broken());
        if ENDS.contains(&next) {
            return tokens;
        }
        tokens.push(next);
        state.push(next);
    }
    panic!("it does not come to an end: {:?}", TOKENIZER.decode(&tokens));
}

/// What may come at each place of a reply that holds these tokens follows from them alone: whoever comes there by
/// drafts, or replays them, finds the same, and who looked ahead stands where he stood.
fn assert_pure(constraint: &Constraint, tokens: &[u32], drafts: &[u32], at: usize) {
    let at = at % (tokens.len() + 1);
    let (before, rest) = tokens.split_at(at);
    let mut state = ConstraintState::replayed(constraint.clone(), before);
    let forced = state.forced();
    let first = state.mask();
    assert!(
        forced.first().is_none_or(|&token| first.as_ref().is_some_and(|mask| allowed(Some(mask)) == [token]))
    );
    // What was drafted right, then something else.
    let right = drafts.first().map_or(0, |&draft| draft as usize % (rest.len() + 1));
    let chain: Vec<u32> = rest[..right].iter().chain(drafts).copied().collect();
    for chain in [&chain[..], &forced] {
        let masks = state.masks(chain);
        assert_eq!(masks.len(), 1 + chain.len());
        let mut fresh = ConstraintState::replayed(constraint.clone(), before);
        for (mask, draft) in masks.iter().zip(chain.iter().map(Some).chain([None])) {
            let alone = fresh.mask();
            assert_eq!(&alone, mask, "behind {:?}", TOKENIZER.decode(before));
            match draft {
                Some(&draft) if alone.is_none_or(|mask| mask.allows(draft)) && !ENDS.contains(&draft) => {
                    fresh.push(draft);
                }
                _ => break,
            }
        }
        assert_eq!(state.mask(), first);
        assert_eq!(state.forced(), forced);
    }
    if let Some(&next) = rest.first() {
        state.push(next);
        let mut fresh = ConstraintState::replayed(constraint.clone(), &tokens[..=at]);
        assert_eq!(state.mask(), fresh.mask());
    }
}

fn calls_in(text: &str, tools: &Tools) -> Vec<TypedCall> {
    let mut parser = CallParser::default();
    let mut pieces = parser.push(text);
    pieces.extend(parser.finish());
    let call =
        |piece| if let CallPiece::End(call) = piece { Some(TypedCall::new(&call, tools)) } else { None };
    pieces.into_iter().filter_map(call).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn json_of_a_schema_is_written_and_nothing_else(
        choices in prop::collection::vec(any::<usize>(), 0..40),
        drafts in prop::collection::vec(0..VOCAB, 1..5),
        at in any::<usize>(),
    ) {
        let constraint = compiled(&schema(person()), &Tools::default(), Part::Answer).unwrap();
        let tokens = written(&constraint, &choices);
        let text = TOKENIZER.decode(&tokens);
        let value: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text:?}"));
        prop_assert!(value["name"].as_str().is_some_and(|name| name.chars().count() <= 12), "{}", text);
        prop_assert!(value["age"].as_u64().is_some_and(|age| age <= 150), "{}", text);
        let tags = value["tags"].as_array().unwrap();
        prop_assert!(tags.len() <= 3 && tags.iter().all(|tag| ["red", "green", "blue"].contains(&tag.as_str().unwrap())));
        assert_pure(&constraint, &tokens, &drafts, at);
    }

    #[test]
    fn calls_that_must_come_are_whole_and_of_their_types(
        choices in prop::collection::vec(any::<usize>(), 0..40),
        drafts in prop::collection::vec(0..VOCAB, 1..5),
        at in any::<usize>(),
        named in any::<bool>(),
    ) {
        let calls = if named { CallRule::Named("weather".into()) } else { CallRule::Required };
        let tools = tools(true);
        let constraint = compiled(&Asked { calls, ..Asked::default() }, &tools, Part::Answer).unwrap();
        let tokens = written(&constraint, &choices);
        let text = TOKENIZER.decode(&tokens);
        let calls = calls_in(&text, &tools);
        prop_assert!(!calls.is_empty() && (!named || calls.len() == 1 && calls[0].name == "weather"), "{}", text);
        for call in calls {
            prop_assert!(!call.cut && call.misfits.is_empty(), "{:?} in {:?}", call, text);
        }
        assert_pure(&constraint, &tokens, &drafts, at);
    }

    /// The same of a model that writes calls as JSON.
    #[test]
    fn calls_in_json_that_must_come_are_whole_and_of_their_types(
        choices in prop::collection::vec(any::<usize>(), 0..40),
        drafts in prop::collection::vec(0..VOCAB, 1..5),
        at in any::<usize>(),
        named in any::<bool>(),
        strict in any::<bool>(),
    ) {
        let calls = if named { CallRule::Named("weather".into()) } else { CallRule::Required };
        let tools = tools(strict);
        let asked = Asked { calls, ..Asked::default() };
        let constraint = compiled_in(CallForm::Json, &asked, &tools, Part::Answer).unwrap();
        let tokens = written(&constraint, &choices);
        let text = TOKENIZER.decode(&tokens);
        let calls = calls_in(&text, &tools);
        prop_assert!(!calls.is_empty() && (!named || calls.len() == 1 && calls[0].name == "weather"), "{}", text);
        let begin = "<tool_call>\n{\"name\": \"";
        prop_assert!(text.contains(begin), "{}", text);
        for call in calls {
            prop_assert!(!call.cut && call.misfits.is_empty(), "{:?} in {:?}", call, text);
        }
        assert_pure(&constraint, &tokens, &drafts, at);
    }

    /// The thinking may end anywhere among the drafts, and what is behind its end is bound at once.
    #[test]
    fn the_form_begins_behind_the_thinking(
        thinking in prop::collection::vec(0..2038u32, 0..6),
        choices in prop::collection::vec(any::<usize>(), 0..6),
        at in any::<usize>(),
    ) {
        let constraint = compiled(&schema(json!({"type": "array", "items": {"type": "boolean"}, "maxItems": 2})),
            &Tools::default(), Part::Thinking).unwrap();
        let answer = compiled(&schema(json!({"type": "array", "items": {"type": "boolean"}, "maxItems": 2})),
            &Tools::default(), Part::Answer).unwrap();
        let answer = written(&answer, &choices);
        let tokens = [&thinking[..], &[CLOSE], &answer].concat();
        let mut state = ConstraintState::new(constraint.clone());
        let masks = state.masks(&tokens);
        for (place, mask) in masks.iter().enumerate() {
            // In the thinking all may come but the end of the reply.
            let open = allowed(mask.as_ref()).len() == VOCAB as usize - ENDS.len();
            prop_assert_eq!(open, place <= thinking.len());
        }
        let end = ConstraintState::replayed(constraint.clone(), &tokens).mask().unwrap();
        prop_assert!(end.allows(ENDS[0]) && end.allows(ENDS[1]));
        assert_pure(&constraint, &tokens, &[7], at);
    }

    /// Free text, a bound call, free text again, in one chain of drafts.
    #[test]
    fn strict_calls_are_bound_and_the_text_around_them_is_free(
        before in prop::collection::vec(0..2038u32, 0..4),
        choices in prop::collection::vec(any::<usize>(), 0..30),
        at in any::<usize>(),
    ) {
        let tools = tools(true);
        let constraint = compiled(&Asked::default(), &tools, Part::Answer).unwrap();
        let named = Asked { calls: CallRule::Named("weather".into()), ..Asked::default() };
        let call = written(&compiled(&named, &tools, Part::Answer).unwrap(), &choices);
        // The blank before it is none of the call's.
        let begin = call.iter().position(|&id| id == CALL).unwrap();
        let call = &call[begin..];
        let tokens = [&before[..], call, &before, call, &before].concat();
        let masks = ConstraintState::new(constraint.clone()).masks(&tokens);
        let bound = masks.iter().filter(|mask| mask.is_some()).count();
        prop_assert_eq!(bound, 2 * (call.len() - 1));
        let text = TOKENIZER.decode(call);
        let calls = calls_in(&text, &tools);
        prop_assert!(calls.len() == 1 && calls[0].misfits.is_empty(), "{}", text);
        assert_pure(&constraint, &tokens, &[9], at);
    }
}

#[test]
fn a_thinking_budget_closes_the_block_behind_so_many_tokens() {
    let closing = TOKENIZER.encode("\n</think>\n\n").unwrap();
    for budget in [0, 1, 5] {
        let asked = Asked { thinking_budget: Some(budget), ..Asked::default() };
        let constraint = compiled(&asked, &Tools::default(), Part::Thinking).unwrap();
        let thinking: Vec<u32> = (100..100 + budget).collect();
        let mut state = ConstraintState::replayed(constraint.clone(), &thinking);
        assert_eq!(state.forced(), closing);
        let masks = state.masks(&closing);
        for (mask, token) in masks.iter().zip(&closing) {
            assert_eq!(allowed(mask.as_ref()), [*token]);
        }
        assert_eq!(masks[closing.len()], None, "the answer is free");
        assert!(!constraint.has_cut_thinking(&thinking), "it may still end by itself");
        assert!(constraint.has_cut_thinking(&[&thinking[..], &closing].concat()));
        // Who ends by itself is not held to it.
        if budget > 0 {
            let own = [&thinking[..budget as usize - 1], &[CLOSE], &[5; 9]].concat();
            assert_eq!(ConstraintState::replayed(constraint.clone(), &own).mask(), None);
            assert!(!constraint.has_cut_thinking(&own));
        }
        assert_eq!(ConstraintState::new(constraint).mask().is_some(), budget == 0);
    }
}

/// What was found behind drafts that did not stay is forgotten, however alike the ways there are.
#[test]
fn rejected_drafts_leave_nothing_behind() {
    // Tokens like `}}` tell how deep it is.
    let value = json!({"anyOf": [{"type": "string"}, {"$ref": "#/$defs/object"}]});
    let nested = json!({"$ref": "#/$defs/object", "$defs": {"object": {"type": "object", "additionalProperties": value}}});
    let constraint = compiled(&schema(nested), &Tools::default(), Part::Answer).unwrap();
    let id = |text: &str| TOKENIZER.encode_text(text).unwrap()[0];
    let pieces = ["{", "}", "\"", "\":", ":", ","].map(id);
    let mut rng = 7_u64;
    let mut below = |end: usize| {
        rng = rng.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (rng >> 33) as usize % end
    };
    let mut any_of = |mask: Option<Mask>| {
        let open: Vec<u32> =
            pieces.into_iter().filter(|&id| mask.as_ref().is_none_or(|mask| mask.allows(id))).collect();
        open.get(below(open.len().max(1))).copied()
    };
    for _ in 0..300 {
        let mut state = ConstraintState::new(constraint.clone());
        let mut tokens = Vec::new();
        for _ in 0..12 {
            // A chain of drafts, and another way to go on.
            let mut way = |most: usize| {
                let mut ahead = ConstraintState::replayed(constraint.clone(), &tokens);
                let mut way = Vec::new();
                while let (Some(next), true) = (any_of(ahead.mask()), way.len() < most) {
                    ahead.push(next);
                    way.push(next);
                }
                way
            };
            let (drafts, other) = (way(4), way(3));
            state.masks(&drafts);
            other.iter().for_each(|&next| state.push(next));
            tokens.extend(other);
            let fresh = ConstraintState::replayed(constraint.clone(), &tokens).mask();
            assert_eq!(state.mask(), fresh, "behind {:?} and drafts {drafts:?}", TOKENIZER.decode(&tokens));
        }
    }
}

/// Values that read as tags, empty ones and long ones come back as they were written.
#[test]
fn texts_in_calls_are_read_as_they_were_written() {
    let parameters = json!({"type": "object", "required": ["a", "b"], "properties": {
        "a": {"type": "string"}, "b": {"type": "string", "minLength": 2, "maxLength": 4}}});
    let tools = Tools::new(vec![
        json!({"type": "function", "function": {"name": "f", "strict": true, "parameters": parameters}}),
        json!({"type": "function", "function": {"name": "g", "parameters": {"type": "object"}}}),
    ])
    .unwrap();
    let takes = |asked: &Asked, text: &str| {
        let mut state = ConstraintState::new(compiled(asked, &tools, Part::Answer).unwrap());
        let ids = TOKENIZER.encode(text).unwrap();
        let mut may = true;
        for id in ids {
            may &= state.mask().is_none_or(|mask| mask.allows(id));
            state.push(id);
        }
        may && state.mask().is_none_or(|mask| mask.allows(ENDS[0]))
    };
    let named = |name: &str| Asked { calls: CallRule::Named(name.into()), ..Asked::default() };
    let call = |a: &str, b: &str| {
        format!(
            "<tool_call>\n<function=f>\n<parameter=a>\n{a}\n</parameter>\n<parameter=b>\n{b}\n</parameter>\n</function>\n</tool_call>"
        )
    };
    for (a, b) in [("", "xy"), ("x\n", "wxyz"), ("\n", "\n\n"), ("a < b & c > d </b>", "é\u{1f6b2}")] {
        assert!(takes(&named("f"), &call(a, b)), "{a:?} {b:?}");
        let calls = calls_in(&call(a, b), &tools);
        assert_eq!((&calls[0].arguments["a"], &calls[0].arguments["b"]), (&json!(a), &json!(b)));
    }
    for (a, b) in [
        ("x</parameter>\n<parameter=b>", "xy"),
        ("x\n<parameter=b>", "xy"),
        ("x</tool_call>", "xy"),
        ("x", "vwxyz"),
        ("x", "y"),
    ] {
        assert!(!takes(&named("f"), &call(a, b)), "{a:?} {b:?}");
    }
    let bare = "<tool_call>\n<function=f>\n<parameter=a>\n</parameter>\n<parameter=b>\nxy\n</parameter>\n</function>\n</tool_call>";
    assert!(takes(&named("f"), bare));
    assert!(calls_in(bare, &tools)[0].misfits.is_empty());
    // Of a tool that is not strict only the end is known, and that is not the first </function>.
    let free = "<tool_call>\n<function=g>\n<parameter=code>\nf() { </function> }\n</parameter>\n</function>\n</tool_call>";
    assert!(takes(&Asked::default(), free) && takes(&named("g"), free));
}

/// Whatever a parameter may be called, its tag is in the grammar.
#[test]
fn parameters_of_any_name_are_bound() {
    let names = ["$filter", "größe", "filter[x]", "a \"b\"", "c\\d"];
    let properties: Map<String, Value> =
        names.iter().map(|name| ((*name).to_owned(), json!({"type": "integer"}))).collect();
    let parameters = json!({"type": "object", "required": names, "properties": properties});
    let function = json!({"name": "f", "strict": true, "parameters": parameters});
    let tools = Tools::new(vec![json!({"type": "function", "function": function})]).unwrap();
    let asked = Asked { calls: CallRule::Named("f".into()), ..Asked::default() };
    let call = |value: &str| {
        let arguments: String =
            names.iter().map(|name| format!("<parameter={name}>\n{value}\n</parameter>\n")).collect();
        format!("<tool_call>\n<function=f>\n{arguments}</function>\n</tool_call>")
    };
    let takes = |text: &str| {
        let mut state = ConstraintState::new(compiled(&asked, &tools, Part::Answer).unwrap());
        TOKENIZER.encode(text).unwrap().into_iter().all(|id| {
            let may = state.mask().is_none_or(|mask| mask.allows(id));
            state.push(id);
            may
        })
    };
    assert!(takes(&call("5")) && !takes(&call("x")));
    let read = &calls_in(&call("5"), &tools)[0];
    assert!(read.misfits.is_empty() && names.iter().all(|name| read.arguments[*name] == 5), "{read:?}");
}

/// Of a strict tool the arguments are of its schema in JSON, too; of another one only the end is known.
#[test]
fn strict_calls_in_json_are_of_their_schema() {
    let tools = Tools::new(vec![
        json!({"type": "function", "function": {"name": "f", "strict": true, "parameters": {
            "type": "object", "required": ["a"], "additionalProperties": false,
            "properties": {"a": {"type": "string", "maxLength": 4}, "b": {"$ref": "#/$defs/n"}},
            "$defs": {"n": {"type": "integer"}}}}}),
        json!({"type": "function", "function": {"name": "g"}}),
    ])
    .unwrap();
    let constraint = compiled_in(CallForm::Json, &Asked::default(), &tools, Part::Answer).unwrap();
    let takes = |call: &str| {
        let mut state = ConstraintState::new(constraint.clone());
        let ids = TOKENIZER.encode(&format!("I look.\n\n<tool_call>\n{call}\n</tool_call>")).unwrap();
        ids.into_iter().all(|id| {
            let may = state.mask().is_none_or(|mask| mask.allows(id));
            state.push(id);
            may
        })
    };
    for call in [
        r#"{"name": "f", "arguments": {"a": "x\"y"}}"#,
        r#"{"name": "f", "arguments": {"a": "", "b": -5}}"#,
        r#"{"name": "g", "arguments": {"c": [1]}}"#,
    ] {
        assert!(takes(call), "{call}");
    }
    for call in [
        r#"{"name": "f", "arguments": {}}"#,
        r#"{"name": "f", "arguments": {"a": "vwxyz"}}"#,
        r#"{"name": "f", "arguments": {"a": "", "b": "5"}}"#,
        r#"{"name": "h", "arguments": {}}"#,
        "<function=f>",
    ] {
        assert!(!takes(call), "{call}");
    }
}

/// Tools that take one text: the texts of each form that may be written, and those that may not.
fn texts() -> Vec<(Format, Vec<&'static str>, Vec<&'static str>)> {
    let patch = "start: \"*** Begin\" LF line+ \"*** End\" LF?\n\
                 line: (\"+\" | \"-\" | \" \") /(.*)/ LF -> line // a note\n\
                 %import common.LF";
    let sentence = "start: WORD (\" \" WORD)* \".\"\nWORD: /[a-z]+/\n  | \"it's\"";
    let list = "start: item item\nitem: /[a-z]+/\n%import common.WS\n%ignore WS";
    vec![
        (
            Format::Regex(r"(add|drop) [a-z/]{1,6}(\n[+-][^\n]*)*".into()),
            vec!["add a/b", "drop x\n+</b>\n-\"q\"", "add a\n+"],
            vec!["add", "add a\n+</parameter>", "keep a", "add a\n"],
        ),
        (
            Format::Lark(patch.into()),
            vec![
                "*** Begin\n+a < b</x>\n*** End",
                "*** Begin\n-\n \\\"\n*** End\n",
                "*** Begin\n+ü\n*** End",
            ],
            vec!["*** Begin\n*** End", "hello", "*** Begin\n+a</parameter>\n*** End", "*** Begin\n+a\n"],
        ),
        (Format::Lark(sentence.into()), vec!["it's so.", "a b c."], vec!["", "a b", "A b.", "a b.\n"]),
        (Format::Lark(list.into()), vec!["a b", "a\n\nb"], vec!["a", "a b c", "a 5"]),
        (Format::Lark("start: /[\\s\\S]+/".into()), vec!["a", "a\n\nb", "a <b>\n x"], vec!["a</tool_call>b"]),
    ]
}

fn text_tools() -> Tools {
    let parameters =
        json!({"type": "object", "required": ["input"], "properties": {"input": {"type": "string"}}});
    let tool = |name: &str| json!({"type": "function", "function": {"name": name, "parameters": parameters}});
    Tools::new(vec![tool("edit"), tool("other")]).unwrap()
}

/// Wherever a tool that takes a text is called, the text has the tool's form; that of another tool is free.
#[test]
fn the_text_of_a_tool_has_its_form() {
    let tools = text_tools();
    for (format, right, wrong) in texts() {
        for calls in [CallRule::Free, CallRule::Required, CallRule::Named("edit".into())] {
            let inputs = [("edit".to_owned(), format.clone())].into();
            let asked = Asked { calls, inputs, ..Asked::default() };
            let constraint = compiled(&asked, &tools, Part::Answer).unwrap();
            let takes = |name: &str, text: &str| {
                let call = format!(
                    "<tool_call>\n<function={name}>\n<parameter=input>\n{text}\n</parameter>\n</function>\n</tool_call>"
                );
                let mut state = ConstraintState::new(constraint.clone());
                let may = TOKENIZER.encode(&call).unwrap().into_iter().all(|id| {
                    let may = state.mask().is_none_or(|mask| mask.allows(id));
                    state.push(id);
                    may
                });
                assert!(!may || calls_in(&call, &tools)[0].arguments["input"] == text, "{call}");
                may && state.mask().is_none_or(|mask| mask.allows(ENDS[0]))
            };
            for text in &right {
                assert!(takes("edit", text), "{text:?} of {format:?}, {:?}", asked.calls);
            }
            for text in &wrong {
                assert!(!takes("edit", text), "{text:?} of {format:?}, {:?}", asked.calls);
            }
            assert_eq!(takes("other", "any text"), !matches!(asked.calls, CallRule::Named(_)));
        }
    }
}

/// Within JSON a regular expression holds for the text that the JSON stands for; a grammar in Lark is left to the
/// model.
#[test]
fn the_text_of_a_tool_has_its_form_in_json_where_that_can_be_said() {
    let tools = text_tools();
    for (format, right, wrong) in texts() {
        let is_told = matches!(format, Format::Regex(_));
        let inputs = [("edit".to_owned(), format.clone())].into();
        let asked = Asked { calls: CallRule::Required, inputs, ..Asked::default() };
        let constraint = compiled_in(CallForm::Json, &asked, &tools, Part::Answer).unwrap();
        let takes = |text: &str| {
            let call = json!({"name": "edit", "arguments": {"input": text}}).to_string();
            let call = call.replacen("\":", "\": ", 2).replacen(",\"", ", \"", 1);
            let mut state = ConstraintState::new(constraint.clone());
            TOKENIZER.encode(&format!("<tool_call>\n{call}\n</tool_call>")).unwrap().into_iter().all(|id| {
                let may = state.mask().is_none_or(|mask| mask.allows(id));
                state.push(id);
                may
            })
        };
        right.iter().for_each(|text| assert!(takes(text), "{text:?} of {format:?}"));
        // A tag within JSON is text.
        let wrong = wrong.iter().filter(|text| !text.contains("</parameter>"));
        wrong.for_each(|text| assert_eq!(takes(text), !is_told, "{text:?} of {format:?}"));
    }
}

#[test]
fn a_form_that_is_none_is_refused() {
    let tools = text_tools();
    for format in [
        Format::Regex("(".into()),
        Format::Lark("start: nothing".into()),
        Format::Lark("start: \"a\"\n".repeat(2000)),
        Format::Lark("start: } x".into()),
    ] {
        let asked = Asked { inputs: [("edit".to_owned(), format)].into(), ..Asked::default() };
        let error = compiled(&asked, &tools, Part::Answer).unwrap_err();
        assert!(matches!(error, ConstraintError::Grammar { .. }), "{error}");
    }
}

/// Whatever a tool's schema holds, the grammar of its calls is one, and what it writes is read back.
#[test]
fn odd_schemas_of_tools_make_grammars_too() {
    let odd = [
        "a \"quoted\" one",
        "back\\slash",
        "two\nlines",
        "%json {}",
        "ü \u{1f6b2}",
        "/x/",
        "</parameter>",
        "\u{1}",
    ];
    let parameters = json!({"type": "object", "required": ["odd", "any"], "properties": {
        "odd": {"enum": odd}, "none": {"enum": []}, "any": true, "never": false, "empty": {},
        "deep": {"$ref": "#/$defs/tree"}, "x-1.y": {"type": ["integer", "null"]},
    }, "$defs": {"tree": {"type": "array", "items": {"$ref": "#/$defs/tree"}, "maxItems": 1}}});
    let names: Vec<String> = (0..100).map(|number| format!("tool-{number}.v_1")).collect();
    let list =
        |name: &String| json!({"type": "function", "function": {"name": name, "parameters": parameters}});
    let tools = Tools::new(names.iter().map(list).collect()).unwrap();
    let asked = Asked { calls: CallRule::Named("tool-7.v_1".into()), ..Asked::default() };
    for choice in 0..odd.len() {
        let constraint = compiled(&asked, &tools, Part::Answer).unwrap();
        let text = TOKENIZER.decode(&written(&constraint, &[choice, 0, 5, choice, 2, choice, 11, 3]));
        let calls = calls_in(&text, &tools);
        assert!(
            matches!(&calls[..], [call] if call.misfits.is_empty() && !call.cut),
            "{calls:?} in {text:?}"
        );
    }
    let required = Asked { calls: CallRule::Required, ..Asked::default() };
    let text = TOKENIZER.decode(&written(&compiled(&required, &tools, Part::Answer).unwrap(), &[9, 8, 7, 6]));
    assert!(!calls_in(&text, &tools).is_empty(), "{text}");
}

/// A tool whose schema is too odd is called all the same, with any arguments, and the others as their schemas say.
#[test]
fn a_tool_that_must_be_called_is_called_whatever_its_schema_holds() {
    let function = |name: &str, strict: bool, parameters: Value| json!({"type": "function", "function": {"name": name, "strict": strict, "parameters": parameters}});
    let odd = || json!({"type": "object", "properties": {"at": {"type": "array", "items": {"$ref": "#/$defs/none"}}}});
    let day = json!({"type": "object", "required": ["day"], "properties": {"day": {"enum": [1, 2]}}});
    let list = |strict: bool| {
        Tools::new(vec![function("odd", strict, odd()), function("plain", false, day.clone())]).unwrap()
    };
    let named = |name: &str| Asked { calls: CallRule::Named(name.into()), ..Asked::default() };
    let required = Asked { calls: CallRule::Required, ..Asked::default() };
    for form in [CallForm::Tags, CallForm::Json] {
        let compiler = Compiler::new(TOKENIZER.clone(), &ENDS, VOCAB as usize).with_calls_in(form);
        for (asked, unbound) in [(&named("odd"), &["odd"][..]), (&named("plain"), &[]), (&required, &["odd"])]
        {
            let compiled = compiler.compile(asked, &list(false), &prompt(Part::Answer)).unwrap();
            assert_eq!(compiled.unbound_tools, unbound, "{form:?} {asked:?}");
            let after = |text: &str| {
                let constraint = compiled.constraint.clone().unwrap();
                let mut state = ConstraintState::new(constraint);
                TOKENIZER.encode(text).unwrap().into_iter().all(|token| {
                    let may_come = state.mask().is_none_or(|mask| mask.allows(token));
                    state.push(token);
                    may_come
                })
            };
            let call = |name: &str, arguments: [&str; 2]| match form {
                CallForm::Tags => format!(
                    "<tool_call>\n<function={name}>\n<parameter={}>\n{}\n</parameter>\n</function>\n</tool_call>",
                    arguments[0], arguments[1]
                ),
                CallForm::Json => format!(
                    "<tool_call>\n{{\"name\": \"{name}\", \"arguments\": {{\"{}\": {}}}}}\n</tool_call>",
                    arguments[0], arguments[1]
                ),
            };
            let may_call = |name: &str| asked.calls == CallRule::Required || *asked == named(name);
            assert_eq!(after(&call("odd", ["at", "[5]"])), may_call("odd"), "{form:?} {asked:?}");
            assert_eq!(after(&call("plain", ["day", "2"])), may_call("plain"), "{form:?} {asked:?}");
            assert!(!after(&call("plain", ["day", "3"])), "{form:?} {asked:?}");
        }
        let strict = compiler.compile(&named("odd"), &list(true), &prompt(Part::Answer));
        assert!(matches!(strict, Err(ConstraintError::Grammar { .. })), "{strict:?}");
    }
}

#[test]
fn json_beside_tools_is_either() {
    let constraint = compiled(&schema(json!({"type": "integer"})), &tools(false), Part::Answer).unwrap();
    let mut state = ConstraintState::new(constraint);
    let begins = |text: &str| TOKENIZER.encode(text).unwrap()[0];
    let mask = state.mask().unwrap();
    assert!(mask.allows(begins("7")) && mask.allows(begins("<tool_call>")) && mask.allows(begins("\n")));
    assert!(!mask.allows(begins("a")) && !mask.allows(begins("{")) && !mask.allows(ENDS[0]));
    state.push(begins("7"));
    assert!(state.mask().unwrap().allows(ENDS[0]) && state.mask().unwrap().allows(begins("7")));
}

#[test]
fn patterns_and_grammars_bind_the_whole_answer() {
    for format in [
        Format::Regex("(yes|no), \\d{2}".into()),
        Format::Lark(r#"start: ("yes" | "no") ", " /\d{2}/"#.into()),
    ] {
        let asked = Asked { format: Some(format), ..Asked::default() };
        let constraint = compiled(&asked, &Tools::default(), Part::Answer).unwrap();
        let text = TOKENIZER.decode(&written(&constraint, &[3, 1, 4, 1, 5]));
        let text = text.trim_start();
        assert!(text.starts_with("yes, ") || text.starts_with("no, "), "{text}");
        assert_eq!(text.chars().filter(char::is_ascii_digit).count(), 2, "{text}");
    }
}

/// Words that no tokenizer would spell by the tokens of their text as a whole still come out, byte by byte.
#[test]
fn a_constant_reads_as_it_is_written() {
    for constant in ["<|im_end|>", "</think>", "e\u{301}\u{1f6b2}", "a \"quoted\" \\ text"] {
        let constraint =
            compiled(&schema(json!({"const": constant})), &Tools::default(), Part::Answer).unwrap();
        let text = TOKENIZER.decode(&written(&constraint, &[]));
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), constant, "{text}");
    }
}

#[test]
fn what_cannot_be_enforced_is_refused_and_says_why() {
    let refused = |asked: &Asked, tools: &Tools| compiled(asked, tools, Part::Answer).unwrap_err();
    let none = Tools::default();
    let keyword = refused(&schema(json!({"type": "array", "uniqueItems": true})), &none);
    assert!(keyword.to_string().contains("uniqueItems"), "{keyword}");
    let remote = refused(&schema(json!({"$ref": "https://example.com/schema"})), &none);
    assert!(matches!(remote, ConstraintError::Grammar { what: "schema", .. }), "{remote}");
    for format in
        [Format::Regex("(".into()), Format::Lark("start: nothing".into()), Format::JsonSchema(json!(false))]
    {
        let error = refused(&Asked { format: Some(format), ..Asked::default() }, &none);
        assert!(matches!(error, ConstraintError::Grammar { .. }), "{error}");
    }
    let required = Asked { calls: CallRule::Required, ..Asked::default() };
    assert_eq!(refused(&required, &none), ConstraintError::NoTools);
    let named = Asked { calls: CallRule::Named("other".into()), ..Asked::default() };
    assert_eq!(refused(&named, &tools(false)), ConstraintError::UnknownTool { name: "other".into() });
    // It cannot be taken back, so that drafts would end it.
    let limited = Format::Lark("start: x\nx[max_tokens=5]: /.*/".into());
    assert!(matches!(
        refused(&Asked { format: Some(limited), ..Asked::default() }, &none),
        ConstraintError::Grammar { .. }
    ));
    let chain: String = (0..20_000).map(|rule| format!("a{rule}: \"x\" a{}\n", rule + 1)).collect();
    let chain = Format::Lark(format!("start: a0\n{chain}a20000: \"x\""));
    assert!(matches!(
        refused(&Asked { format: Some(chain), ..Asked::default() }, &none),
        ConstraintError::Grammar { .. }
    ));
    for (word, property) in [
        ("pattern", json!({"type": "string", "pattern": "b+"})),
        ("not", json!({"not": {"const": "b"}})),
        ("$ref", json!({"$ref": "https://example.com/a.json"})),
    ] {
        let parameters = json!({"type": "object", "properties": {"a": property}});
        let strict = Tools::new(vec![
            json!({"type": "function", "function": {"name": "f", "strict": true, "parameters": parameters}}),
        ])
        .unwrap();
        let refused = refused(&Asked::default(), &strict).to_string();
        assert!(refused.contains(&format!("{word:?} of the parameter")), "{refused}");
    }
    let broken = Format::Lark("start: nothing\nsecret: \"x\"".into());
    let words = refused(&Asked { format: Some(broken), ..Asked::default() }, &none).to_string();
    assert!(words.lines().count() == 1 && !words.contains("secret"), "{words}");
    let defs = json!({"$defs": {"x": {"const": "y".repeat(9000)}}, "type": "object", "properties":
        (0..1000).map(|i| (format!("p{i}"), json!({"type": "integer", "$ref": "#/$defs/x"}))).collect::<serde_json::Map<_, _>>()});
    let large = json!({"type": "function", "function": {"name": "f", "strict": true, "parameters": defs}});
    let large = Tools::new(vec![large]).unwrap();
    let required = Asked { calls: CallRule::Required, ..Asked::default() };
    assert!(refused(&required, &large).to_string().contains("longer than"));
    let bias = Asked { logit_bias: vec![(VOCAB, 1.0)], ..Asked::default() };
    assert_eq!(refused(&bias, &none), ConstraintError::UnknownToken { token: VOCAB, known: 2048 });
    let compiler = Compiler::new(TOKENIZER.clone(), &ENDS, VOCAB as usize);
    let resumed = TokenPrompt { reply_from: 1, ..prompt(Part::Answer) };
    assert_eq!(compiler.compile(&schema(json!({})), &none, &resumed).err(), Some(ConstraintError::Resumed));
    assert!(compiler.compile(&Asked::default(), &tools(false), &resumed).unwrap().constraint.is_none());
}

/// Every way to read what was written is followed, so that each token takes longer than the one before.
#[test]
fn a_grammar_that_takes_ever_longer_ends_the_reply() {
    let ways = (2..=12).map(|times| vec!["e"; times].join(" ")).collect::<Vec<_>>().join(" | ");
    let grammar = format!("start: e\ne: \"a\" | {ways}");
    let asked = Asked { format: Some(Format::Lark(grammar)), ..Asked::default() };
    let constraint = compiled(&asked, &Tools::default(), Part::Answer).unwrap();
    let a = TOKENIZER.encode_text("a").unwrap()[0];
    let mut state = ConstraintState::new(constraint.clone());
    let mut drafting = ConstraintState::new(constraint);
    let mut written = 0;
    while !state.is_broken() {
        assert!(written < 5000, "nothing ends it");
        assert!(allowed(state.mask().as_ref()).contains(&a) || state.is_broken());
        state.push(a);
        written += 1;
    }
    assert!(written > 5, "{written} tokens are no work");
    // With drafts it ends too: what is slow behind them counts, though the reply has not come to it.
    for _ in 0..written + 20 {
        let masks = drafting.masks(&[a; 3]);
        if drafting.is_broken() {
            return;
        }
        assert!(masks.iter().flatten().all(|mask| mask.allows(a)));
        drafting.push(a);
    }
    panic!("nothing ends it with drafts");
}
