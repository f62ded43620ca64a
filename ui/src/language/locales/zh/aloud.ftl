### Made by a machine; no native speaker has read it yet.

aloud-reading = 朗读
aloud-place = 第 { $at } 句，共 { $all } 句
aloud-pause = 暂停
aloud-go-on = 继续
aloud-stop = 停止
aloud-nothing = 除了代码，没有可朗读的内容。
aloud-no-voice = { -here }上没有支持{ $language }的语音。
    .hint = 请在系统设置的朗读内容部分添加一种语音。
