//! The TypeScript bindings of the commands, kept in step with the page by a test.

use std::{fs, path::Path};

use specta::datatype::{DataType, Fields, Primitive};
use specta_typescript::Typescript;
use specta_util::Remapper;
use tauri_specta::{BuilderConfiguration, LanguageExt};

/// TypeScript as the page wants it: every number is a `number` and every field is there. What the shell sends holds no
/// NaN and no integer above 2^53, and the page sends whole settings.
struct PageTypes;

impl LanguageExt for PageTypes {
    type Error = specta_typescript::Error;

    fn export(self, configuration: &BuilderConfiguration, path: &Path) -> Result<(), Self::Error> {
        let numbers = Remapper::new()
            .rule(Primitive::f32.into(), Primitive::u32.into())
            .rule(Primitive::f64.into(), Primitive::u32.into())
            .rule(Primitive::u64.into(), Primitive::u32.into());
        let mut configuration = configuration.clone();
        configuration.types = numbers.remap_types(configuration.types).map(|mut named| {
            if let Some(DataType::Struct(fields)) = &mut named.ty {
                fields.attributes.remove("serde:container:default");
                if let Fields::Named(named) = &mut fields.fields {
                    for (_, field) in &mut named.fields {
                        field.attributes.remove("serde:field:default");
                    }
                }
            }
            named
        });
        Typescript::default().export(&configuration, path)
    }
}

#[test]
fn bindings_are_up_to_date() {
    let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ui/src/bridge/bindings.ts");
    let folder = tempfile::tempdir().unwrap();
    let generated = folder.path().join("bindings.ts");
    crate::commands::builder().disable_serde_phases().export(PageTypes, &generated).unwrap();
    if std::env::var_os("UPDATE_BINDINGS").is_some() {
        fs::copy(&generated, &committed).unwrap();
    }
    let read = |path: &Path| fs::read_to_string(path).unwrap_or_default();
    assert!(
        read(&generated) == read(&committed),
        "ui/src/bridge/bindings.ts is out of date: run `UPDATE_BINDINGS=1 cargo test -p foretoken bindings`"
    );
}
