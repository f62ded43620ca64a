//! Pictures in exports and imports: what goes out, what comes back, and what is broken costs no chat.
#![cfg(unix)]

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::slice::from_ref;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use foretoken_chats::{ChatsError, SeenPicture, Store};
use foretoken_pictures::{SizeRule, prepare};
use foretoken_protocol::{
    ErrorReport, ExportReport, ExportedPictures, ImportReport, Message, MessagePicture, PictureDetail,
    PictureFormat,
};
use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::PngEncoder;
use image::codecs::webp::WebPEncoder;
use image::{DynamicImage, ImageEncoder, ImageFormat, Rgb, RgbImage};
use percent_encoding::percent_decode_str;
use rusqlite::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;

const SECRET: &[u8] = b"Secret";

/// A folder, a store in it and room for files.
struct TestStore {
    folder: TempDir,
    store: Store,
}

impl TestStore {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("chats.db")).unwrap();
        Self { folder, store }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Keeps a picture as the app does.
    fn give(&mut self, name: &str, content: &[u8], detail: PictureDetail) -> MessagePicture {
        let path = self.path("given");
        fs::write(&path, content).unwrap();
        let SeenPicture { facts, view } = look(&path, detail).unwrap();
        let kept = self.store.picture_files().keep(content, &view, &facts).unwrap();
        self.store.add_picture(&kept, name, detail).unwrap()
    }

    fn ask(&mut self, title: &str, pictures: &[MessagePicture]) -> Message {
        let chat = self.store.create_chat(title).unwrap().id;
        self.store.add_user_message_with_pictures(chat, None, "Who?", pictures).unwrap()
    }

    fn export(&self, pictures: ExportedPictures) -> (ExportReport, Value) {
        let path = self.path("export.json");
        let report = self.store.export_json(None, pictures, &path).unwrap();
        (report, serde_json::from_slice(&fs::read(path).unwrap()).unwrap())
    }

    fn import(&mut self, file: &Value) -> Result<ImportReport, ChatsError> {
        let path = self.path("import.json");
        // The order of the keys is that of the file.
        fs::write(&path, file.to_string()).unwrap();
        self.store.import(&path, &look)
    }

    /// The pictures of the first messages of the chats of this title, the newest chat first.
    fn pictures(&self, title: &str) -> Vec<Vec<MessagePicture>> {
        let mut chats = self.store.chats().unwrap();
        chats.retain(|chat| chat.title == title);
        chats.sort_by_key(|chat| std::cmp::Reverse(chat.id));
        let first = |chat: u32| self.store.messages(chat).unwrap().remove(0).pictures;
        chats.iter().map(|chat| first(chat.id)).collect()
    }
}

fn look(file: &Path, detail: PictureDetail) -> Result<SeenPicture, ErrorReport> {
    let out = tempfile::tempdir().unwrap();
    let facts = prepare(file, out.path(), SizeRule::default().within(detail))
        .map_err(|error| ErrorReport::from(&error))?;
    let view = fs::read(out.path().join(&facts.view)).unwrap();
    Ok(SeenPicture { facts, view })
}

/// The names of all that is in the folder of the pictures.
fn kept_names(test: &TestStore) -> BTreeSet<String> {
    let entries = |folder: &Path| {
        let entries = fs::read_dir(folder).into_iter().flatten();
        entries.map(|entry| entry.unwrap().path()).collect::<Vec<_>>()
    };
    let shards = entries(&test.path("pictures"));
    assert!(
        shards.iter().all(|shard| shard.file_name().unwrap().len() == 2),
        "nothing else is left: {shards:?}"
    );
    let files = shards.iter().flat_map(|shard| entries(shard));
    files.map(|file| file.file_name().unwrap().to_str().unwrap().to_owned()).collect()
}

/// The files of the pictures that an export holds.
fn held(file: &Value) -> Vec<Vec<u8>> {
    let pictures = file["pictures"].as_array().into_iter().flatten();
    pictures.map(|picture| STANDARD.decode(picture["data"].as_str().unwrap()).unwrap()).collect()
}

