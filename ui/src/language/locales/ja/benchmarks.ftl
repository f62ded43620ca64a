### Made by a machine; no native speaker has read it yet.

benchmarks-title = ベンチマーク
benchmarks-export = すべてのベンチマークを書き出す
    .as = { $format } として書き出す…
    .none = まだありません。
    .done = { $path } に書き出しました

## The ways to write, and the kinds of text

benchmarks-way =
    .plain = 通常
    .ahead = { $depth } 個先読み
benchmarks-prose = 文章
    .words = 物語、手紙、説明文
benchmarks-code = コード
    .words = 関数、テスト、ファイルの変更
benchmarks-any = すべてのテキスト
    .words = 文章とコードを区別していません

## What is measured

benchmarks-measure = 測定
    .no-model = モデルがありません。
    .gone = { $name } はもうここにありません。
benchmarks-minutes = { $minutes ->
    [0] 1 分未満
   *[other] 約 { $minutes } 分
}
benchmarks-plan = 測定内容
    .texts = 生成するテキスト
    .both = 文章とコード
    .ahead = 先読み
    .ways = 通常のデコードと、{ $head ->
        [yes] 1～3 個の先読み、
       *[no] { "" }
    }{ $dflash ->
        [yes] DFlash、
       *[no] { "" }
    }ルックアップ、自動を比較します
    .prompt = 長いプロンプト
    .prompt-words = 読み込みの速さと使用メモリ
    .effort = 所要時間
    .quick = 簡易
    .thorough = 詳細
    .note = { $texts ->
        [both] 文章とコードのそれぞれについて、
       *[other] { "" }
    }方式ごとに { $tokens } トークンを { $runs } 回測定します。応答の生成中は実行されず、チャットが優先されます。
benchmarks-running = 測定中
benchmarks-model = モデル
    .none = モデルなし
    .choose = 測定するモデル
    .missing = モデルがまだありません。
    .gone = 履歴のみ

## What was found

benchmarks-result = 結果
benchmarks-earlier = これは { $time } の以前の結果です。<newest>最新の結果を表示</newest>
benchmarks-times = { $low }～{ $high }
benchmarks-clause =
    .gains = { $about ->
        [prose] 先読みすると、文章は通常の
        [code] 先読みすると、コードは通常の
        [both] 先読みすると、文章もコードも通常の
       *[any] 先読みすると、通常の
    } { $times } 倍の速さになります
    .plain = { $about ->
        [prose] 文章では、通常より速い方式はありません
        [code] コードでは、通常より速い方式はありません
        [both] 文章でもコードでも、通常より速い方式はありません
       *[any] ここでは、通常より速い方式はありません
    }
    .uncertain = { $about ->
        [prose] 文章では、先読みによる確かな効果はありません
        [code] コードでは、先読みによる確かな効果はありません
        [both] 文章でもコードでも、先読みによる確かな効果はありません
       *[any] ここでは、先読みによる確かな効果はありません
    }
    .alone = { $about ->
        [prose] 通常のデコードは、文章で毎秒
        [code] 通常のデコードは、コードで毎秒
        [both] 通常のデコードは、文章でもコードでも毎秒
       *[any] 通常のデコードは毎秒
    } { $speed } トークンです
    .unmeasured = { $about ->
        [prose] 文章では、通常のデコードは測定されていません
        [code] コードでは、通常のデコードは測定されていません
        [both] 文章でもコードでも、通常のデコードは測定されていません
       *[any] 通常のデコードは測定されていません
    }
benchmarks-aside =
    .plain = { $about ->
        [prose] 文章では、通常より速い方式はありません
       *[code] コードでは、通常より速い方式はありません
    }
    .uncertain = { $about ->
        [prose] 文章では、先読みによる確かな効果はありません
       *[code] コードでは、先読みによる確かな効果はありません
    }
    .alone = { $about ->
        [prose] 文章では、通常のデコードだけが測定されました
       *[code] コードでは、通常のデコードだけが測定されました
    }
    .unmeasured = { $about ->
        [prose] 文章では、通常のデコードは測定されていません
       *[code] コードでは、通常のデコードは測定されていません
    }
