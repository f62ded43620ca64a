### Made by a machine; no native speaker has read it yet.

## Buttons of a question, a reply and a summary

reply-copy = コピー
reply-edit = 編集
    .continue = 編集を続ける
    .cancel = キャンセル
reply-edited = 編集済み

## A question

reply-question = あなた
    .message = あなたのメッセージ
    .pictures = 画像を追加
    .picture-read = 画像を読み込んでいます。
    .empty = 送信するメッセージがまだありません。
    .kept = 前のバージョンは残ります。
    .send = 送信

## A reply

reply-name = 応答
reply-continue = 続ける
    .broken = ここから続ける
reply-again = もう一度
    .broken = 再試行
reply-interrupted = 応答は終わる前に中断されました。
reply-failed = 応答に失敗しました。理由は不明です。
    .hint = もう一度お試しください。
reply-kept = { $words ->
    [0] 上に書かれた内容は残ります。
   *[other] 上の { $words } 語は残ります。
}
reply-stopped = 停止しました
    .tokens = { $tokens } トークンで停止しました
    .longest = 応答の最大長で停止しました
reply-sources = 出典
    .close = 閉じる

## The form of a reply or a summary

reply-form = 応答
    .summary = 要約
    .empty = 応答を空にはできません。
    .summary-empty = 要約を空にはできません。
    .unchanged = まだ何も変更されていません。
    .goes-on = モデルはあなたの文から続けます。元の文も残ります。
    .save = 保存

## What the model thought

reply-thinking = 思考中…
    .seconds = 思考中… { $seconds } 秒
    .unfinished = 思考（未完了）
    .answer-now = 今すぐ回答
    .answer-now-why = 思考を終え、ここまでの思考をもとに回答を書きます。
reply-thought = { $seconds } 秒間思考しました
    .brief = 思考時間は 1 秒未満でした
    .unknown = 回答の前に思考しました
reply-thought-cut = 上限まで { $seconds } 秒間思考しました
    .brief = 1 秒未満で思考の上限に達しました
    .unknown = 回答の前に上限まで思考しました

## How a reply was made

reply-page-compare = 通常と比較
reply-page-copy = JSON としてコピー
reply-page-auto = 「自動」を使う
reply-page-measure = 測定
reply-page-speed = 速度の推移
    .tokens = トークン
    .passes = パス
    .first = 最初のトークンまで
    .thinking = 思考中
    .answer = 回答中
    .plain = 通常のデコード
    .beside = ほかの応答と並行
    .beside-passes = { $steps } パス中 { $shared } パス
reply-page-guesses = 位置ごとのドラフト
    .share = { $share } 採用
    .draft-model = DFlash のドラフト
    .text = 本文からのドラフト
    .accepted = { $drafted } 個中 { $accepted } 個採用
reply-page-parts = 思考と回答
reply-page-time = 時間の内訳
reply-page-prompt = プロンプト
    .tokens = { $tokens } トークン
    .cached = 記憶済み
    .fresh = 新しく読んだ分
    .pictures = 画像
    .context = 終了時のコンテキスト
    .unseen = { $unseen }。
reply-page-memory = メモリ
    .most = この応答、または並行して生成された応答が始まってから、エンジンが使ったメモリの最大量です。モデル、そのチャット、途中の計算を含みます。
    .chat = このチャットの分
    .about = 約 { $bytes }
reply-page-settings = この応答の設定
    .sampling = サンプリング
    .seed = シード
    .again = 同じシードでもう一度
    .again-same = プロンプトが同じように読まれれば同じ言葉
    .again-alike = 同じ確からしさの言葉（異なることもあります）
    .model = モデル
    .build = アプリのバージョン
reply-page-reveal = 本文中のドラフトを表示
    .key = 先読みされた言葉
reply-ahead = { $place } 語先
    .more = { $place } 語以上先

## Charts of a reply

reply-position = 位置 { $place }: ドラフト { $drafted } 個中 { $accepted } 個採用、{ $share } パーセント。
    .count = { $accepted } / { $drafted }
reply-depth = 1 パスあたりのドラフト数の推移
    .range = { $first } から { $last }
    .words = { $steps } パスでの 1 パスあたりのドラフト数: 最初は { $first }、最後は { $last }、範囲は { $least } から { $most }。
reply-parts-thinking = 思考
reply-parts-answer = 回答
reply-parts-tokens = トークン
reply-parts-passes = パス
reply-parts-per-pass = 1 パスあたり
reply-parts-accepted = 採用
    .none = ドラフトなし
reply-time = デコードにかかった時間は { $time }: { $parts }。
    .draft = ドラフト
    .verify = 検証
    .sample = サンプリング
    .other = その他

## A summary

reply-summary = これまでの内容の要約
    .whole = チャット全体を表示
    .by = { $model } が作成
reply-summarise = 古い部分を要約
    .title = 新しいチャットで行います。このチャットはそのまま残ります。
    .title-temporary = 新しいチャットで行います。一時チャットなので、このチャットは閉じます。
    .running = 要約を作成しています。
    .done = 要約ができました。元のチャットは新しいチャットで続きます。
