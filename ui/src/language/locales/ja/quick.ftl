### Made by a machine; no native speaker has read it yet.

quick-ask = 何でも質問
    .further = 続けて質問
    .label = 質問
quick-no-model = モデルなし
quick-reply = 応答
    .thinking = 思考中

## What the keys do, after their names

quick-stop = 停止
quick-close = 閉じる
quick-go-on = ウインドウで続ける
quick-copy = 応答をコピー
quick-anew = 新しく質問
quick-choose-keys = どこからでも表示するキーを設定
quick-shown-by = <key>{ $keys }</key> でどこからでも表示

## The keys that show the panel

quick-keys-off = なし
quick-keys-alt-space = { PLATFORM() ->
    [mac] ⌥スペース
   *[other] Alt+スペース
}
quick-keys-control-alt-space = { PLATFORM() ->
    [mac] ⌃⌥スペース
   *[other] Ctrl+Alt+スペース
}
quick-keys-shift-command-space = { PLATFORM() ->
    [mac] ⇧⌘スペース
   *[other] Ctrl+Shift+スペース
}