fn tells(file: &[u8]) -> bool {
    file.windows(SECRET.len()).any(|bytes| bytes == SECRET)
}

/// Four fields of different colours, so that no turn of it is another.
fn fields() -> RgbImage {
    RgbImage::from_fn(64, 48, |x, y| {
        let (right, low) = (2 * x >= 64, 2 * y >= 48);
        Rgb([if right { 220 } else { 20 }, if low { 200 } else { 40 }, x as u8])
    })
}

/// EXIF data that tell a camera and how the picture is to be turned.
fn exif(orientation: u16, big_endian: bool) -> Vec<u8> {
    let short = |number: u16| if big_endian { number.to_be_bytes() } else { number.to_le_bytes() };
    let long = |number: u32| if big_endian { number.to_be_bytes() } else { number.to_le_bytes() };
    let camera = b"SecretCam\0";
    let mut exif = if big_endian { b"MM".to_vec() } else { b"II".to_vec() };
    exif.extend(short(42));
    exif.extend(long(8));
    exif.extend(short(2));
    exif.extend([short(0x10f), short(2)].concat());
    exif.extend([long(camera.len() as u32), long(38)].concat());
    exif.extend([short(0x112), short(3)].concat());
    exif.extend(long(1));
    exif.extend([short(orientation), short(0)].concat());
    exif.extend(long(0));
    exif.extend(camera);
    exif
}

fn write(mut encoder: impl ImageEncoder, exif: Vec<u8>) {
    encoder.set_exif_metadata(exif).unwrap();
    let picture = fields();
    encoder.write_image(&picture, 64, 48, image::ExtendedColorType::Rgb8).unwrap();
}

/// A JPEG that tells secrets in EXIF, XMP and a comment, and that has another picture with secrets behind it.
fn jpeg(orientation: u16, big_endian: bool) -> Vec<u8> {
    let mut file = Vec::new();
    write(JpegEncoder::new_with_quality(&mut file, 98), exif(orientation, big_endian));
    let segment = |marker: u8, content: &[u8]| {
        [&[0xff, marker], &(content.len() as u16 + 2).to_be_bytes()[..], content].concat()
    };
    let told = [
        segment(0xe1, b"http://ns.adobe.com/xap/1.0/\0<x>Secret</x>"),
        segment(0xe2, b"MPF\0Secret"),
        segment(0xed, b"Photoshop 3.0\0Secret"),
        segment(0xfe, b"Secret"),
    ];
    let behind = file.clone();
    file.splice(2..2, told.concat());
    file.extend(behind);
    file
}

/// A PNG that tells secrets in EXIF and in texts.
fn png(orientation: u16, big_endian: bool) -> Vec<u8> {
    let mut file = Vec::new();
    write(PngEncoder::new(&mut file), exif(orientation, big_endian));
    let chunk = |name: &[u8; 4], content: &[u8]| {
        let named = [&name[..], content].concat();
        let length = (content.len() as u32).to_be_bytes();
        [&length[..], &named, &crc32fast::hash(&named).to_be_bytes()].concat()
    };
    let told = [
        chunk(b"tEXt", b"Comment\0Secret"),
        chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0<x>Secret</x>"),
        chunk(b"tIME", &[7, 230, 1, 1, 1, 1, 1]),
        chunk(b"seCr", b"Secret"),
    ];
    // Behind the signature and the first chunk.
    file.splice(33..33, told.concat());
    file.extend(b"Secret");
    file
}

/// A WebP that tells secrets in EXIF and XMP.
fn webp(orientation: u16, big_endian: bool) -> Vec<u8> {
    let mut file = Vec::new();
    write(WebPEncoder::new_lossless(&mut file), exif(orientation, big_endian));
    file.extend([&b"XMP "[..], &7_u32.to_le_bytes(), b"Secret!\0"].concat());
    let length = (file.len() - 8) as u32;
    file[4..8].copy_from_slice(&length.to_le_bytes());
    assert_eq!(&file[12..16], b"VP8X");
    file[20] |= 0b100;
    file
}