benchmarks-sentence =
    .none = 何も測定されていません。
    .one = { $clause }。
    .two = { $clause }。{ $aside }。
    .gains = 先読みすると、文章は通常の { $prose } 倍、コードは { $code } 倍の速さになります。
    .gains-up-to = 先読みすると、文章は通常の { $prose } 倍、コードは最大 { $code } 倍の速さになります。
    .alone = 通常のデコードは、文章で毎秒 { $prose } トークン、コードで毎秒 { $code } トークンです。
benchmarks-detail =
    .fastest = { $about ->
        [prose] 文章で最速: { $names }。
        [code] コードで最速: { $names }。
        [both] 文章でもコードでも最速: { $names }。
       *[any] 最速: { $names }。
    }
    .equal = { $about ->
        [prose] 文章で同等の速さ（範囲が重なっています）: { $names }。
        [code] コードで同等の速さ（範囲が重なっています）: { $names }。
        [both] 文章でもコードでも同等の速さ（範囲が重なっています）: { $names }。
       *[any] 同等の速さ（範囲が重なっています）: { $names }。
    }
benchmarks-bracket =
    .fastest = 最速
    .equal = 同等の速さ
benchmarks-ranges-note = tok/s、{ $runs } 回の最低値から最高値
benchmarks-range = 通常の { $low }～{ $high } 倍、中央値は { $middle } 倍です。
benchmarks-auto = { $about ->
    [prose] 自動、文章: { $note }
    [code] 自動、コード: { $note }
    [any] 自動、すべてのテキスト: { $note }
   *[both] 自動: { $note }
}
benchmarks-figures = すべての数値
    .runs = { $runs } 回
benchmarks-prompt-read = { $tokens } トークンのプロンプトの読み込み
benchmarks-peak = 最大メモリ
benchmarks-loaded = 読み込み時間
benchmarks-table = ドラフト数ごとの速さ
    .guesses = ドラフト
    .speed = トークン/秒
    .gain = 通常比
    .pass = 1 パスあたり
    .accepted = 位置ごとの採用率
benchmarks-notes = { $facts }。
    .place = { $format }、{ $place ->
        [here] { -here }
       *[elsewhere] 別のコンピュータ（{ $machine }）
    }の { $processor ->
        [cpu] CPU
       *[gpu] GPU
    }{ $memory ->
        [eight] 、長いチャットのメモリを節約（8 ビット）
       *[full] { "" }
    }
    .runs = { $texts ->
        [both] テキストの種類ごとに{ " " }
       *[one] { "" }
    }{ $tokens } トークンを { $runs } 回
    .strained = 高温または省エネルギー中の測定のため、普段はこれより速くなります
benchmarks-unknown-processor = 不明なプロセッサ
benchmarks-strange =
    .machine = 別のコンピュータ: { $machine }
    .format = 別の形式: { $format }
    .results = 別のコンピュータまたは別の形式での結果 { $results } 件は、表にのみ表示されます。

## Over time

benchmarks-over-time = 推移
benchmarks-nothing = まだ何も測定されていません。
    .of-model = { $name } はまだ測定されていません。
    .question = { -here }では先読みでどれだけ速くなる?
benchmarks-plotted = グラフに表示するベンチマーク
    .full = 通常のメモリ
    .eight = メモリを節約
benchmarks-apart = { $memory ->
    [eight] 長いチャットのメモリを節約（8 ビット）での
   *[full] 通常のメモリでの
}結果 { $results } 件は、別のグラフに表示されます。
benchmarks-metric = グラフの内容
    .reading = 読み込み
    .memory = メモリ
    .prompt = プロンプト
benchmarks-line =
    .same = { $name }: { $value }
    .change = { $name }: { $from } から { $to }
benchmarks-chart = { $days ->
    [one] { $begin }
   *[more] { $begin }から{ $end }まで
}のベンチマーク { $benchmarks } 件{ $memory ->
    [eight] （長いチャットのメモリを節約、8 ビット）
   *[full] { "" }
}。{ $lines }{ $metric ->
    [memory] { "" }
    [reading] （プロンプトのトークン/秒）
   *[other] （トークン/秒）
}。
benchmarks-results = すべての結果
    .measured = 測定日時
    .show = この結果を表示
    .eight = メモリを節約（8 ビット）
    .unmeasured = 未測定
    .delete = 削除
    .delete-one = { $time } の結果を削除
