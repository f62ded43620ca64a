### Made by a machine; no native speaker has read it yet.

macs-page = ほかの Mac
    .words = この Mac には大きすぎるモデルでも、ペアリングした Mac に層を分けて使えます。

## Paired

macs-paired = ペアリング済み
    .none = ほかの Mac はまだペアリングされていません。
macs-this = この Mac
    .leads = 主導
    .memory = モデル用に { $size }
macs-state =
    .here = 接続中
    .asking = 確認中…
    .away = 応答なし
macs-free = { $size } 空き
macs-may-use = この Mac を使えます
    .not = この Mac を使えません
    .switch = “{ $name }”にこの Mac の使用を許可
macs-more = { $name } のその他の操作
macs-test = 接続をテスト
macs-allow = この Mac の使用を許可
    .no-longer = この Mac の使用を許可しない
macs-address = アドレスを変更…
    .label = “{ $name }”のアドレス
    .save = 保存
    .cancel = キャンセル
    .same = すでにこのアドレスです。
    .missing = アドレスが必要です。
macs-forget = 登録を解除
    .ask = 登録を解除…
macs-forget-sheet = “{ $name }”の登録を解除しますか？
    .lends = この Mac のための計算をしなくなります。そこに分けられたモデルは、収まる場合にこの Mac だけで読み込まれます。また使うには、もう一度ペアリングしてください。
    .borrows = ここでの計算は終わり、もう一度ペアリングするまでこの Mac を使えなくなります。
    .sure = 登録を解除

## Together they hold

macs-together = 共同で読み込むモデル
    .drag = 境目をドラッグすると層が移ります
    .alone = この Mac だけで読み込む
    .with-layers = この層の分け方で読み込む
    .as-it-was = 元に戻す
macs-layers = { $count } 層
macs-part = { $name }、{ $size }
    .layers = { $name } { $layers }
    .too-much = モデルに使える { $usable } を超えます
macs-edge = { $left } と { $right } の間の層

## Pair another Mac

macs-pair = 別の Mac とペアリング
    .none = ネットワーク内で使用を許可している Mac がここに表示されます。
    .button = ペアリング
    .button-for = ペアリング: { $name }
    .field = 相手の Mac のアドレス
    .example = ホスト、またはホスト:ポート
    .empty = 相手の Mac に表示されるアドレスを入力してください。
    .busy = ペアリング中です。
macs-pairing =
    .asking = { $whom } に確認中…
    .cancel = キャンセル
    .digits = 数字は { $digits } です。
    .question = “{ $name }”に同じ数字が表示されていますか？
    .both = 双方で確認します。あと { $time } 有効です。
    .borrows = その後、“{ $name }”がこの Mac を使えます。
    .lends = その後、この Mac が“{ $name }”を使えます。
    .no = 違う
    .same = 同じ
    .waiting = 相手の Mac を待っています…
    .waiting-time = “{ $name }”での確認がまだです。あと { $time } 有効です。
    .paired = “{ $name }”とペアリングしました。
    .trust = 貸し出された Mac の所有者は、その Mac が計算するチャットに書かれた内容を原理的には復元できます。信頼できる Mac とだけペアリングしてください。
    .close = 閉じる

## Lend this Mac

macs-lend = この Mac を貸す
macs-lend-on = ペアリングした Mac にこの Mac の使用を許可
    .off = オンにするまで、ネットワークでは何も待ち受けません。
    .on = オンの間、この Mac はネットワークで待ち受けます。入れるのはペアリングした Mac だけで、いつでも停止できます。
    .starting = 開始中…
macs-lend-address = アドレス
    .words = 相手の Mac がこの Mac を見つけられないときに、そこに入力します
    .copy = コピー
macs-lend-pair = Mac のペアリングを許可
    .words = 2 分間だけです。その後、両方の Mac に見比べる数字が表示されます
    .open = あと { $time } 受け付けます。相手の Mac でこの Mac を選んでください
    .button = Mac のペアリングを許可
    .stop = 停止
    .not-yet = この Mac はまだ待ち受けていません。
macs-lend-memory = メモリ
    .words = ほかの Mac のモデルがここで使えるメモリの上限
    .all = この Mac がモデルに使う分まで
    .all-of = この Mac がモデルに使う分まで（{ $size }）
macs-lend-keep = モデルの層を保存
    .words = この Mac が計算する層を、ほかの Mac から受け取ります。最も長く使われていないものから削除されます
    .none = 保存しない
    .most = { $size } まで
macs-lend-power = 電源接続時のみ
    .words = この Mac がバッテリーで動いている間は使えません
macs-lend-unused = 自分がここでチャットしている間は使わせない
    .words = 自分のモデルは使っていない間は場所を譲り、使い始めると貸し出しが終わります
macs-loan = { $mac } が { $time } からここで { $model } の一部を計算しています
    .words = その間、この Mac が遅くなることがあります
    .stop = 今すぐ停止
macs-stored = { $model }（{ $mac } から）
    .remove = 削除
    .remove-of = 削除: { $model }
    .in-use = 使用中です。

## What other Macs could do for a model

macs-outlook = 複数の Mac で使う
    .open = 複数の Mac で使う…
    .asking = ほかの Mac に確認中…
    .use = ほかの Mac も使う
    .again = もう一度確認
    .fits = { $macs } に収まります。
    .figures = チャットは { $context } まで · 先読みなしで約 { $rate } トークン/秒（推定）
    .left-out = 不要: { $macs }。
    .load = これらの Mac で読み込む
    .lacking =
        { $count ->
           *[other] { $macs } にこのモデルがありません。
        }
    .lacking-hint = その Mac の「設定 › ほかの Mac」でモデルの層の保存を許可するか、そこでモデルをダウンロードしてください。
    .too-big = すべての Mac を合わせても大きすぎます。
    .too-big-hint = 合わせてモデルに使えるのは { $size } です。
    .nobody = ペアリングした Mac が応答しません。
    .nobody-hint = ほかの Mac がスリープしておらず、接続され、使用を許可しているか確認してください。
    .settings = ほかの Mac…
    .unpaired = 別の Mac が一部を受け持てます: <settings>設定 › ほかの Mac</settings>。
    .is-spread = { $macs } に分けて読み込まれます。
macs-giving = { $mac } に層を送信中
    .progress = 送信した層
    .words = 送信が終わるとモデルが読み込まれます。層は次回のために相手の Mac に残ります。
    .stop = 停止
macs-plus = { $first } + { $rest }

## The Macs that compute

macs-ring = 計算する Mac
    .count = Mac { $count } 台
    .step = 1 ステップ { $time }
    .none = –
    .between = Mac どうしの間