fn gif() -> Vec<u8> {
    let mut file = std::io::Cursor::new(Vec::new());
    DynamicImage::from(fields()).write_to(&mut file, ImageFormat::Gif).unwrap();
    let mut file = file.into_inner();
    // A comment before the end.
    let end = file.len() - 1;
    file.splice(end..end, *b"\x21\xfe\x06Secret\0");
    file
}

#[test]
fn pictures_come_back_byte_for_byte_and_each_is_in_the_file_once() {
    let mut from = TestStore::new();
    let (photo, drawing) = (jpeg(6, true), gif());
    let standard = from.give("owl.jpg", &photo, PictureDetail::Standard);
    let low = from.give("“owl”.jpg", &photo, PictureDetail::Low);
    let moving = from.give("bell.gif", &drawing, PictureDetail::High);
    assert_eq!(standard.hash, low.hash);
    let first = from.ask("Owls", &[standard.clone(), moving.clone(), standard.clone()]);
    from.store.edit_message_with_pictures(first.id, "Which?", from_ref(&moving)).unwrap();
    from.store.show_branch(first.id).unwrap();
    from.ask("Low owls", from_ref(&low));
    let gone = from.ask("Gone", from_ref(&standard));
    from.store.delete_chat(from.store.chat_of(gone.id).unwrap()).unwrap();
    let bytes = (photo.len() + drawing.len()) as u64;
    assert_eq!(from.store.size_of_pictures(None).unwrap(), bytes);
    assert_eq!(from.store.size_of_pictures_before(first.id).unwrap(), bytes);
    let chat = from.store.chats().unwrap().into_iter().find(|chat| chat.title == "Low owls").unwrap().id;
    assert_eq!(from.store.size_of_pictures(Some(chat)).unwrap(), photo.len() as u64);

    let (report, file) = from.export(ExportedPictures::AsTheyAre);
    assert_eq!(report, ExportReport { pictures: 2, views: 0, missing: 0 });
    assert_eq!(held(&file), [photo, drawing]);
    assert_eq!((&file["version"], &file["pictures"][0]["media_type"]), (&json!(1), &json!("image/jpeg")));

    let mut to = TestStore::new();
    let report = to.import(&file).unwrap();
    assert_eq!(report, ImportReport { chats: 2, messages: 3, left_out: 0, missing_pictures: 0 });
    assert_eq!(to.pictures("Owls"), [[standard.clone(), moving, standard]]);
    assert_eq!(to.pictures("Low owls"), [[low]]);
    assert_eq!(kept_names(&to), kept_names(&from));
    assert_eq!(
        to.export(ExportedPictures::AsTheyAre),
        (ExportReport { pictures: 2, views: 0, missing: 0 }, file)
    );
    let (report, nothing) = from.export(ExportedPictures::LeftOut);
    assert_eq!((report, nothing.get("pictures")), (ExportReport::default(), None));
}

#[test]
fn what_pictures_tell_is_taken_out_and_they_look_as_before() {
    let mut from = TestStore::new();
    let mut expected = Vec::new();
    for orientation in 0..=9 {
        for (name, content) in [
            ("owl.jpg", jpeg(orientation, orientation % 2 == 0)),
            ("owl.png", png(orientation, orientation % 2 == 1)),
            ("owl.webp", webp(orientation, orientation % 3 == 0)),
        ] {
            assert!(tells(&content));
            let picture = from.give(name, &content, PictureDetail::Standard);
            let view = from.store.picture_files().view(&picture.hash).unwrap();
            expected.push((picture.width, picture.height, fs::read(view).unwrap()));
            from.ask("Owls", &[picture]);
        }
    }
    let (report, file) = from.export(ExportedPictures::WithoutMetadata);
    assert_eq!(report, ExportReport { pictures: 30, views: 0, missing: 0 });
    // Those that are not to be turned are the same without metadata.
    let pictures = held(&file);
    assert_eq!(pictures.len(), 3 * 8);
    assert!(!pictures.iter().any(|picture| tells(picture)));

    let mut to = TestStore::new();
    assert_eq!(to.import(&file).unwrap().missing_pictures, 0);
    let mut came = to.pictures("Owls").concat();
    came.reverse();
    for (picture, (width, height, view)) in came.iter().zip(expected) {
        assert_eq!((picture.width, picture.height), (width, height), "{picture:?}");
        assert!(
            fs::read(to.store.picture_files().view(&picture.hash).unwrap()).unwrap() == view,
            "{picture:?}"
        );
        let original = fs::read(to.store.picture_files().original(&picture.hash).unwrap()).unwrap();
        assert_eq!(picture.bytes, original.len() as u64);
    }
    assert_eq!(to.export(ExportedPictures::WithoutMetadata).1, file, "there is nothing left to take out");
}

