### Made by a machine; no native speaker has read it yet.

state-opening = 正在打开对话。
state-nobody-answers = 没有模型可以回答。消息上方的提示说明了原因。
state-sending = 上一条消息仍在发送。
state-starting = 引擎仍在启动。
state-loading = 正在加载模型。
state-not-loaded = 没有加载模型，因此不知道它自带的数值。
state-writing = 此对话中正在生成回复。
state-summarising = 正在生成此对话的摘要。
state-unreachable = App 自身的进程没有响应：{ $why }。
    .hint = 请关闭窗口并重新打开 Foretoken。已写的内容会保留。
