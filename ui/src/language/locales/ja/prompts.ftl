### Made by a machine; no native speaker has read it yet.

prompts-page = プロンプト
    .note = メッセージの先頭に / を入力すると選べます。{ "{{二重の波かっこ}}" } の部分はそこで埋めます。Tab キーで次の箇所に移ります。{ "{{clipboard}}" } にはクリップボードのテキストが入ります。
prompts-deleted = 「{ $name }」を削除しました。
    .undo = 取り消す
prompts-none = プロンプトはまだありません
    .words = 手始めの 4 つ: 要約、書き換え、翻訳、コードの説明
prompts-add-examples = 例を追加
prompts-edit = 編集
    .label = { $name } を編集
prompts-delete = 削除
    .label = { $name } を削除
prompts-add = プロンプトを追加
prompts-import = 読み込む…
prompts-export = 書き出す…
    .none = 書き出すプロンプトがありません。

## A prompt that is being written

prompts-form = プロンプト
    .new = 新規プロンプト
    .no-name = プロンプトにまだ名前がありません。
    .no-text = プロンプトにまだテキストがありません。
prompts-name = 名前
prompts-description = 説明
    .placeholder = 用途（任意）
prompts-text = テキスト
    .placeholder = 次の文章を{ "{{言語}}" }に翻訳してください。
prompts-cancel = キャンセル
prompts-save = 保存

## Above a message that begins with a slash

prompts-list = プロンプト
    .none = プロンプトとして保存した文がここに表示されます。
    .open = プロンプト…

## Prompts to begin with. What stands in double braces is filled in by whoever uses them.

prompts-example-summarise = 要約
    .description = 文章の要点
    .text =
        次の文章を{ "{{数}}" }個の要点に、それぞれ 1 文で要約してください。書かれていないことは加えないでください。

        { "{{文章}}" }
prompts-example-rewrite = 書き換え
    .description = 同じ内容を別の言葉で
    .text =
        次の文章を{ "{{明快で親しみやすい}}" }文章に書き換えてください。意味と事実は変えないでください。

        { "{{文章}}" }
prompts-example-translate = 翻訳
    .description = ほかの言語に
    .text =
        次の文章を{ "{{言語}}" }に翻訳してください。訳文だけを答えてください。

        { "{{文章}}" }
prompts-example-explain = コードの説明
    .description = 何をするか、何が問題になりうるか
    .text =
        このコードが何をするかを順を追って説明し、問題になりうる点を挙げてください。

        ```
        { "{{コード}}" }
        ```
