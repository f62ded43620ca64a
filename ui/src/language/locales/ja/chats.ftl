### Made by a machine; no native speaker has read it yet.

## The list

chats-list = チャット
chats-unnamed = 名称未設定
chats-heading-pinned = ピンで固定
chats-heading-projects = プロジェクト
chats-new-project = 新規プロジェクト
chats-drag-into = 「{ $name }」に移動
chats-drag-out = プロジェクトから外す
chats-more = 「{ $title }」のその他の操作
chats-writing = 応答を生成中
chats-failed = 最後の応答は失敗しました
chats-unseen = まだ見ていない応答があります
chats-name-field = チャットの名前
    .placeholder = 最初のメッセージが名前になります

## What can be done with a chat

chats-export-markdown = Markdown として書き出す…
chats-export-html = HTML として書き出す…
chats-export-json = JSON として書き出す…
chats-print = プリント…
chats-keep-temporary = このチャットを残す
chats-open-window = 新規ウインドウで開く
chats-show-in-main = メインウインドウに表示
chats-rename = 名称変更
chats-pin = ピンで固定
chats-unpin = 固定を解除
chats-tags = タグ…
chats-move = プロジェクトに移動…
chats-take-out = プロジェクトから外す
chats-delete = 削除

## Tags

chats-tags-sheet = 「{ $title }」のタグ
chats-tags-cancel = キャンセル
chats-tags-keep = 適用
chats-tags-field = タグ（読点またはコンマで区切る）
    .placeholder = 仕事、物語
chats-tags-known = ほかのチャットのタグ
chats-tag-filter = 一覧に表示するチャット
chats-tag-filter-all = すべてのチャット

## Search

chats-search = 検索
    .label = すべてのチャットを検索
chats-search-results = 検索結果
chats-search-filters = 表示する結果
chats-search-all = すべて
chats-search-week = 今週
chats-search-pinned = ピンで固定
chats-search-tagged = タグ「{ $tag }」付き
chats-search-places =
    <number>{ $shown }</number><unit>{ $places ->
       *[other] { " " }か所
    }</unit>
chats-search-in-chat = 「{ $title }」内の結果
chats-search-more-in-chat = このチャットにほか { $places } か所
chats-search-elsewhere = ほかのチャットにあと { $places } か所あります。語を加えると絞り込めます。
chats-search-elsewhere-capped = ほかのチャットにあと { $places } か所あります。調べたのは新しい順に 2,000 件までです。語を加えると絞り込めます。
chats-search-capped = 調べたのは新しい順に 2,000 件までです。語を加えると絞り込めます。
chats-search-found = { $chats } 件のチャットで { $places } か所見つかりました
chats-search-found-capped = { $chats } 件のチャットで { $places } か所以上見つかりました
chats-search-nothing = 見つかりませんでした
chats-search-none = 「{ $query }」を含むチャットはありません
chats-search-none-pinned = 「{ $query }」を含む固定されたチャットはありません
chats-search-none-week = 「{ $query }」を含む今週のチャットはありません
chats-search-none-tagged = 「{ $query }」を含むタグ「{ $tag }」のチャットはありません
chats-search-searched = { $messages } 件のメッセージを検索しました。
chats-search-searched-files = { $messages } 件のメッセージと { $files } 個のファイルを検索しました。
chats-search-keys-move = ↑ ↓ 移動
chats-search-keys-open = ⏎ 開く
chats-search-keys-leave = esc 閉じる

## What was deleted

chats-message-deleted = メッセージを削除しました。
chats-chat-deleted = チャットを削除しました。
chats-named-deleted = 「{ $title }」を削除しました。
chats-deletions = 削除済み
    .title = 削除したチャット、メッセージ、プロジェクト、プリセット
    .note = Foretoken を終了するまでは、すべて元に戻せます。
chats-deletions-preset = プリセット
chats-deletions-project = プロジェクト
chats-deletions-project-chats = プロジェクト（{ $chats } 件のチャット）
chats-deletions-chat = チャット
chats-deletions-message = 「{ $chat }」のメッセージ
chats-deletions-no-text = テキストなし
chats-bring-back = 元に戻す
    .label = 「{ $name }」を元に戻す

## Into files and out of them

chats-export-sheet = 画像も書き出しますか?
chats-export-size = 画像の合計は約 { $size } です。
chats-export-cancel = キャンセル
chats-export-now = 書き出す
chats-export-choices = 画像の扱い
chats-export-stripped = 位置情報とカメラ情報を除いた画像
    .words = ファイルに記録された撮影場所、日時、機材の情報は書き出しません。
chats-export-unchanged = 元のままの画像
    .words = ファイルを 1 バイトも変えずに書き出します。
chats-export-shown = ここに表示されているままの画像
    .words = ファイルに埋め込みます。撮影場所、日時、機材の情報は含まれません。
chats-export-left-out = 画像なし
    .words = 名前だけを書き出します。
chats-exported = { $path } に書き出しました
chats-exported-views = { $pictures } 枚の画像は、元のファイルの情報を除いた小さいコピーです。
chats-exported-missing = { $pictures } 枚の画像がありません: ファイルが失われています。
chats-imported =
    { $files ->
        [1] { "" }
       *[other] { $files } 個のファイルから、
    }{ $chats } 件のチャットと { $messages } 件のメッセージを追加しました。{ $leftOut ->
        [0] { "" }
       *[other] 画像など、ここでは扱えない { $leftOut } 個の項目は省きました。
    }{ $missing ->
        [0] { "" }
       *[other] { $missing } 枚の画像がありません: ファイルに含まれていないか、壊れています。
    }
chats-not-imported = ほかに { $files } 個のファイルも読み込めませんでした。

## Chats that cannot be opened

chats-trouble-corrupt = チャットが壊れています
chats-trouble = チャットを開けませんでした
chats-trouble-restore = { $date } のコピーを復元
chats-trouble-newer = コピーのサイズは { $size } です。新しい方のファイルも横に残るので、何も失われません。
chats-trouble-damaged = コピーのサイズは { $size } です。壊れたファイルも横に残るので、何も失われません。
