### Made by a machine; no native speaker has read it yet.

## Buttons of a question, a reply and a summary

reply-copy = 复制
reply-edit = 编辑
    .continue = 继续编辑
    .cancel = 取消
reply-edited = 已编辑

## A question

reply-question = 你
    .message = 你的消息
    .pictures = 添加图片
    .picture-read = 仍在读取图片。
    .empty = 还没有可发送的消息。
    .kept = 之前的版本会保留。
    .send = 发送

## A reply

reply-name = 回复
reply-continue = 继续
    .broken = 从这里继续
reply-again = 重新回答
    .broken = 重试
reply-interrupted = 回复在完成之前中断了。
reply-failed = 回复失败，原因不明。
    .hint = 请重试。
reply-kept = { $words ->
    [0] 上面已写的内容会保留。
   *[other] 上面的 { $words } 个词会保留。
}
reply-stopped = 已停止
    .tokens = 在 { $tokens } 个词元处停止
    .longest = 达到回复长度上限后停止
reply-sources = 来源
    .close = 关闭

## The form of a reply or a summary

reply-form = 回复
    .summary = 摘要
    .empty = 回复不能为空。
    .summary-empty = 摘要不能为空。
    .unchanged = 还没有任何更改。
    .goes-on = 模型会接着你的文字继续。它原来的版本也会保留。
    .save = 存储

## What the model thought

reply-thinking = 正在思考…
    .seconds = 正在思考… { $seconds } 秒
    .unfinished = 思考未完成
    .answer-now = 立即回答
    .answer-now-why = 结束思考，根据目前的思考内容写出回答。
reply-thought = 思考了 { $seconds } 秒
    .brief = 思考了不到一秒
    .unknown = 回答前进行了思考
reply-thought-cut = 思考了 { $seconds } 秒，已达上限
    .brief = 思考了不到一秒，已达上限
    .unknown = 回答前进行了思考，已达上限

## How a reply was made

reply-page-compare = 与普通解码比较
reply-page-copy = 复制为 JSON
reply-page-auto = 使用“自动”
reply-page-measure = 测量
reply-page-speed = 过程中的速度
    .tokens = 词元
    .passes = 前向计算
    .first = 首个词元用时
    .thinking = 思考时
    .answer = 回答时
    .plain = 普通解码
    .beside = 与其他回复同时进行
    .beside-passes = { $steps } 次前向计算中的 { $shared } 次
reply-page-guesses = 各位置的草稿
    .share = 接受 { $share }
    .draft-model = 来自 DFlash 的草稿
    .text = 来自文本的草稿
    .accepted = { $drafted } 个中接受 { $accepted } 个
reply-page-parts = 思考与回答
reply-page-time = 时间用在哪里
reply-page-prompt = 提示词
    .tokens = { $tokens } 个词元
    .cached = 已记住
    .fresh = 新读取
    .pictures = 图片
    .context = 结束时的上下文
    .unseen = { $unseen }。
reply-page-memory = 内存
    .most = 自这条回复或与它同时生成的回复开始以来，引擎占用的最大内存：模型、它的对话以及计算过程中的数据。
    .chat = 此对话
    .about = 约 { $bytes }
reply-page-settings = 这条回复的设置
    .sampling = 采样
    .seed = 随机种子
    .again = 再次使用此随机种子
    .again-same = 只要提示词的读取方式相同，文字就相同
    .again-alike = 可能性相同的文字，但可能不一样
    .model = 模型
    .build = 软件版本
reply-page-reveal = 显示文本中的草稿
    .key = 预测出的词
reply-ahead = 提前 { $place } 个
    .more = 提前 { $place } 个或更多

## Charts of a reply

reply-position = 位置 { $place }：{ $drafted } 个草稿中接受 { $accepted } 个，百分之 { $share }。
    .count = { $accepted } / { $drafted }
reply-depth = 每次前向计算的草稿数变化
    .range = { $first } 到 { $last }
    .words = { $steps } 次前向计算中每次的草稿数：开始时 { $first }，结束时 { $last }，在 { $least } 与 { $most } 之间。
reply-parts-thinking = 思考
reply-parts-answer = 回答
reply-parts-tokens = 词元
reply-parts-passes = 前向计算
reply-parts-per-pass = 每次
reply-parts-accepted = 接受
    .none = 无草稿
reply-time = 解码用时 { $time }：{ $parts }。
    .draft = 起草
    .verify = 验证
    .sample = 采样
    .other = 其他

## A summary

reply-summary = 之前内容的摘要
    .whole = 显示完整对话
    .by = 由 { $model } 撰写