#[test]
fn what_cannot_be_parted_from_its_metadata_goes_out_as_people_see_it() {
    let mut from = TestStore::new();
    let mut cut = jpeg(1, false);
    // Decoders show it; where its pixels end is not told.
    let end = cut.windows(2).position(|pair| pair == [0xff, 0xd9]).unwrap();
    cut.truncate(end);
    let pictures = [("bell.gif", gif()), ("cut.jpg", cut)]
        .map(|(name, content)| from.give(name, &content, PictureDetail::Standard));
    from.ask("Bells", &pictures);
    let (report, file) = from.export(ExportedPictures::WithoutMetadata);
    assert_eq!(report, ExportReport { pictures: 2, views: 2, missing: 0 });
    let views = pictures.map(|picture| {
        let view = from.store.picture_files().view(&picture.hash).unwrap();
        fs::read(view).unwrap()
    });
    assert_eq!(held(&file), views);
    let named = &file["chats"][0]["messages"][0]["pictures"];
    assert_eq!((&named[0]["format"], &named[0]["name"]), (&json!("png"), &json!("bell.gif")));
    let mut to = TestStore::new();
    assert_eq!(to.import(&file).unwrap().missing_pictures, 0);
    let formats = to.pictures("Bells").concat().into_iter().map(|picture| picture.format);
    assert_eq!(formats.collect::<Vec<_>>(), [PictureFormat::Png, PictureFormat::Jpeg]);
}

#[test]
fn pictures_that_are_left_out_are_named_and_may_come_later() {
    let mut from = TestStore::new();
    let owl = from.give("owl.png", &png(1, false), PictureDetail::High);
    let bell = from.give("bell.gif", &gif(), PictureDetail::Low);
    from.ask("Owls", &[owl.clone(), bell.clone(), owl.clone()]);
    let (_, file) = from.export(ExportedPictures::LeftOut);
    let mut to = TestStore::new();
    assert_eq!(to.import(&file).unwrap().missing_pictures, 2);
    let missing = |picture: &MessagePicture| MessagePicture { missing: true, ..picture.clone() };
    assert_eq!(to.pictures("Owls"), [[missing(&owl), missing(&bell), missing(&owl)]]);
    assert_eq!(to.export(ExportedPictures::AsTheyAre).0, ExportReport { pictures: 0, views: 0, missing: 2 });
    assert_eq!(to.store.size_of_pictures(None).unwrap(), 0);
    to.give("other.png", &png(1, false), PictureDetail::Standard);
    assert_eq!(to.pictures("Owls"), [[owl.clone(), missing(&bell), owl.clone()]]);

    assert_eq!(from.import(&file).unwrap().missing_pictures, 0, "they are here");
    assert_eq!(from.pictures("Owls"), vec![vec![owl.clone(), bell, owl]; 2]);
}

