### Made by a machine; no native speaker has read it yet.

macs-page = 其他 Mac
    .words = 对本机来说太大的模型，可以把它的层分给你已配对的 Mac。

## Paired

macs-paired = 已配对
    .none = 尚未与其他 Mac 配对。
macs-this = 本机
    .leads = 主导
    .memory = { $size } 可供模型使用
macs-state =
    .here = 已连接
    .asking = 正在询问…
    .away = 没有响应
macs-free = { $size } 可用
macs-may-use = 可使用本机
    .not = 不可使用本机
    .switch = 允许“{ $name }”使用本机
macs-more = “{ $name }”的更多操作
macs-test = 测试连接
macs-allow = 允许它使用本机
    .no-longer = 不再允许它使用本机
macs-address = 更改地址…
    .label = “{ $name }”的地址
    .save = 存储
    .cancel = 取消
    .same = 已经是这个地址。
    .missing = 需要一个地址。
macs-forget = 忘记
    .ask = 忘记…
macs-forget-sheet = 忘记“{ $name }”？
    .lends = 它将不再为本机计算。分布在它上面的模型会只在本机上加载（如果放得下）。要再次使用它，请重新配对。
    .borrows = 它在这里的计算会结束，在重新配对之前也不能再使用本机。
    .sure = 忘记

## Together they hold

macs-together = 共同加载
    .drag = 拖动分界线可移动层
    .alone = 仅在本机上加载
    .with-layers = 按这些层加载
    .as-it-was = 恢复原样
macs-layers = { $count } 层
macs-part = { $name }，{ $size }
    .layers = { $name } { $layers }
    .too-much = 超过它可供模型使用的 { $usable }
macs-edge = { $left }与{ $right }之间的层

## Pair another Mac

macs-pair = 与另一台 Mac 配对
    .none = 网络中可供使用的 Mac 会显示在这里。
    .button = 配对
    .button-for = 配对：{ $name }
    .field = 另一台 Mac 的地址
    .example = 主机或 主机:端口
    .empty = 请输入另一台 Mac 显示的地址。
    .busy = 正在进行配对。
macs-pairing =
    .asking = 正在询问 { $whom }…
    .cancel = 取消
    .digits = 数字是 { $digits }。
    .question = “{ $name }”显示的数字是否相同？
    .both = 双方都要确认。{ $time }内有效。
    .borrows = 之后“{ $name }”可以使用本机。
    .lends = 之后本机可以使用“{ $name }”。
    .no = 不同
    .same = 相同
    .waiting = 正在等待另一台 Mac…
    .waiting-time = “{ $name }”还需要确认。{ $time }内有效。
    .paired = 已与“{ $name }”配对。
    .trust = 供人使用的 Mac 的所有者原则上能够推断出由它计算的对话中写了什么。因此请只与你信任的 Mac 配对。
    .close = 关闭

## Lend this Mac

macs-lend = 出借本机
macs-lend-on = 允许已配对的 Mac 使用本机
    .off = 关闭时，本机不在网络上监听。
    .on = 打开时，本机会在网络上监听。只有已配对的 Mac 能够进入，你可以随时停止。
    .starting = 正在启动…
macs-lend-address = 地址
    .words = 如果另一台 Mac 找不到本机，请在那里输入
    .copy = 拷贝
macs-lend-pair = 允许一台 Mac 配对
    .words = 两分钟内有效。随后两台 Mac 会显示一个供比较的数字
    .open = 还开放 { $time }。请在另一台 Mac 上选择本机
    .button = 允许一台 Mac 配对
    .stop = 停止
    .not-yet = 本机尚未开始监听。
macs-lend-memory = 内存
    .words = 其他 Mac 的模型在这里最多可占用的内存
    .all = 与本机供模型使用的一样多
    .all-of = 与本机供模型使用的一样多（{ $size }）
macs-lend-keep = 保留模型的层
    .words = 其他 Mac 会把由本机计算的层传给本机。最久未使用的会让出空间
    .none = 不保留
    .most = 最多 { $size }
macs-lend-power = 仅在接通电源时
    .words = 本机使用电池时不行
macs-lend-unused = 我在这里聊天时不行
    .words = 你自己的模型空闲时会让出内存，你使用它时借用即结束
macs-loan = 自 { $time } 起，{ $mac } 在这里计算 { $model } 的一部分
    .words = 在此期间本机可能会变慢
    .stop = 立即停止
macs-stored = { $model }，来自 { $mac }
    .remove = 移除
    .remove-of = 移除：{ $model }
    .in-use = 正在使用中。

## What other Macs could do for a model

macs-outlook = 使用多台 Mac
    .open = 使用多台 Mac…
    .asking = 正在询问你的其他 Mac…
    .use = 也使用其他 Mac
    .again = 再次询问
    .fits = { $macs } 放得下。
    .figures = 对话最长 { $context } · 不预先猜测时约 { $rate } 词元/秒（估计）
    .left-out = 不需要：{ $macs }。
    .load = 在这些 Mac 上加载
    .lacking =
        { $count ->
           *[other] { $macs } 上没有这个模型。
        }
    .lacking-hint = 请在那台 Mac 的“设置 › 其他 Mac”中允许保留模型的层，或在那里下载该模型。
    .too-big = 对你所有的 Mac 加起来也太大。
    .too-big-hint = 它们合计可供模型使用 { $size }。
    .nobody = 没有已配对的 Mac 响应。
    .nobody-hint = 请确认其他 Mac 已唤醒、已连接，并允许本机使用。
    .settings = 其他 Mac…
    .unpaired = 另一台 Mac 可以承担其中一部分：<settings>“设置”›“其他 Mac”</settings>。
    .is-spread = 它分布在 { $macs } 上。
macs-giving = 正在向 { $mac } 传送它的层
    .progress = 已传送的层
    .words = 传送完成后将加载模型。这些层会保留在那台 Mac 上，供下次使用。
    .stop = 停止
macs-plus = { $first } + { $rest }

## The Macs that compute

macs-ring = 参与计算
    .count = { $count } 台 Mac
    .step = 每步 { $time }
    .none = –
    .between = 彼此之间
