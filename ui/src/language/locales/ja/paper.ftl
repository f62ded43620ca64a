### Made by a machine; no native speaker has read it yet.

paper-unnamed = チャット
paper-instructions = 常に知っておくこと
paper-person = あなた
paper-reply = 応答
paper-thinking = 思考
paper-picture = 画像: { $name }
paper-file = ファイル: { $name }