#[test]
fn a_broken_picture_costs_no_chat() {
    let mut from = TestStore::new();
    let names = ["good", "changed", "cut", "nothing"];
    let pictures = names.map(|name| {
        // What is behind its end makes each another file.
        let content = [png(1, false), name.into()].concat();
        from.give(&format!("{name}.png"), &content, PictureDetail::Standard)
    });
    from.ask("Owls", &pictures);
    let (_, mut file) = from.export(ExportedPictures::AsTheyAre);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let data = text(&file["pictures"][1]["data"]);
    file["pictures"][1]["data"] = data.replacen("AAAA", "AAAB", 1).into();
    let data = text(&file["pictures"][2]["data"]);
    file["pictures"][2]["data"] = data[..data.len() - 3].into();
    // It is the one that its hash stands for, and no picture.
    let hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    file["pictures"][3] = json!({"hash": hash, "media_type": "image/png", "data": STANDARD.encode("abc")});
    file["chats"][0]["messages"][0]["pictures"][3]["hash"] = hash.into();

    let mut to = TestStore::new();
    let report = to.import(&file).unwrap();
    assert_eq!(report, ImportReport { chats: 1, messages: 1, left_out: 0, missing_pictures: 3 });
    let came = to.pictures("Owls").remove(0);
    assert_eq!(came[0], pictures[0]);
    let came: Vec<_> = came.iter().map(|picture| (picture.name.as_str(), picture.missing)).collect();
    assert_eq!(came, [("good.png", false), ("changed.png", true), ("cut.png", true), ("nothing.png", true)]);
    assert_eq!(kept_names(&to).len(), 2, "the good one and its view");
}

/// Pictures lie beside the files of other programs, or stay there.
#[test]
fn pictures_beside_the_chats_of_chatgpt_come_with_them() {
    let mut test = TestStore::new();
    let (owl, broken) = (jpeg(6, true), b"\x89PNG\r\n\x1a\nand nothing".to_vec());
    for (name, content) in [
        ("file-AB-owl.jpeg", &owl),
        ("file-ABC.dat", &gif()),
        ("file_0001-sanitized.png", &broken),
        ("secret.png", &gif()),
    ] {
        fs::write(test.path(name), content).unwrap();
    }
    let image = |pointer: &str| json!({"content_type": "image_asset_pointer", "asset_pointer": pointer});
    let node = |parent: Value, role: &str, parts: Value, children: Value| {
        json!({"parent": parent, "children": children, "message": {"author": {"role": role},
            "content": {"content_type": "multimodal_text", "parts": parts},
            "metadata": {"attachments": [{"id": "file-ABC", "name": "../The cat.gif"}]}}})
    };
    let seen = json!([image("file-service://file-AB"), image("sediment://file-ABC"), "Who?"]);
    let unseen = json!([
        image("file-service://file-gone"),
        image("sediment://file_0001"),
        "And?",
        image("file-service://../secret"),
        image("secret.png"),
        image("file-service://secret")
    ]);
    let many = json!(vec![image("file-service://file-AB"); 21]);
    let mapping = json!({
        "a": node(json!(null), "user", seen, json!(["b"])),
        "b": node(json!("a"), "assistant", json!([image("file-service://file-AB"), "An owl."]), json!(["c"])),
        "c": node(json!("b"), "user", unseen, json!(["d"])),
        "d": node(json!("c"), "user", many, json!([])),
    });
    let report = test.import(&json!([{"title": "Owls", "mapping": mapping, "current_node": "d"}])).unwrap();
    assert_eq!(report, ImportReport { chats: 1, messages: 4, left_out: 7, missing_pictures: 0 });
    let chat = test.store.chats().unwrap().remove(0).id;
    let messages = test.store.messages(chat).unwrap();
    let told: Vec<_> = messages.iter().map(|message| (&*message.text, message.pictures.len())).collect();
    let images = |count: usize| vec!["[image]"; count].join("\n\n");
    assert_eq!(
        told,
        [
            ("Who?", 2),
            ("[image]\n\nAn owl.", 0),
            (&*format!("{}\n\nAnd?\n\n{}", images(2), images(3)), 0),
            ("[image]", 20)
        ]
    );
    let [first, second] = &messages[0].pictures[..] else { panic!("two pictures") };
    assert_eq!((&*first.name, &*second.name), ("owl.jpeg", "The cat.gif"));
    // It is turned.
    assert_eq!((first.format, first.width, first.height), (PictureFormat::Jpeg, 48, 64));
    assert_eq!((second.format, first.missing, second.missing), (PictureFormat::Gif, false, false));
    assert_eq!(fs::read(test.store.picture_files().original(&first.hash).unwrap()).unwrap(), owl);
}

