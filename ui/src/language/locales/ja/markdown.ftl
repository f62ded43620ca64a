### Made by a machine; no native speaker has read it yet.

markdown-task = タスク
markdown-table = 表
    .copy = 表をコピー
markdown-formula = 数式
markdown-code = コード
    .copy = コピー
    .preview = プレビュー
    .no-scripts = ここではスクリプトは実行されません。
    .plain = テキスト

## Links

markdown-link = リンクのアドレス
    .copy = アドレスをコピー
    .mail = メールを作成
    .open = ブラウザで開く
markdown-link-other-site = リンクのテキストには別のサイト（{ $site }）が書かれています。
markdown-link-sign-in = サインイン用の名前「{ $name }」は省かれました。サイトは { $site } です。
markdown-link-one-mailbox = リンクにはほかの内容も含まれています。1 つの宛先と件名だけが使われます。
markdown-link-letters = 実際の表記は「{ $name }」で、{ $scripts }が使われています。別のサイトを装っている可能性があります。
markdown-script = { $script ->
    [latin] ラテン文字
    [cyrillic] キリル文字
    [greek] ギリシャ文字
    [armenian] アルメニア文字
    [georgian] ジョージア文字
    [cherokee] チェロキー文字
    [hebrew] ヘブライ文字
    [arabic] アラビア文字
    [devanagari] デーバナーガリー文字
    [bengali] ベンガル文字
    [tamil] タミル文字
    [thai] タイ文字
    [han] 漢字
    [hiragana] ひらがな
    [katakana] カタカナ
    [hangul] ハングル
   *[other] 外国の文字
}
