### Made by a machine; no native speaker has read it yet.

quick-ask = 随便问
    .further = 继续提问
    .label = 问题
quick-no-model = 无模型
quick-reply = 回复
    .thinking = 正在思考

## What the keys do, after their names

quick-stop = 停止
quick-close = 关闭
quick-go-on = 在窗口中继续
quick-copy = 复制回复
quick-anew = 重新提问
quick-choose-keys = 设置随处呼出此窗口的快捷键
quick-shown-by = 按 <key>{ $keys }</key> 可随处呼出

## The keys that show the panel

quick-keys-off = 无
quick-keys-alt-space = { PLATFORM() ->
    [mac] ⌥空格
   *[other] Alt+空格
}
quick-keys-control-alt-space = { PLATFORM() ->
    [mac] ⌃⌥空格
   *[other] Ctrl+Alt+空格
}
quick-keys-shift-command-space = { PLATFORM() ->
    [mac] ⇧⌘空格
   *[other] Ctrl+Shift+空格
}