#[test]
fn pictures_of_lm_studio_come_from_the_folder_of_its_files() {
    let mut test = TestStore::new();
    let chats = test.path("conversations/birds");
    fs::create_dir_all(&chats).unwrap();
    fs::create_dir(test.path("user-files")).unwrap();
    fs::write(test.path("user-files/1735939134829 - owl.png"), png(1, false)).unwrap();
    let file = |name: &str, kind: &str| json!({"type": "file", "fileIdentifier": name, "fileType": kind});
    let asked = |parts: Value| json!({"versions": [{"role": "user", "content": parts}]});
    let conversation = json!({"name": null, "messages": [
        asked(json!([file("1735939134829 - owl.png", "image")])),
        asked(json!([file("gone.png", "image"), file("a.pdf", "pdf"), {"type": "text", "text": "And?"}])),
    ]});
    let path = chats.join("1.conversation.json");
    fs::write(&path, conversation.to_string()).unwrap();
    let report = test.store.import(&path, &look).unwrap();
    assert_eq!(report, ImportReport { chats: 1, messages: 2, left_out: 2, missing_pictures: 0 });
    let chat = test.store.chats().unwrap().remove(0);
    assert_eq!(chat.title, "owl.png");
    let messages = test.store.messages(chat.id).unwrap();
    let [owl] = &messages[0].pictures[..] else { panic!("one picture") };
    assert_eq!((&*owl.name, owl.format, owl.width), ("owl.png", PictureFormat::Png, 64));
    assert_eq!((&*messages[0].text, &*messages[1].text), ("", "[image]\n\n[attachment]\n\nAnd?"));
}

#[test]
fn a_message_has_no_more_pictures_than_one_that_is_sent() {
    let mut test = TestStore::new();
    let owl = test.give("owl.gif", &gif(), PictureDetail::Low);
    test.ask("Owls", from_ref(&owl));
    let (_, mut file) = test.export(ExportedPictures::AsTheyAre);
    let one = file["chats"][0]["messages"][0]["pictures"][0].clone();
    let named = |number: usize| {
        let mut one = one.clone();
        one["name"] = json!(format!("../{number}.gif"));
        one
    };
    file["chats"][0]["messages"][0]["pictures"] = (0..22).map(named).collect();
    let report = test.import(&file).unwrap();
    assert_eq!((report.chats, report.missing_pictures), (1, 2));
    let chat = test.store.chats().unwrap().into_iter().map(|chat| chat.id).max().unwrap();
    let message = test.store.messages(chat).unwrap().remove(0);
    assert_eq!(
        (message.pictures.len(), &*message.text),
        (20, "Who?\n\n[picture: 20.gif]\n[picture: 21.gif]")
    );
    assert!(message.pictures.iter().all(|picture| !picture.missing));
}

