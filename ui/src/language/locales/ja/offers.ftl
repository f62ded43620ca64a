### Made by a machine; no native speaker has read it yet.

offers-prompt =
    .insert = 挿入
    .filling = 作成中…
    .sent = サーバがプロンプトを作成しています。
    .cancel = キャンセル
    .note = ここに入力した内容は { $server } に送られます。

## What servers have to read

offers-attach = サーバから…
offers-resources = サーバから
    .search = 検索
    .list = サーバが提供するもの
    .asking = サーバに問い合わせています…
    .none = サーバには添付できるものがありません。
    .no-match = 一致するものはありません。
