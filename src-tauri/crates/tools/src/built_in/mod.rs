//! The tools that are part of the app: what each is called, what it tells the model of itself, and its arguments. What
//! they do is in files of their own.

mod arguments;
pub mod calculator;
pub mod date;
pub mod files;
mod own;
pub mod web;

use serde_json::{Map, Value};

use crate::tool::{Claims, Definition, Effects, Outcome};
use arguments::{Argument, check, schema};

pub use own::OwnTool;

/// A built-in tool that computes on this machine and reaches nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BuiltIn {
    /// Exact arithmetic.
    Calculator,
    /// The date and the time.
    Date,
}

impl BuiltIn {
    /// All of them, in the order in which they are listed.
    pub fn all() -> &'static [Self] {
        &[Self::Calculator, Self::Date]
    }

    /// The one that has this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::all().iter().copied().find(|tool| tool.name() == name)
    }

    /// The name by which a model calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Calculator => "calculator",
            Self::Date => "current_date",
        }
    }

    /// What the model and the person are told of it.
    pub fn definition(self) -> Definition {
        Definition {
            name: self.name().to_owned(),
            title: Some(self.title().to_owned()),
            description: self.description().to_owned(),
            parameters: schema(self.arguments()),
            results: None,
            claims: Claims {
                reads_only: Some(true),
                destroys: Some(false),
                repeatable: Some(true),
                reaches_out: Some(false),
            },
        }
    }

    /// What a call may do beside giving a result: nothing.
    pub fn effects(self) -> Effects {
        match self {
            Self::Calculator | Self::Date => Effects::NONE,
        }
    }

    /// Checks the arguments, and runs the tool at the moment `now`. The calculator may compute for about a fifth of a
    /// second, during which it does not yield.
    pub fn call(self, arguments: &Map<String, Value>, now: jiff::Zoned) -> Outcome {
        let text = |name: &str| arguments.get(name).and_then(Value::as_str);
        if let Err(problem) = check(self.arguments(), arguments) {
            return Outcome::failure(problem);
        }
        let result = match self {
            Self::Calculator => calculator::calculate(text("expression").unwrap_or_default())
                .map_err(|error| format!("{error} {}", error.hint())),
            Self::Date => date::current_date(&now, text("time_zone"), text("days_until"))
                .map_err(|error| format!("{error} {}", error.hint())),
        };
        result.map_or_else(Outcome::failure, Outcome::text)
    }

    fn title(self) -> &'static str {
        match self {
            Self::Calculator => "Calculator",
            Self::Date => "Date and time",
        }
    }

    fn description(self) -> &'static str {
        match self {
            Self::Calculator => {
                "Computes an arithmetic expression. A result without \"approx.\" or \"about\" is exact, with integers \
                 and fractions of any size. It knows + - * / ^ ! %, parentheses, pi, e, sqrt(), exp(), ln(), log10(), \
                 sin(), cos(), tan(), abs(), floor(), ceil(), round(), min() and max(). 10% is 0.1. Write decimals \
                 with a point, no thousands separators, no variables, no units. Example: \
                 (12.5% of 80 + 2^10) / 3."
            }
            Self::Date => {
                "Tells the current date, time, weekday, ISO week and UTC offset, on the user's computer or in \
                 another time zone, and how many days are left until a date. Example: {\"time_zone\": \
                 \"Asia/Tokyo\", \"days_until\": \"2027-01-01\"}. Both arguments are optional."
            }
        }
    }

    fn arguments(self) -> &'static [Argument] {
        match self {
            Self::Calculator => &[Argument {
                name: "expression",
                description: "The expression, at most 1000 characters.",
                required: true,
            }],
            Self::Date => &[
                Argument {
                    name: "time_zone",
                    description: "IANA name of a time zone, such as Europe/Berlin. Without it, the user's.",
                    required: false,
                },
                Argument {
                    name: "days_until",
                    description: "A date as YYYY-MM-DD, to count the days until it.",
                    required: false,
                },
            ],
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(tool: BuiltIn, arguments: Value) -> Outcome {
        let now = "2026-11-22T09:05:07+01:00[Europe/Berlin]".parse().unwrap();
        tool.call(arguments.as_object().unwrap(), now)
    }

    #[test]
    fn each_tool_is_found_by_its_name_and_reaches_nothing() {
        for tool in BuiltIn::all() {
            assert_eq!(BuiltIn::named(tool.name()), Some(*tool));
            assert_eq!(tool.effects(), Effects::NONE);
        }
        assert_eq!(BuiltIn::named("shell"), None);
    }

    #[test]
    fn definitions_are_tools_of_which_a_model_can_be_told() {
        let listed = |definition: Definition| {
            let Definition { name, description, parameters, .. } = definition;
            json!({
                "type": "function",
                "function": { "name": name, "description": description, "parameters": parameters },
            })
        };
        let listed = BuiltIn::all().iter().map(|tool| listed(tool.definition())).collect();
        let tools = foretoken_calls::Tools::new(listed).unwrap();
        assert!(tools.names().eq(["calculator", "current_date"]));
        for tool in BuiltIn::all() {
            let definition = tool.definition();
            assert!(definition.description.len() <= 1_024);
            assert_eq!(definition.parameters["additionalProperties"], json!(false));
        }
        let required = |tool: BuiltIn| tool.definition().parameters["required"].clone();
        assert_eq!(required(BuiltIn::Calculator), json!(["expression"]));
        assert_eq!(required(BuiltIn::Date), json!([]));
    }

    #[test]
    fn calls_give_results() {
        let sum = call(BuiltIn::Calculator, json!({ "expression": "1/4 + 1/4" }));
        assert_eq!(sum, Outcome::text("0.5"));
        let days = call(BuiltIn::Date, json!({ "days_until": "2026-12-24" }));
        assert_eq!(
            days,
            Outcome::text(
                "It is Sunday, 2026-11-22, 09:05:07 in Europe/Berlin (UTC+01:00). ISO week: 2026-W47. 2026-12-24, \
                 a Thursday, is in 32 days."
            )
        );
        assert!(!call(BuiltIn::Date, json!({})).failed);
    }

    #[test]
    fn the_examples_of_the_definitions_work() {
        let expression = "(12.5% of 80 + 2^10) / 3";
        assert!(BuiltIn::Calculator.description().contains(expression));
        assert!(!call(BuiltIn::Calculator, json!({ "expression": expression })).failed);
        let example = json!({ "time_zone": "Asia/Tokyo", "days_until": "2027-01-01" });
        assert!(!call(BuiltIn::Date, example).failed);
    }

    #[test]
    fn arguments_that_do_not_fit_say_what_was_expected_and_what_came() {
        for (tool, arguments, problem) in [
            (BuiltIn::Calculator, json!({}), "Expected \"expression\", a string, but it did not come."),
            (
                BuiltIn::Calculator,
                json!({ "expression": 4 }),
                "Expected \"expression\" to be a string, but a number came.",
            ),
            (
                BuiltIn::Calculator,
                json!({ "expression": "1", "digits": 3 }),
                "Expected \"expression\", but \"digits\" came, which is no argument here.",
            ),
            (
                BuiltIn::Date,
                json!({ "zone": "UTC" }),
                "Expected \"time_zone\" or \"days_until\", but \"zone\" came, which is no argument here.",
            ),
            (
                BuiltIn::Date,
                json!({ "time_zone": null }),
                "Expected \"time_zone\" to be a string, but null came.",
            ),
            (
                BuiltIn::Calculator,
                json!({ "expression": "1/0" }),
                "This cannot be computed: division by zero. Check the numbers and the parentheses.",
            ),
            (
                BuiltIn::Date,
                json!({ "days_until": "soon" }),
                "\"soon\" is no date. Give a day of the calendar as YYYY-MM-DD, such as 2027-02-28.",
            ),
        ] {
            assert_eq!(call(tool, arguments), Outcome::failure(problem));
        }
    }
}