#[test]
fn names_lead_nowhere_and_a_hash_is_one() {
    let mut from = TestStore::new();
    let names = ["../x.png", "a\\..\\y.png", "\u{1b}[31mz\n\u{202e}.png", "..", "[*](<b>).png"];
    let pictures = names.map(|name| from.give(name, &png(1, false), PictureDetail::Standard));
    from.ask("Owls", &pictures);
    let (_, mut file) = from.export(ExportedPictures::AsTheyAre);
    let mut to = TestStore::new();
    to.import(&file).unwrap();
    let came = to.pictures("Owls").remove(0);
    let came: Vec<_> = came.iter().map(|picture| picture.name.as_str()).collect();
    assert_eq!(came, ["x.png", "y.png", "[31mz.png", "picture", "[*](<b>).png"]);

    let before = to.store.chats().unwrap();
    let mut reply = file.clone();
    reply["chats"][0]["messages"][0]["role"] = "assistant".into();
    let refused = ErrorReport::from(to.import(&reply).unwrap_err());
    assert!(refused.message.contains("message 1 has pictures, and is not the person's"), "{refused}");
    for hash in ["../../chats.db", "", "\u{1b}"] {
        file["chats"][0]["messages"][0]["pictures"][1]["hash"] = hash.into();
        let refused = ErrorReport::from(to.import(&file).unwrap_err());
        assert_eq!(refused.code, "not_importable");
        assert!(refused.message.contains("message 1 has a picture"), "{refused}");
        assert!(!refused.message.contains('\u{1b}'), "{refused:?}");
    }
    file["chats"][0]["messages"][0]["pictures"][1]["bytes"] = u64::MAX.into();
    assert!(to.import(&file).is_err());
    assert_eq!(to.store.chats().unwrap(), before);
}

/// The pictures that a Markdown file shows, beside it.
fn shown(markdown: &Path) -> Vec<PathBuf> {
    let text = fs::read_to_string(markdown).unwrap();
    let addresses = text.split("](").skip(1).map(|rest| rest.split_once(')').unwrap().0.to_owned());
    let file = |address: String| {
        markdown.parent().unwrap().join(percent_decode_str(&address).decode_utf8().unwrap().as_ref())
    };
    addresses.map(file).collect()
}

#[test]
fn markdown_shows_the_pictures_of_the_folder_beside_it() {
    let mut test = TestStore::new();
    let photo = jpeg(6, false);
    let owl = test.give("../<snowy> owl 100%.JPG", &photo, PictureDetail::Standard);
    let gone = test.give("gone *.png", &png(3, true), PictureDetail::Standard);
    let nameless = test.give("..", &webp(1, false), PictureDetail::Standard);
    fs::remove_file(test.store.picture_files().original(&gone.hash).unwrap()).unwrap();
    let asked = test.ask("Owls", &[owl.clone(), gone, owl, nameless]);
    let exports = test.path("My exports");
    fs::create_dir(&exports).unwrap();
    let path = exports.join("Öwls #1.md");
    let export = |pictures| test.store.export_markdown(asked.id, true, pictures, &path);

    let report = export(ExportedPictures::WithoutMetadata).unwrap();
    assert_eq!(report, ExportReport { pictures: 2, views: 0, missing: 1 });
    let folder = exports.join("Öwls #1-pictures");
    let files = [folder.join("1 -snowy- owl 100%.jpeg"), folder.join("2 picture.webp")];
    assert_eq!(shown(&path), [&files[0], &files[0], &files[1]].map(PathBuf::clone));
    assert!(!files.iter().any(|file| tells(&fs::read(file).unwrap())));
    let text = fs::read_to_string(&path).unwrap();
    let expected = "# Owls\n\n## You\n\n\
        ![\\<snowy\\> owl 100\\%.JPG](%C3%96wls%20%231-pictures/1%20-snowy-%20owl%20100%25.jpeg)\n\n\
        \\[picture: gone \\*.png\\]\n\n";
    assert!(text.starts_with(expected) && text.ends_with("\n\nWho?\n"), "{text}");

    // What was written before is a person's.
    fs::write(folder.join("notes.txt"), "mine").unwrap();
    export(ExportedPictures::AsTheyAre).unwrap();
    let again = exports.join("Öwls #1-pictures-2");
    assert_eq!(fs::read(&shown(&path)[0]).unwrap(), photo);
    assert!(shown(&path)[0].starts_with(&again));
    assert!(files.iter().all(|file| file.exists()));
    let entries = || fs::read_dir(&exports).unwrap().count();
    assert_eq!(entries(), 3);

    export(ExportedPictures::LeftOut).unwrap();
    assert_eq!((shown(&path), entries()), (vec![], 3));
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert!(export(ExportedPictures::AsTheyAre).is_err());
    assert_eq!(entries(), 3, "no folder is left without its file");
}

