### Made by a machine; no native speaker has read it yet.

state-opening = チャットを開いています。
state-nobody-answers = 応答できるモデルがありません。理由はメッセージの上に表示されています。
state-sending = 前のメッセージを送信しています。
state-starting = エンジンを起動しています。
state-loading = モデルを読み込んでいます。
state-not-loaded = モデルが読み込まれていないため、モデル固有の値がわかりません。
state-writing = このチャットでは応答を生成中です。
state-summarising = このチャットの要約を作成しています。
state-unreachable = アプリのプロセスが応答しませんでした: { $why }。
    .hint = ウインドウを閉じて、Foretoken を開き直してください。書いた内容は残ります。
