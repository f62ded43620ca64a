### Made by a machine; no native speaker has read it yet.

server-question = <strong>{ $server }</strong> からの質問：
    .plain = { $server } から質問があります。
    .place = { $at } / { $of }
    .message = サーバからのメッセージ
    .required = 必須
    .none = 未選択
    .no-time = まだ日付と時刻になっていません。
    .missing = 「{ $field }」が未入力です。
    .wrong = 「{ $field }」：{ $problem }
    .note = 入力した内容はそのまま { $server } に送られます。パスワードは決して入力しないでください。
    .not-opened = このアドレスにはサインイン用の名前が含まれ、サイト名と見間違えるおそれがあります。ここからは開けません。
    .send = 送信
    .open = 開く
    .decline = 断る
    .sent = 回答を送っています。