/// Names the folder with the file and the database to the importing process.
const FOLDER: &str = "FORETOKEN_CHATS_TEST_IMPORT";
const PICTURES: usize = 12;

/// Imports without end, and says on stderr which picture it looks at.
fn import_until_killed(folder: &Path) -> ! {
    let mut store = Store::open(&folder.join("chats.db")).unwrap();
    loop {
        let looked = |file: &Path, detail: PictureDetail| {
            // It fails when nobody listens any more, which ends this process.
            std::io::stderr().write_all(b"a picture\n").expect("somebody listens");
            look(file, detail)
        };
        store.import(&folder.join("chats.json"), &looked).unwrap();
    }
}

#[test]
#[ignore = "the process that the next test starts and kills"]
fn importer() {
    let folder = std::env::var_os(FOLDER).expect("is started by the other test");
    import_until_killed(Path::new(&folder));
}

#[test]
fn a_killed_import_leaves_whole_chats_and_no_file_for_good() {
    let mut from = TestStore::new();
    for number in 0..PICTURES {
        let content = [png(1, false), number.to_string().into()].concat();
        let picture = from.give("owl.png", &content, PictureDetail::Low);
        from.ask("Owls", &[picture]);
    }
    let test = TestStore::new();
    from.store.export_json(None, ExportedPictures::AsTheyAre, &test.path("chats.json")).unwrap();
    let TestStore { folder, store } = test;
    drop(store);
    let path = folder.path().join("chats.db");
    // Before all of them are looked at, between, and in the second import.
    for looks in [1, 5, PICTURES, PICTURES + 7] {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "importer", "--nocapture"])
            .env(FOLDER, folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let said: Vec<_> = lines.take(looks).map(Result::unwrap).collect();
        child.kill().unwrap();
        assert_eq!(
            std::os::unix::process::ExitStatusExt::signal(&child.wait().unwrap()),
            Some(9),
            "{said:?}"
        );

        let store = Store::open(&path).unwrap();
        let mut test = TestStore { folder: tempfile::tempdir().unwrap(), store };
        let chats = test.pictures("Owls");
        assert_eq!(chats.len() % PICTURES, 0, "all of the file or nothing");
        assert!(chats.iter().all(|pictures| pictures.len() == 1 && !pictures[0].missing));
        for chat in test.store.chats().unwrap() {
            test.store.delete_chat(chat.id).unwrap();
        }
        test.store.forget_deletions().unwrap();
        age(&path);
        while test.store.purge_deleted().unwrap() {}
        let pictures =
            fs::read_dir(folder.path().join("pictures")).unwrap().map(|entry| entry.unwrap().path());
        let left: Vec<_> = pictures.flat_map(|shard| fs::read_dir(shard).unwrap()).collect();
        assert!(left.is_empty(), "after {looks}: {left:?}");
    }
    let shards = fs::read_dir(folder.path().join("pictures")).unwrap();
    let names: Vec<_> = shards.map(|shard| shard.unwrap().file_name()).collect();
    assert!(names.iter().all(|name| name.len() == 2), "{names:?}");
}

/// Makes all that is in the folder of the pictures two days older, and their rows.
fn age(path: &Path) {
    let days = Duration::from_secs(2 * 24 * 60 * 60);
    let older = |path: &Path| {
        let file = File::open(path).unwrap();
        let modified = file.metadata().unwrap().modified().unwrap();
        file.set_modified(modified - days).unwrap();
    };
    for shard in fs::read_dir(path.with_file_name("pictures")).unwrap() {
        let shard = shard.unwrap().path();
        fs::read_dir(&shard).unwrap().for_each(|file| older(&file.unwrap().path()));
        older(&shard);
    }
    let row = "UPDATE picture SET added_at = added_at - ?1";
    Connection::open(path).unwrap().execute(row, [days.as_millis() as u64]).unwrap();
}
