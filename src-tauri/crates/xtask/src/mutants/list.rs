//! Mistakes that speculation on hybrid models invites.

/// One mistake.
pub(super) struct Mutant {
    pub(super) name: &'static str,
    /// Below the engine's `src`.
    pub(super) file: &'static str,
    /// What stands there, once.
    pub(super) from: &'static str,
    pub(super) to: &'static str,
    /// Where tests notice it: those of the engine's own parts, or those that span crates.
    pub(super) package: &'static str,
    /// Some of these tests, as nextest names them.
    pub(super) tests: &'static str,
}

const SPANNING: &str = "foretoken-tests";
const ENGINE: &str = "foretoken-engine";

pub(super) const MUTANTS: [Mutant; 42] = [
    Mutant {
        name: "one update too few is folded",
        file: "cache/delta_state.rs",
        from: "entries[..count].iter()",
        to: "entries[..count.saturating_sub(1)].iter()",
        package: SPANNING,
        tests: "test(one_row_in_f32)",
    },
    Mutant {
        name: "one update too many is folded where rows differ",
        file: "cache/delta_state.rs",
        from: "entries[..most].iter().enumerate() {
            let keeps: Vec<bool> = committed.iter().map(|&count| i < count)",
        to: "entries.iter().enumerate() {
            let keeps: Vec<bool> = committed.iter().map(|&count| i <= count)",
        package: SPANNING,
        tests: "test(several_rows_that_join_and_leave)",
    },
    Mutant {
        name: "the convolution's tail ignores a rejection",
        file: "cache/delta_state.rs",
        from: "self.window.slice_axis(1, count as i32, count as i32 + tail)",
        to: "self.window.slice_axis(1, width as i32, width as i32 + tail)",
        package: SPANNING,
        tests: "test(one_row_in_f32)",
    },
    Mutant {
        name: "the convolution's tail ignores a rejection where rows differ",
        file: "cache/delta_state.rs",
        from: "move |j| count as u32 + j as u32",
        to: "move |j| (entries.len() as u32).max(count as u32) + j as u32",
        package: SPANNING,
        tests: "test(several_rows_that_join_and_leave)",
    },
    Mutant {
        name: "attention keeps rejected positions",
        file: "decode/row.rs",
        from: "self.cache.kv.iter_mut().for_each(|kv| kv.rewind(cached));",
        to: "self.cache.kv.iter_mut().for_each(|kv| kv.rewind(cached + drafts.len()));",
        package: SPANNING,
        tests: "test(one_row_in_f32)",
    },
    Mutant {
        name: "the head keeps positions built from guesses",
        file: "decode/drafters/head.rs",
        from: "kv.rewind(pairs);",
        to: "kv.rewind(pairs + 1);",
        package: SPANNING,
        tests: "test(one_row_in_f32)",
    },
    Mutant {
        name: "penalties do not see the prompt",
        file: "decode/row.rs",
        from: "History::new(&words, reply, &spec.stop_ids)",
        to: "History::new(&words[..0], reply, &spec.stop_ids)",
        package: SPANNING,
        tests: "test(penalised_rows_follow_the_definition_at_every_depth)",
    },
    Mutant {
        name: "penalties count the prompt as a part of the reply",
        file: "decode/row.rs",
        from: "ctx.split_at(spec.reply_from)",
        to: "ctx.split_at(0)",
        package: SPANNING,
        tests: "test(penalised_rows_follow_the_definition_at_every_depth)",
    },
    Mutant {
        name: "penalties see an emitted token twice",
        file: "decode/row.rs",
        from: "history.push(emitted)?;",
        to: "history.push(emitted)?;
            history.push(emitted)?;",
        package: SPANNING,
        tests: "test(penalised_rows_follow_the_definition_at_every_depth)",
    },
    Mutant {
        name: "noise does not follow the position",
        file: "decode/drafters/mod.rs",
        from: "self.rows[b].sample_position(before.len(), seen[b].clone(), &before)",
        to: "self.rows[b].sample_position(before.len() + 1, seen[b].clone(), &before)",
        package: SPANNING,
        tests: "test(drafts_share_the_noise_of_their_positions)",
    },
    Mutant {
        name: "a row joins beside states that are not settled",
        file: "decode/batch.rs",
        from: "state.join(&self.committed, other_state, &other.committed)",
        to: "state.join(&vec![0; self.rows.len()], other_state, &other.committed)",
        package: SPANNING,
        tests: "test(a_row_may_join_after_any_step_and_after_the_last_has_left)",
    },
    Mutant {
        name: "one row's rejection is everybody's",
        file: "decode/verify.rs",
        from: "let verdict = row.commit(target, &draft, drafted.drafter(b), hidden, positions, begun)?;",
        to: "let veto = drafts.first() != host_tokens.first();
            let target = &target[..if veto { 1 } else { target.len() }];
            let verdict = row.commit(target, &draft, drafted.drafter(b), hidden, positions, begun)?;",
        package: SPANNING,
        tests: "test(nobody_vetoes)",
    },
    Mutant {
        name: "every row is at the first one's position",
        file: "model/packed.rs",
        from:
            "rows.iter().flat_map(|&(Position(start), len)| (start..start + len).map(|p| p as i32)).collect();
        let width",
        to: "rows.iter().flat_map(|&(_, len)| (rows[0].0.0..rows[0].0.0 + len).map(|p| p as i32)).collect();
        let width",
        package: SPANNING,
        tests: "test(every_kind_of_row_reads_the_same_alone_and_together)",
    },
    Mutant {
        name: "rows that stay lose what the last step committed",
        file: "decode/batch.rs",
        from: "state.keep(&self.committed, &kept)",
        to: "state.keep(&vec![0; self.committed.len()], &kept)",
        package: SPANNING,
        tests: "test(any_row_may_leave_at_any_step)",
    },
    Mutant {
        name: "a stop token among accepted drafts is passed over",
        file: "decode/row.rs",
        from: "emitted = &emitted[..=end];",
        to: "emitted = &emitted[..emitted.len().max(end)];",
        package: SPANNING,
        tests: "test(stop_tokens_end_rows_among_accepted_drafts)",
    },
    Mutant {
        name: "a swapped-out row loses its last position",
        file: "cache/spilled_row.rs",
        from: "kv.copy(0..kv.len())?",
        to: "kv.copy(0..kv.len().saturating_sub(1))?",
        package: SPANNING,
        tests: "test(every_row_may_move_after_every_step)",
    },
    Mutant {
        name: "a swapped-out row comes back whatever the file says",
        file: "cache/spill.rs",
        from: "if crc32fast::hash(&read) != array.checksum {",
        to: "if crc32fast::hash(&read) != array.checksum && array.bytes == 0 {",
        package: SPANNING,
        tests: "test(what_cannot_be_read_back_is_read_again)",
    },
    Mutant {
        name: "the draft model reads what the next token put out",
        file: "decode/row.rs",
        from: "self.unread_features.push(kept(features)?.contiguous()?);",
        to: "let end = (start + drafts.len() + 1) as i32;
            self.unread_features.push(features.slice_axis(0, end - count as i32, end)?.contiguous()?);",
        package: SPANNING,
        tests: "test(drafts_of_any_depth_leave_the_state_of_a_fresh_prefill)",
    },
    Mutant {
        name: "a block's place of the known token is taken for a guess",
        file: "model/dflash/network.rs",
        from: "end - row.count..end)",
        to: "end - row.count - 1..end - 1)",
        package: SPANNING,
        tests: "test(every_case_gives_what_the_definition_gives)",
    },
    Mutant {
        name: "a restored context of a draft model is joined backwards",
        file: "cache/draft_context.rs",
        from: "RowKv::restored(pieces.iter().rev(), held(",
        to: "RowKv::restored(pieces.iter(), held(",
        package: SPANNING,
        tests: "test(a_restored_context_is_that_of_a_fresh_prefill_bit_for_bit)",
    },
    Mutant {
        name: "tokens of the draft vocabulary change places",
        file: "model/draft_lm_head.rs",
        from: "places[id as usize] = place as u32)",
        to: "places[id as usize] = place as u32 ^ 1)",
        package: SPANNING,
        tests: "test(drafts_by_the_copy_of_the_head_change_no_text)",
    },
    Mutant {
        name: "catching up is taken for drafting",
        file: "decode/policy/mod.rs",
        from: "step.took.filter(|_| !step.caught_up)",
        to: "step.took.filter(|_| true)",
        package: ENGINE,
        tests: "test(catching_up_is_not_taken_for_drafting)",
    },
    Mutant {
        name: "a probe that caught up is not repeated",
        file: "decode/policy/explorer.rs",
        from: "if told.width || caught_up {",
        to: "if told.width || caught_up && tokens == 0 {",
        package: ENGINE,
        tests: "test(catching_up_is_not_taken_for_drafting)",
    },
    Mutant {
        name: "every step of a drafter catches up",
        file: "decode/step.rs",
        from: "unread > MOST_UNREAD",
        to: "unread > MOST_UNREAD.min(0)",
        package: SPANNING,
        tests: "test(a_step_says_whether_a_drafter_first_caught_up)",
    },
    Mutant {
        name: "each row's drafter is chosen as if it were alone",
        file: "decode/policy/mod.rs",
        from: "if !kinds.into_iter().all(could) {",
        to: "if !kinds.into_iter().all(could) || !own.is_empty() {",
        package: ENGINE,
        tests: "test(rows_that_could_have_either_drafter_get_what_yields_most_together)",
    },
    Mutant {
        name: "a measurement without drafts makes them free",
        file: "decode/policy/cost.rs",
        from: "draft.into().or(self.draft)",
        to: "draft.into().or(self.draft.map(|_| 0.0))",
        package: ENGINE,
        tests: "test(what_was_not_measured_again_stays_as_it_was)",
    },
    Mutant {
        name: "a step that was begun stays in the caches where it is not made",
        file: "decode/batch.rs",
        from: "if self.begun.take().is_some() {",
        to: "if self.begun.take().is_none() {",
        package: ENGINE,
        tests: "test(decode::step::tests::a_step_that_was_begun)",
    },
    Mutant {
        name: "the tape of a step that was begun counts before it is made",
        file: "decode/verify.rs",
        from: "if begun > 0 { 0 } else { advance.tokens.len() }",
        to: "advance.tokens.len()",
        package: ENGINE,
        tests: "test(decode::step::tests::a_step_that_was_begun)",
    },
    Mutant {
        name: "a step that was begun draws with the noise of the one before",
        file: "decode/verify.rs",
        from: "drafted.sample_positions(b, row, ahead, seen.as_ref())",
        to: "drafted.sample_positions(b, row, 0, seen.as_ref())",
        package: ENGINE,
        tests: "test(decode::step::tests::a_step_that_was_begun)",
    },
    Mutant {
        name: "filler counts as drafts",
        file: "decode/drafters/mod.rs",
        from: "self.own[b].len() - self.fillers[b]",
        to: "self.own[b].len()",
        package: ENGINE,
        tests: "test(a_row_that_is_padded_keeps)",
    },
    Mutant {
        name: "a row is padded however wide the step gets",
        file: "decode/drafters/mod.rs",
        from: "widths.iter().sum::<usize>() <= most.min(MAX_WIDTH)",
        to: "!widths.is_empty()",
        package: ENGINE,
        tests: "test(rows_are_padded_and_drafted_for)",
    },
    Mutant {
        name: "a place in the step that changes bits is overlooked",
        file: "model/invariance.rs",
        from: "self.even[i] &= trial.is_even();",
        to: "",
        package: ENGINE,
        tests: "test(a_place_that_changes_bits)",
    },
    Mutant {
        name: "another machine keeps rejected positions",
        file: "worker/stage.rs",
        from: "member.cache.kv.iter_mut().for_each(|kv| kv.rewind(row.length));",
        to: "",
        package: ENGINE,
        tests: "test(every_row_has_what_a_fresh_prefill_gives)",
    },
    Mutant {
        name: "another machine folds all that it has computed",
        file: "worker/stage.rs",
        from: "rows.iter().zip(&*members).map(|(row, member)| row.length - member.length).collect();",
        to: "rows.iter().zip(&*members).map(|(_, member)| member.tokens).collect();",
        package: ENGINE,
        tests: "test(every_row_has_what_a_fresh_prefill_gives)",
    },
    Mutant {
        name: "a row leaves another machine's group with nothing of its last step",
        file: "worker/stage.rs",
        from: "kept[place] = length - self.length;",
        to: "",
        package: ENGINE,
        tests: "test(every_row_has_what_a_fresh_prefill_gives)",
    },
    Mutant {
        name: "what another machine could not compute counts",
        file: "worker/run.rs",
        from: "failed.or_else(|| computed.is_none().then(own));",
        to: "failed.or_else(|| false.then(own));",
        package: SPANNING,
        tests: "test(steps_that_fail_on_a_machine_are_made_again)",
    },
    Mutant {
        name: "nobody notices a process that stands still",
        file: "link/members.rs",
        from: "Deadline::new(move || end.lose(&Loss::Silent(name)))",
        to: "Deadline::new(move || drop((end, name)))",
        package: SPANNING,
        tests: "test(no_process_is_left_waiting)",
    },
    Mutant {
        name: "other machines never rest",
        file: "link/remote.rs",
        from: "if self.announce(FrameKind::Rest, Vec::new(), None).is_ok() {",
        to: "if false && self.announce(FrameKind::Rest, Vec::new(), None).is_ok() {",
        package: SPANNING,
        tests: "test(a_rank_at_rest_computes_nothing)",
    },
    Mutant {
        name: "another machine goes on with rows of which it could not compute a chunk",
        file: "worker/run.rs",
        from: "stage.lose_rows(&frame);",
        to: "",
        package: SPANNING,
        tests: "test(steps_and_chunks_in_flight_may_fail)",
    },
    Mutant {
        name: "what comes back from other machines goes to whoever asks first",
        file: "link/remote.rs",
        from: "landed.iter().position(|(other, _)| *other == announced)",
        to: "landed.iter().position(|(other, _)| *other == announced || true)",
        package: SPANNING,
        tests: "test(steps_and_chunks_in_flight_change_nothing)",
    },
    Mutant {
        name: "a prompt whose next chunk is under way on other machines keeps nothing there",
        file: "decode/prefill_task.rs",
        from: "before.end.remote = before.end.remote.as_ref().map(RemoteState::keep);",
        to: "",
        package: SPANNING,
        tests: "test(steps_and_chunks_in_flight_change_nothing)",
    },
    Mutant {
        name: "what takes too long on other machines is waited for",
        file: "link/members.rs",
        from: "end.lose(&stopped.map_or(Loss::Stuck, |(name, _)| Loss::Stopped(name)));",
        to: "drop((stopped, &end));",
        package: SPANNING,
        tests: "test(a_step_that_takes_too_long_ends_the_ring)",
    },
];

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn what_is_to_be_changed_stands_there_once() {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("engine").join("src");
        for Mutant { name, file, from, .. } in MUTANTS {
            let text = std::fs::read_to_string(sources.join(file)).unwrap();
            assert_eq!(text.matches(from).count(), 1, "{name}: {from} in {file}");
        }
    }
}