reply-summarising = 古い部分を要約しています
    .part = 要約しています（{ $of } 部分中 { $part } 番目）
    .hint = 最近のメッセージはそのままで、新しいチャットで続きます。このチャットはそのまま残ります。
    .hint-temporary = 最近のメッセージはそのままで、新しいチャットで続きます。一時チャットなので、このチャットは閉じます。
    .stop = 停止

## Versions

reply-versions = バージョン
    .at = { $at } / { $of }
    .earlier = 前のバージョン
    .later = 次のバージョン
    .no-earlier = 前のバージョンはありません。
    .no-later = 次のバージョンはありません。
    .none = なし
    .of-one = { $role ->
        [user] 1 つの質問に { $count } 個
        [assistant] 1 つの応答に { $count } 個
       *[other] 1 つのメッセージに { $count } 個
    }
    .of-several = { $role ->
        [user] { $count } つの質問にあり
        [assistant] { $count } つの応答にあり
       *[other] { $count } つのメッセージにあり
    }
reply-side-by-side = 並べて比較
    .stop = 停止
    .back = チャットに戻る
    .back-esc = チャットに戻る（Esc）
    .keep = これを残す
    .left = 左のバージョン
    .right = 右のバージョン
reply-version = バージョン { $version }
    .of = バージョン { $version } / { $of }

## Messages that wait

reply-waiting = 待機中のメッセージ
    .until = 応答が終わったら送信:
    .held = { $why }未送信:
    .send = 今すぐ送信
    .edit = 編集
    .drop = 送信しない
    .files = { $count } 個のファイル
    .dropped = メッセージは送信されません。
reply-held-ended = 応答は終わりました。
reply-held-stopped = 応答は停止されました。
reply-held-unfinished = 応答は最後まで終わりませんでした。

## How replies are written

reply-settings = このチャットの応答
reply-settings-words = 言葉の選び方
    .term = サンプリング
reply-settings-thinking = 思考
reply-settings-system = 常に知っておくこと
    .term = システムプロンプト
    .label = システムプロンプト
    .placeholder = あなたのこと、好み、書き方など
reply-scope = この設定の対象
    .label = メッセージの下にあるコントロールの対象
    .all = すべてのチャット
    .all-words = MTP、サンプリング、思考は、独自の設定がないすべてのチャットで変わります。
    .this = このチャット
    .this-words = MTP、サンプリング、思考は、このチャットだけで変わります。
reply-label = 標準
    .greedy = 貪欲法
    .sampled = サンプリング
    .length = 長さを変更
    .system-prompt = システムプロンプト
    .changes = { $count } 件の変更
reply-thinking-choice = 思考
    .longest = 思考の最大長
reply-in-tokens = トークン数

## Presets

reply-preset = プリセット
    .standard = 標準
reply-preset-keep = プリセットとして保存
    .update = 「{ $name }」を更新
    .delete = 削除
    .name = 新しいプリセットの名前
    .no-name = プリセットにまだ名前がありません。
    .keep = 保存
reply-preset-chosen = このチャットのシステムプロンプトと設定を「{ $name }」に置き換えました。
    .standard = このチャットのシステムプロンプトと設定をモデルの値に置き換えました。
    .back = 前のシステムプロンプトと設定に戻しました。
reply-preset-updated = 「{ $name }」を更新しました。
reply-preset-deleted = 「{ $name }」を削除しました。

## Sampling

reply-sampling = 言葉の選び方
    .model = モデルの値
    .greedy = 貪欲法
    .greedy-words = 最も確からしい言葉を常に選ぶので、同じ質問には同じ回答になります。
    .own = カスタム
    .own-words = この範囲内で、確からしさに応じて言葉を選びます。
reply-seed = シード { $seed }
    .new = 毎回新しいシード
reply-temperature = 温度
    .words = 高いほど自由
reply-top-p = Top-p
    .words = 1 ですべて残す
reply-top-k = Top-k
    .words = 0 ですべて残す
reply-min-p = Min-p
    .words = 0 でオフ
reply-xtc-chance = XTC 確率
    .words = 上位の候補を外す頻度
reply-xtc-threshold = XTC しきい値
    .words = 上位の候補はこれより高い確率
reply-longest = 応答の最大長
reply-own-seed = シード
    .words = 同じシードなら同じ文
    .empty = 毎回新しく

## Notes

reply-temporary-left = 一時チャットを閉じました。内容は残りません。
reply-pasted-large = { $name } は { $megabytes } MB を超えているため、ペーストできません。
reply-pasted-all-large = これらのファイルは合計で { $megabytes } MB を超えているため、ペーストできません。
    .hint = ボタンで選ぶか、ウインドウにドロップしてください。
reply-pasted-unread = { $name } を読み込めません。
reply-pasted-instead = ボタンで選ぶか、ウインドウにドロップしてください。
