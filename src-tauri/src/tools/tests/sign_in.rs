//! Signing in to a server.

use foretoken_test_mcp::Vault;
use foretoken_tools::http;
use tokio::sync::oneshot;

use super::*;

impl Place {
    /// A server by this address that is on.
    async fn by_address(&self, slug: Option<&str>, address: &str) -> String {
        let transport = ServerTransport::Http { address: address.into(), headers: Vec::new() };
        let form =
            ServerForm { slug: slug.map(str::to_owned), name: "Vault".into(), transport, values: Vec::new() };
        let slug = self.put(form).await;
        assert!(self.enable(&slug, true).await);
        slug
    }

    /// Signs in with a browser that opens what it is told to.
    async fn sign_in(&self, slug: &str) -> Result<bool, ErrorReport> {
        in_time(self.toolbox.sign_in_by(slug, pages(), async |name, [address, tokens]| {
            assert!(tokens.ends_with("/token"), "{tokens}");
            assert_eq!(name, "Vault");
            tokio::spawn(browse(address));
            Ok(true)
        }))
        .await
    }

    fn kept(&self) -> Option<String> {
        self.keychain.secret.lock().unwrap().clone()
    }
}

fn pages() -> [String; 2] {
    ["in", "out"].map(String::from)
}

/// Opens an address as a browser does, and what that leads to.
async fn browse(address: String) -> String {
    let client = http::client(None).unwrap();
    let first = client.get(address).send().await.unwrap();
    let next = first.headers()["location"].to_str().unwrap().to_owned();
    client.get(next).send().await.unwrap().text().await.unwrap()
}

fn wants_a_sign_in(server: &ServerInfo) -> bool {
    matches!(&server.status, ServerStatus::Failed { error } if error.code == "server_sign_in")
}

#[tokio::test]
async fn what_a_server_grants_is_in_the_keychain_alone_and_goes_with_the_server() {
    let place = place();
    let vault = Vault::start(60);
    let slug = place.by_address(None, &vault.address).await;
    assert!(in_time(place.toolbox.start(slug.clone())).await.is_err());
    let server = place.server(&slug).await;
    assert!(wants_a_sign_in(&server) && !server.signed_in, "{server:?}");
    assert_eq!(place.keychain.asked.load(Ordering::Relaxed), 0);

    assert!(place.sign_in(&slug).await.unwrap());
    let server = place.server(&slug).await;
    assert_eq!((&server.status, server.signed_in), (&ServerStatus::Running, true), "{server:?}");
    let tool = place.offered(&slug, "refreshed").await;
    assert!(text(&place.call(&tool, json!({})).await.unwrap()).contains("refreshed 0 times"));
    let kept = place.kept().unwrap();
    let token = kept.split("access_token").nth(1).unwrap();
    let token = token.split('"').find(|part| part.len() > 30).unwrap().trim_end_matches('\\');
    let shown = format!("{}{:?}", place.stored().await, place.toolbox.state().await);
    assert!(!shown.contains(token), "{shown}");

    // Whoever is thrown out in the middle of a run is asked to sign in again.
    let throw_out = place.offered(&slug, "throw_out").await;
    place.call(&throw_out, json!({})).await.unwrap();
    assert!(place.call(&tool, json!({})).await.is_err());
    assert!(wants_a_sign_in(&place.server(&slug).await));
    assert!(place.sign_in(&slug).await.unwrap());

    in_time(place.toolbox.sign_out(slug.clone())).await.unwrap();
    assert_eq!(place.kept(), None);
    assert!(!place.server(&slug).await.signed_in);
    assert!(place.call(&tool, json!({})).await.is_err());
    assert!(place.sign_in(&slug).await.unwrap());
    // By another address it is another server.
    place.by_address(Some(&slug), &vault.address.replace("127.0.0.1", "localhost")).await;
    assert_eq!(place.kept(), None);
    assert!(!place.server(&slug).await.signed_in);

    place.by_address(Some(&slug), &vault.address).await;
    assert!(place.sign_in(&slug).await.unwrap());
    in_time(place.toolbox.remove(slug)).await.unwrap();
    assert_eq!(place.kept(), None);
}

#[tokio::test]
async fn nobody_is_signed_in_who_is_refused_or_does_not_want_to() {
    let place = place();
    let vault = Vault::start(60);
    let slug = place.by_address(None, &vault.address).await;
    let unwilling = place.toolbox.sign_in_by(&slug, pages(), async |_, _| Ok(false));
    assert!(!in_time(unwilling).await.unwrap());
    vault.refuse();
    let refused = place.sign_in(&slug).await.unwrap_err();
    assert_eq!(refused.code, "sign_in_failed");
    assert!(refused.message.contains("Vault") && refused.message.contains("access_denied"), "{refused:?}");
    assert_eq!(place.kept(), None);
    let server = place.server(&slug).await;
    assert!(!server.signed_in && server.status != ServerStatus::SigningIn, "{server:?}");

    // One that is switched off while the browser is elsewhere stays signed out.
    let (told, opened) = oneshot::channel();
    let toolbox = place.toolbox.clone();
    let of = slug.clone();
    let open = async move |_, _| {
        told.send(()).unwrap();
        Ok(true)
    };
    let signing_in = tokio::spawn(async move { toolbox.sign_in_by(&of, pages(), open).await });
    in_time(opened).await.unwrap();
    place.enable(&slug, false).await;
    assert!(!in_time(signing_in).await.unwrap().unwrap());
    assert!(!place.server(&slug).await.signed_in);
    place.enable(&slug, true).await;

    let program = place.on("files", &[]).await;
    assert_eq!(place.sign_in(&program).await.unwrap_err().code, "sign_in_not_offered");
    place.enable(&slug, false).await;
    assert_eq!(place.sign_in(&slug).await.unwrap_err().code, "server_off");
}

#[tokio::test]
async fn a_sign_in_is_given_up_by_the_person_and_by_the_next_one() {
    let place = place();
    let vault = Vault::start(60);
    let slug = place.by_address(None, &vault.address).await;
    let begin = || {
        let (told, opened) = oneshot::channel();
        let (toolbox, slug) = (place.toolbox.clone(), slug.clone());
        let open = async move |_, _| {
            told.send(()).unwrap();
            Ok(true)
        };
        (tokio::spawn(async move { toolbox.sign_in_by(&slug, pages(), open).await }), opened)
    };
    let (first, opened) = begin();
    in_time(opened).await.unwrap();
    assert_eq!(place.server(&slug).await.status, ServerStatus::SigningIn);
    let (second, opened) = begin();
    assert!(!in_time(first).await.unwrap().unwrap());
    in_time(opened).await.unwrap();
    assert_eq!(place.server(&slug).await.status, ServerStatus::SigningIn);
    place.toolbox.give_up_sign_in(&slug);
    assert!(!in_time(second).await.unwrap().unwrap());
    assert_ne!(place.server(&slug).await.status, ServerStatus::SigningIn);
}
