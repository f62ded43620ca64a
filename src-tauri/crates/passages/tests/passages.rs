//! Which passages of a document are found for a question.

use foretoken_passages::find;
use foretoken_protocol::Passage;
use proptest::prelude::*;

/// A text of so many sections, of which each is about a number and one about what is asked.
fn book(sections: usize, special: usize, sentence: &str) -> String {
    let filler = |section: usize| {
        format!("In part {section} the river goes on between its banks and nothing else happens there. ")
            .repeat(20)
    };
    (1..=sections)
        .map(|section| {
            let said = if section == special { sentence } else { "" };
            format!("## Chapter {section}\n\n{}{said}\n\n", filler(section))
        })
        .collect()
}

fn places(passages: &[Passage]) -> Vec<&str> {
    passages.iter().map(|passage| passage.place.as_str()).collect()
}

#[test]
fn the_passage_that_answers_is_found_wherever_it_stands() {
    for special in [1, 150, 300] {
        let text = book(300, special, "The owl’s bells rang at seven.");
        let found = find(&text, "When did the bell of the owls ring?", 400).unwrap();
        assert!(found.iter().any(|passage| passage.text.contains("rang at seven")), "{:?}", places(&found));
        assert!(
            found.iter().any(|passage| passage.place.starts_with(&format!("Chapter {special}"))),
            "{:?}",
            places(&found)
        );
    }
}

#[test]
fn words_of_scripts_without_spaces_are_found_within_a_text() {
    let filler = "河水在两岸之间流淌，什么也没有发生。".repeat(30);
    let text: String = (1..40)
        .map(|section| {
            format!("# {section}\n\n{filler}{}\n\n", if section == 20 { "猫头鹰在七点敲钟。" } else { "" })
        })
        .collect();
    let found = find(&text, "猫头鹰什么时候敲钟？", 600).unwrap();
    assert!(found.iter().any(|passage| passage.text.contains("七点")), "{:?}", places(&found));
}

#[test]
fn neighbours_are_joined_and_the_order_is_that_of_the_text() {
    let text = book(12, 0, "");
    let all = find(&text, "river", 100_000).unwrap();
    assert_eq!(places(&all), ["Chapter 1 to Chapter 12"]);
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words(&all[0].text), words(&text), "nothing is lost between passages");
    let some = find(&text, "part 9 or part 3", 900).unwrap();
    assert_eq!(some.len(), 2, "{:?}", places(&some));
    assert!(
        some[0].place.starts_with("Chapter 3,") && some[1].place.starts_with("Chapter 9,"),
        "{:?}",
        places(&some)
    );
}

#[test]
fn a_question_whose_words_do_not_occur_gets_the_beginning() {
    let text = book(40, 0, "");
    for question in ["Zusammenfassung?", "?!", ""] {
        let found = find(&text, question, 500).unwrap();
        assert_eq!(places(&found), ["Chapter 1, lines 1–3"]);
    }
    assert_eq!(find("", "anything", 500).unwrap(), []);
}

#[test]
fn rows_of_a_sheet_come_with_what_their_columns_are_called() {
    let rows: String = (1..2000).map(|row| format!("bird {row},{}\n", row * 7)).collect();
    let found =
        find(&format!("## Sheet: Birds\n\nname,weight in grams\n{rows}"), "What does bird 1500 weigh?", 400)
            .unwrap();
    let row = found.iter().find(|passage| passage.text.contains("bird 1500,10500")).expect("the row");
    assert!(row.text.starts_with("name,weight in grams\n"), "{}", row.text);
    assert!(row.place.starts_with("Sheet: Birds, lines 1"), "{}", row.place);
}

#[test]
fn pages_and_slides_are_places() {
    let page = |number: usize, text: &str| format!("[Page {number}]\n\n{}\n\n", text.repeat(60));
    let text =
        [page(1, "Rivers flow and flow. "), page(2, "Owls hear very well. "), page(3, "Mice are small. ")]
            .concat();
    let found = find(&text, "Do owls hear?", 300).unwrap();
    assert_eq!(places(&found), ["Page 2"]);
}

#[test]
fn a_query_is_words_whatever_it_means_to_the_index() {
    let text = book(10, 5, "NEAR the owl.");
    for question in ["\"owl\" NEAR(", "owl* OR", "terms:owl", "owl AND NOT \"", "(", "-owl ^"] {
        find(&text, question, 300).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn all_of_a_text_is_in_its_passages(text in "([a-z。猫.]{0,30}[ \n]{0,3}|# [a-z]{1,5}\n|[a-z]{1,900}){0,60}") {
        let found = find(&text, "", usize::MAX / 2).unwrap();
        let letters = |text: &str| text.chars().filter(|character| !character.is_whitespace()).collect::<String>();
        let all: String = found.iter().map(|passage| letters(&passage.text)).collect();
        prop_assert_eq!(all, letters(&text));
    }
}
