//! What servers have for the person.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use foretoken_protocol::PastedFile;

use super::*;

fn content(file: &PastedFile) -> String {
    String::from_utf8(BASE64_STANDARD.decode(&file.content).unwrap()).unwrap()
}

#[tokio::test]
async fn what_servers_have_is_listed_and_had() {
    let place = place();
    let slug = place.on("notes", &[]).await;
    place.on("Broken one", &["--fault", Fault::DiesAtStart.as_argument()]).await;
    place.put(place.form("off", &[])).await;
    let offers = in_time(place.toolbox.offers()).await.unwrap();
    let [broken, notes] = &offers[..] else { panic!("{offers:?}") };
    assert!(broken.error.is_some() && broken.resources.is_empty() && broken.prompts.is_empty());
    assert_eq!((&notes.slug, &notes.name, &notes.error), (&slug, &"notes".to_owned(), &None));
    let [resource] = &notes.resources[..] else { panic!("{notes:?}") };
    let [prompt] = &notes.prompts[..] else { panic!("{notes:?}") };

    let files = in_time(place.toolbox.resource(&slug, resource.address.clone())).await.unwrap();
    let [file] = &files[..] else { panic!("{files:?}") };
    assert!(file.name.starts_with("one") && !content(file).is_empty(), "{file:?}");
    let gone = in_time(place.toolbox.resource(&slug, "note://two".into())).await.unwrap_err();
    assert_eq!(gone.code, "server_refused");

    let [argument] = &prompt.arguments[..] else { panic!("{prompt:?}") };
    let fill = async |value: &str| {
        let filled = BTreeMap::from([(argument.name.clone(), value.to_owned())]);
        in_time(place.toolbox.prompt(&slug, prompt.name.clone(), filled)).await
    };
    let (filled, files) = fill("Ada\u{202e}").await.unwrap();
    assert!(filled.text.contains("Ada⟨U+202E⟩") && files.is_empty(), "{filled:?}");
    assert_eq!(filled.attached.notes, Vec::<String>::new());
    let (long, _) = fill(&"a".repeat(200_001)).await.unwrap();
    assert_eq!((long.text.len(), long.attached.notes.len()), (200_000, 1));
    // What is empty is not filled in.
    assert_eq!(fill(" ").await.is_err(), argument.required);
    in_time(place.toolbox.close()).await;
}

#[tokio::test]
async fn a_server_that_is_off_is_not_asked() {
    let place = place();
    let slug = place.on("notes", &[]).await;
    place.enable(&slug, false).await;
    assert_eq!(in_time(place.toolbox.offers()).await.unwrap(), []);
    let refused = in_time(place.toolbox.resource(&slug, "note://one".into())).await.unwrap_err();
    assert_eq!(refused.code, "server_off");
    assert_eq!(place.running("notes"), 0);
}