reply-summarise = 总结较早的部分
    .title = 在新对话中进行。此对话保持不变。
    .title-temporary = 在新对话中进行。此对话是临时对话，会随之关闭。
    .running = 正在生成摘要。
    .done = 摘要已完成，原对话在新对话中继续。
reply-summarising = 正在总结较早的部分
    .part = 正在总结第 { $part } 部分，共 { $of } 部分
    .hint = 对话将在新对话中继续，最近的消息保持原样。此对话保持不变。
    .hint-temporary = 对话将在新对话中继续，最近的消息保持原样。此对话是临时对话，会随之关闭。
    .stop = 停止

## Versions

reply-versions = 版本
    .at = { $at } / { $of }
    .earlier = 上一个版本
    .later = 下一个版本
    .no-earlier = 没有更早的版本。
    .no-later = 没有更新的版本。
    .none = 无
    .of-one = { $role ->
        [user] 1 个问题有 { $count } 个
        [assistant] 1 条回复有 { $count } 个
       *[other] 1 条消息有 { $count } 个
    }
    .of-several = { $role ->
        [user] { $count } 个问题有多个
        [assistant] { $count } 条回复有多个
       *[other] { $count } 条消息有多个
    }
reply-side-by-side = 并排比较
    .stop = 停止
    .back = 返回对话
    .back-esc = 返回对话（Esc）
    .keep = 保留此版本
    .left = 左侧的版本
    .right = 右侧的版本
reply-version = 版本 { $version }
    .of = 版本 { $version } / { $of }

## Messages that wait

reply-waiting = 等待中的消息
    .until = 回复完成后发送：
    .held = { $why }以下消息尚未发送：
    .send = 立即发送
    .edit = 编辑
    .drop = 不发送
    .files = { $count } 个文件
    .dropped = 这条消息不会发送。
reply-held-ended = 回复已结束。
reply-held-stopped = 回复已停止。
reply-held-unfinished = 回复未完成。

## How replies are written

reply-settings = 此对话的回复
reply-settings-words = 选词方式
    .term = 采样
reply-settings-thinking = 思考
reply-settings-system = 它应始终知道的内容
    .term = 系统提示词
    .label = 系统提示词
    .placeholder = 你是谁，你喜欢什么，它应该怎样写
reply-scope = 这些设置适用于
    .label = 消息下方的控制项适用于
    .all = 所有对话
    .all-words = MTP、采样和思考会在所有没有单独设置的对话中更改。
    .this = 此对话
    .this-words = MTP、采样和思考只在此对话中更改。
reply-label = 标准
    .greedy = 贪心
    .sampled = 采样
    .length = 长度不同
    .system-prompt = 系统提示词
    .changes = { $count } 项更改
reply-thinking-choice = 思考
    .longest = 思考长度上限
reply-in-tokens = 以词元计

## Presets

reply-preset = 预设
    .standard = 标准
reply-preset-keep = 存为预设
    .update = 更新“{ $name }”
    .delete = 删除
    .name = 新预设的名称
    .no-name = 预设还没有名称。
    .keep = 存储
reply-preset-chosen = “{ $name }”已替换此对话的系统提示词和设置。
    .standard = 模型自带的值已替换此对话的系统提示词和设置。
    .back = 之前的系统提示词和设置已恢复。
reply-preset-updated = “{ $name }”已更新。
reply-preset-deleted = “{ $name }”已删除。

## Sampling

reply-sampling = 选词方式
    .model = 模型自带
    .greedy = 贪心
    .greedy-words = 始终选择可能性最大的词，因此同样的问题会得到同样的回答。
    .own = 自定
    .own-words = 在这些限制内，按可能性抽取词语。
reply-seed = 随机种子 { $seed }
    .new = 每次使用新的随机种子
reply-temperature = 温度
    .words = 越高越自由
reply-top-p = Top-p
    .words = 1 为全部保留
reply-top-k = Top-k
    .words = 0 为全部保留
reply-min-p = Min-p
    .words = 0 为关闭
reply-xtc-chance = XTC 概率
    .words = 去掉首选词的频率
reply-xtc-threshold = XTC 阈值
    .words = 首选词的概率高于此值
reply-longest = 回复长度上限
reply-own-seed = 随机种子
    .words = 种子相同，文字相同
    .empty = 每次不同

## Notes

reply-temporary-left = 临时对话已关闭，其中的内容不会保留。
reply-pasted-large = { $name } 大于 { $megabytes } MB，无法粘贴。
reply-pasted-all-large = 这些文件合计大于 { $megabytes } MB，无法粘贴。
    .hint = 请用按钮选择这些文件，或将它们拖到窗口上。
reply-pasted-unread = 无法读取 { $name }。
reply-pasted-instead = 请用按钮选择此文件，或将它拖到窗口上。
