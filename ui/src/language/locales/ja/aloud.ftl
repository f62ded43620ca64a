### Made by a machine; no native speaker has read it yet.

aloud-reading = 読み上げ
aloud-place = { $at } / { $all } 文
aloud-pause = 一時停止
aloud-go-on = 再開
aloud-stop = 停止
aloud-nothing = コード以外に読み上げる文がありません。
aloud-no-voice = { -here }には{ $language }の声がありません。
    .hint = システム設定の読み上げコンテンツで声を追加してください。
