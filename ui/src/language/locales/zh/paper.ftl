### Made by a machine; no native speaker has read it yet.

paper-unnamed = 对话
paper-instructions = 它应始终知道的内容
paper-person = 你
paper-reply = 回复
paper-thinking = 思考
paper-picture = 图片：{ $name }
paper-file = 文件：{ $name }