benchmarks-deleted = { $model } の { $time } の結果を削除しました。
    .undo = 取り消す
benchmarks-unreadable = 履歴の { $lines } 行は読み込めませんが、ファイルには残ります。

## One question without drafts and with them

benchmarks-compare =
    .title = 並べて比較
    .note = 1 つの質問に、同じ設定とシードで、まずドラフトなしで、次にドラフトありで答えます。互いに遅くならないように、1 つずつ生成します。チャットには何も追加されません。
    .question = 比較する質問
    .owl = フクロウと鐘のお話を聞かせてください。
    .nothing = 質問がまだありません。
    .run = 比較
    .cancel = キャンセル
    .progress = 比較
benchmarks-refused =
    .window = メインウインドウで行ってください。
    .comparing = 比較の実行中です。
    .no-model = 使用できるモデルがありません。
    .no-head = このモデルには比較に使える MTP ヘッドがありません。「自動」と「ルックアップ」はテキストからドラフトを作ります。
    .no-draft-model = このモデルと一緒に読み込まれたドラフトモデルはありません。別のドラフトを選ぶか、「モデル」画面で入手してください。
    .writing = 応答を生成中です。どちらのテキストも単独で測定する必要があります。
benchmarks-progress =
    .beginning = 開始しています
    .reading = プロンプトを読み込み中: { $done } / { $total } トークン
    .plain = ドラフトなしで生成中: { $tokens } トークン
    .drafted = ドラフトありで生成中: { $tokens } トークン
benchmarks-ratio =
    .short = 応答が短すぎるため、速さを判断できません。
    .faster = ドラフトありでは、この応答は通常の { $times } 倍の速さで生成されました。
    .slower = ドラフトありでは、この応答は遅くなりました。速さは通常の { $times } 倍です。
    .same = この応答の速さは、ドラフトの有無で変わりませんでした。
benchmarks-texts =
    .equal = 2 つのテキストは、すべてのトークンが一致しています。
    .equal-drawn = 単語はランダムに選ばれましたが、2 つのテキストはすべてのトークンが一致しています。
    .different = 2 つのテキストは、{ $tokens } トークン一致した後で異なっています。この設定では一致するはずなので、何か問題があります。
    .rounded = 2 つのテキストは、{ $tokens } トークン一致した後で異なっていますが、これは起こりうることです。ドラフトを確認するときは{ -here }の丸め方が異なり、ほぼ同じ確率の単語ではそれが結果を左右します。MTP メニューの「{ chat-rule }」にある「{ chat-rule-strict }」を選ぶと、ほとんどのテキストが同じになります。
    .rounded-strict = 2 つのテキストは、{ $tokens } トークン一致した後で異なっていますが、これは起こりうることです。ドラフトを確認するときは{ -here }の丸め方が異なり、ほぼ同じ確率の単語ではそれが結果を左右します。「{ chat-rule-strict }」が有効なのは、比較的短いチャットで、同時に生成されるものが少ない場合に限られます。
    .same-chances = 単語が異なりますが、これは起こりうることです。「{ chat-rule-rejection }」では、どの単語が選ばれる確率もドラフトなしと同じですが、実際に選ばれる単語は変わります。
benchmarks-compared =
    .drafts = ドラフト: { $drafts }
    .seed = シード { $seed }
    .once = 測定は各 1 回
    .facts = { $facts }。時間はそれぞれの最初のトークンから数えます。どちらもプロンプトは読み込み済みでした。
benchmarks-replay =
    .play = 再生
    .again = もう一度再生
    .pause = 一時停止
    .time = 時間
    .end = 最後へ
    .written = { $here } / { $all } トークン
    .done = { $here } / { $all } トークン、{ $time }で完了
benchmarks-replay-plain = ドラフトなし
    .text = ドラフトなしのテキスト
benchmarks-replay-drafted = ドラフトあり
    .text = ドラフトありのテキスト
