### Made by a machine; no native speaker has read it yet.

## In the list

projects-more = 「{ $name }」のその他の操作
projects-name-field = プロジェクトの名前
    .placeholder = 新規プロジェクト
projects-chats = { $chats } 件のチャット
projects-new-chat = ここで新規チャット
projects-show-chats = チャットを表示
projects-hide-chats = チャットを非表示
projects-add-files = ファイルを追加…
projects-rename = 名称変更
projects-delete = 削除

## The page

projects-knows = ここのすべてのチャットに伝わること
    .placeholder = 何についてのプロジェクトか、決まったこと、どのように答えてほしいか
projects-begins-with = ここの新規チャットは<settings>{ $settings }</settings>で始まります。
projects-keep-settings = 下の設定を使う
    .title = メッセージの下の設定が、ここの新規チャットすべてに使われます。すでにあるチャットの設定は変わりません。
projects-files = ファイル
    .note = 短いファイルは全体を読み、長いファイルからは質問ごとに関連する部分を探します。
projects-tokens = 約 { $tokens } トークン
projects-tokens-of = { $context } トークン中の約 { $tokens } トークン
projects-file-remove = 取り除く
    .label = { $name } を取り除く
projects-file-reading = 読み込み中
projects-file-waiting = 待機中
projects-page-add-files = ファイルを追加
projects-folder-add = フォルダを追加
projects-folder-change = 別のフォルダ
projects-folder-leave = 使わない
    .title = このフォルダはもう読み込まれません。フォルダはそのまま残ります。
projects-folders = プロジェクトのフォルダは 1 つですが、{ $folders } 個あります。
    .hint = 使うフォルダだけをドロップしてください。
projects-page-chats = チャット
    .none = 下で質問すると、最初のチャットが始まります。
projects-chat-writing = 生成中
projects-chats-more = さらに表示

## Moving a chat

projects-move-sheet = 「{ $title }」を移動
projects-move-choices = プロジェクト
projects-move-none = プロジェクトなし
projects-move-new = または新規プロジェクトに移動
    .placeholder = 新規プロジェクトの名前
projects-move-cancel = キャンセル
projects-move = 移動
    .there = チャットはすでにそこにあります。

## Deleting a project

projects-delete-sheet = 「{ $name }」を削除しますか?
projects-delete-cancel = キャンセル
projects-delete-with-chats =
    { $chats ->
        [1] チャットも削除
       *[other] { $chats } 件のチャットも削除
    }
projects-delete-keep-chats = チャットは残す
projects-delete-words =
    プロジェクト{ $files ->
        [0] { "" }
       *[other] とそのファイル
    }を削除します。{ $chats ->
       *[other] チャットは一覧に戻すか、一緒に削除できます。
    }Foretoken を終了するまでは、すべて元に戻せます。

## What was done

projects-chat-left = チャットをプロジェクトから外しました。
projects-chat-moved = チャットを「{ $name }」に移動しました。
projects-deleted = 「{ $name }」を削除しました。
projects-deleted-with-chats = 「{ $name }」と { $chats } 件のチャットを削除しました。
projects-deleted-unnamed = プロジェクト
projects-files-replaced =
    { $files ->
       *[other] 同じ名前のファイルを置き換えました。
    }
projects-file-removed = 「{ $name }」をプロジェクトから取り除きました。
