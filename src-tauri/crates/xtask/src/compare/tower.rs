//! Times the vision tower of Qwen3.5-0.8B's shape, with random weights, beside mlx-vlm's.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::{last_line, machine};
use crate::error::{Error, Result};
use crate::prepared::write;
use crate::process;
use crate::setup;
use crate::workspace::Workspace;

const SCRIPT: &str = include_str!("tower.py");
const CHECKPOINTS: &str = "tests/oracle/make_vision_checkpoint.py";
/// The checkpoint and the side of the picture in pixels, those first that take a processor minutes. Four megapixels go
/// through one block alone.
const CASES: [(&str, u32); 4] =
    [("tower-0.8b", 512), ("tower-0.8b-block", 1024), ("tower-0.8b-block", 2048), ("tower-0.8b", 1024)];

/// What one program took for a picture.
#[derive(Debug, Deserialize)]
struct Took {
    /// From the pixels to the features; ours with reading and checking their file.
    seconds: f64,
    /// The most memory that MLX held, weights included; ours until the first token, with the small model behind.
    peak: f64,
}

/// The last line of `generate`.
#[derive(Deserialize)]
struct Finished {
    stats: Stats,
}

#[derive(Deserialize)]
struct Stats {
    tower_seconds: f64,
    peak_memory_bytes: f64,
}

/// Measures each case once with each program, and prints a table.
pub(super) fn run(workspace: &Workspace, engine: &Path) -> Result<()> {
    let python = setup::mlx_vlm(workspace)?;
    let folder = workspace.target().join("compare");
    fs::create_dir_all(&folder).map_err(Error::file(&folder))?;
    let script = folder.join("tower.py");
    write(&script, SCRIPT)?;
    println!("{}\n", machine::describe(workspace));
    for (preset, side) in CASES {
        let (model, picture) = (folder.join(preset), folder.join(format!("{side}.png")));
        let made = workspace.root().join(CHECKPOINTS);
        process::read(
            workspace.command(&python).arg(&made).arg(preset).arg(&model).args(["--dtype", "float32"]),
        )?;
        let settings = model.join("preprocessor_config.json");
        let draw = format!(
            "import json, numpy, PIL.Image\n\
             noise = numpy.random.default_rng(1).integers(0, 256, ({side}, {side}, 3), 'uint8')\n\
             PIL.Image.fromarray(noise).save({picture:?})\n\
             settings = json.load(open({settings:?}))\n\
             settings['size'] = {{'shortest_edge': 65536, 'longest_edge': 16777216}}\n\
             json.dump(settings, open({settings:?}, 'w'))"
        );
        process::read(workspace.command(&python).args(["-c", &draw]))?;
        let ours = ours(workspace, engine, &model, &picture)?;
        let theirs = theirs(workspace, &python, &script, &model, &picture);
        println!("{preset}, {side} × {side} pixels");
        println!("  Foretoken  {:8.2} s  {:8.0} MB", ours.seconds, ours.peak / 1e6);
        match theirs {
            Ok(theirs) => println!(
                "  mlx-vlm    {:8.2} s  {:8.0} MB   {:.2} times the time, {:.2} times the memory",
                theirs.seconds,
                theirs.peak / 1e6,
                theirs.seconds / ours.seconds,
                theirs.peak / ours.peak
            ),
            Err(error) => println!("  mlx-vlm is left out: {}", last_line(&error.to_string())),
        }
    }
    Ok(())
}

fn ours(workspace: &Workspace, engine: &Path, model: &Path, picture: &Path) -> Result<Took> {
    let mut command = workspace.command(engine);
    command.arg("generate").arg("--model").arg(model).arg("--image").arg(picture);
    command.args(["--prompt", "What is it?", "--detail", "original", "--max-tokens", "1", "--json"]);
    let Finished { stats } = parsed(&mut command)?;
    Ok(Took { seconds: stats.tower_seconds, peak: stats.peak_memory_bytes })
}

fn theirs(workspace: &Workspace, python: &Path, script: &Path, model: &Path, picture: &Path) -> Result<Took> {
    parsed(workspace.command(python).arg(script).arg(model).arg(picture))
}

fn parsed<T: DeserializeOwned>(command: &mut Command) -> Result<T> {
    let text = process::read(command)?;
    serde_json::from_str(text.lines().last().unwrap_or_default())
        .map_err(|error| Error::Output { line: process::line(command), why: error.to_string() })
}
