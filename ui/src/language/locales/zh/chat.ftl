### Made by a machine; no native speaker has read it yet.

chat-replies = 回复
chat-about = 约 { $count }
chat-standing = 每个对话都应知道的事
chat-project-knows = “{ $project }”所知的内容
chat-context = 上下文
    .used = 模型的上下文共 { $of } 个词元，已使用 { $used } 个。{ $more }
    .about = 模型的上下文共 { $of } 个词元，约已使用 { $used } 个。{ $more }
    .filled = 上下文的构成：已使用 { $share }。
chat-memory = 占用的内存
    .about = 约 { $size }
    .tokens = 记住的词元
    .why = 这部分内存在模型权重之外。其他对话需要空间时会将其释放，下次提问时再重新读取此对话。
chat-versions = 版本
chat-files = 文件

chat-filling = 用满之前，不会丢弃任何内容。
    .nearly = 上下文即将用满。不会丢弃任何内容：用满后，可以在新对话中继续，并以较早部分的摘要开头。
    .may-end = 下一条回复可能因上下文用满而中止。不会丢弃任何内容；可以在新对话中继续，并以较早部分的摘要开头。
    .full = 上下文已用满：模型无法再在此对话中回答。请在以较早部分的摘要开头的新对话中继续，或从之前的某条消息建立分支。
chat-room = 还可写约 { $words } 个字。
    .none = 已没有空间。
chat-fills =
    .always = 始终知道的内容
    .tools = 工具
    .files = 文件
    .messages = 消息
    .free = 可用
chat-tokens-used = 已使用 { $used } 个词元，共 { $of } 个。{ $more }
    .about = 约已使用 { $used } 个词元，共 { $of } 个。{ $more }
chat-new = 新建对话

chat-composer = 消息
    .project = 在 { $project } 中提问
    .model = 给 { $model } 发消息
chat-cannot-send =
    .reading = 仍在读取一个文件。
    .ask = 请提出问题：模型会读取长文件中与问题相关的部分。
    .empty = 还没有可发送的消息。
chat-send = 发送
    .title = 发送（Enter）
chat-stop = 停止
    .title = 停止（Esc）
chat-dismiss = 关闭
chat-attach = 添加文件或图片
    .files = 文件：文本、代码、PDF、Word、Excel
    .pictures = 图片
    .seeing = 使用能看图片的 { $model }
    .get = 获取能看图片的模型
chat-ask-two = 向两个模型提问
    .too = 同时向 { $model } 提问
chat-blind = { $model } 看不到图片，只会得知图片的名称。{ $reason }
    .nameless = 此模型看不到图片，只会得知图片的名称。{ $reason }
    .get = 获取能看图片的模型
    .use = 使用 { $model }
chat-blindness = 此模型只能读取文本。
    .left-out = 转换时略去了它的视觉部分。请重新转换原始模型以恢复。
    .not-described = 文件中包含视觉部分，但配置没有描述它。
    .unusable = 它的视觉部分无法使用：{ $reason }
    .too-little-memory = 内存不足以容纳它的视觉部分：有一张图片时需要 { $needed }，而此处模型最多可用 { $available }。请选择更小的模型。
chat-temporary-note = 临时对话：不会存储任何内容，离开后即消失。
    .keep = 保留此对话
chat-second = 此回复完成后，{ $model } 也会回答。
    .cancel = 取消
chat-answered-by = 此对话之前由 { $model } 回答。
    .demo = 此对话之前由演示模型回答。
    .again = 继续使用该模型
chat-goes-on = 对话在此继续。

chat-conversation = 对话内容
    .untitled = 新对话
    .latest = ↓ 最新
chat-opening = 正在打开你的对话。
    .why = 更新后的首次启动需要更长时间：更改对话之前，会先为所有对话制作副本。

chat-more-files = 另外 { $count } 个文件
chat-attached = 已添加的文件
    .long = 较长：只读取与问题相关的部分
    .part = 部分
    .reading = 正在读取
    .skip = 不等待 { $name }
    .skip-title = 不等待
    .take = 移除 { $name }
    .take-title = 移除
chat-file-count = { $count } 个文件
chat-file-cost = { $tokens } 个词元
    .about = 约 { $tokens } 个词元
chat-too-many-files = 一条消息最多只能附带 { $most } 个文件。
    .hint = 请移除一些文件，或将相关内容合并到一个文件中。
chat-files-too-large = 一条消息的文件总大小不能超过 { $most } MB。
    .hint = 请移除一些文件；没有模型能读取这么多内容。
chat-too-many-pictures = 一条消息最多只能附带 { $most } 张图片。
    .hint = 请移除一些图片，或分多条消息发送。

chat-pictures = 图片
chat-picture-gone = { $name }，文件已不存在
chat-picture-open = 打开 { $name }
chat-picture-take = 移除 { $name }
    .title = 移除
chat-picture-facts = { $width } × { $height } { $format }，{ $size }
chat-picture-cost = { $tokens } 个词元
    .named =
        { $name }：{ $tokens } 个词元，{ $detail ->
            [low] 低细节
            [standard] 标准细节
            [high] 高细节
           *[original] 全部细节
        }
    .in-detail =
        { $detail ->
            [low] 低细节
            [standard] 标准细节
            [high] 高细节
           *[original] 全部细节
        }下 { $tokens } 个词元
chat-detail =
    .low = 低，最多 { 256 } 个词元
    .standard = 标准，最多 { 1024 } 个词元
    .high = 高，最多 { 4096 } 个词元
    .original = 全部，以模型可读取的上限为准
chat-picture-close = 关闭
    .title = 关闭（Esc）
chat-picture-place = 第 { $place } 张，共 { $all } 张
chat-picture-copy = 复制
    .gone = 文件已不存在。
chat-picture-save = 存储…
    .saved = 已存储为 { $path }。
chat-seen = { $pictures } 张图片，{ $tokens } 个词元，查看用时 { $time }
    .remembered = { $pictures } 张图片，{ $tokens } 个词元，已记住
chat-unseen = { $pictures } 张图片未看到：{ $reasons }
    .no-sight = 模型只能读取文本
    .no-room = 上下文空间不足
    .missing = 文件已不存在
    .undecoded = 文件无法读取
    .counted = { $reason }（{ $count }）
chat-looking =
    { $pictures ->
        [1] 正在查看图片
       *[other] 正在查看 { $pictures } 张图片
    }
    .again = 正在重新查看之前的图片

chat-panel = 关于此回复和此对话
    .hide = 隐藏面板
    .show = 显示面板
    .shown = 显示的内容
    .reply = 此回复
    .chat = 此对话
    .empty = 有了回复之后，这里会说明它是如何生成的。

chat-how-made = 此回复的生成过程（{ $keys }）
chat-waiting = 正在等待
    .turn =
        { $ahead ->
            [0] 正在排队
           *[other] 正在排队，前面还有 { $ahead } 个
        }
    .writing = 正在生成
chat-reading = 正在读取 { $done }/{ $total }
    .prompt = 正在读取提示词
    .remembered = 已记住 { $count }
    .cached = （缓存）
    .left = 还剩 { $time }

chat-more = 此回复的更多操作
    .message = 你的消息的更多操作
chat-answer-again = 换用模型重新回答
chat-compare-drafts = 比较有无草稿的速度
chat-compare-versions = 并排比较
chat-guesses =
    .show = 显示文本中的草稿
    .hide = 隐藏文本中的草稿
chat-edit = 编辑
chat-read-aloud = 朗读
    .stop = 停止朗读
chat-copy-plain = 复制为纯文本
    .empty = 没有可复制的文字。
chat-branch = 分支为新对话
chat-delete-from = 删除此处及之后的内容

chat-mtp = 提前预测 <term>推测解码</term>
    .title = 提前预测：多词元预测
    .drafts = 每次前向计算的草稿数
    .unit = 相对普通解码的速度，{ -here }
    .own-head = 使用模型自带的头 <term>MTP</term>
    .note = 草稿出错只会多花一点时间，绝不会让回答变差。你的选择从下一条消息起生效。
chat-way =
    .auto = 只要划算就尽量多预测
    .off = 每次前向计算一个词
    .fixed = 预测 { $count } 个
    .dflash = 由草稿模型一次预测多个
    .lookup = 重复此对话中已有的内容，适合引用和修改
chat-needs-draft = 需要草稿模型
    .of = 需要草稿模型，{ $size }
    .not-loaded = 草稿模型已在此处，但未随模型加载
chat-rule = 保留哪些草稿
chat-rule-coupled = 文字相同
    .words = 模型抽取到相同的词时，保留该草稿。文字与不使用 MTP 时相同，除非两个词几乎不分上下：此时由舍入决定。
chat-rule-strict = 一字不差
    .words = 即使两个词几乎不分上下，文字也相同：较短的前向计算会被补齐，让{ -here }尽可能以同样的方式舍入。速度稍慢。
chat-rule-rejection = 更多草稿
    .words = 保留更多草稿，且每个词的概率与没有草稿时相同。即使使用随机种子，文字也会不同。

chat-story-plain = 每次前向计算写一个词。
    .unpaid = 没有草稿：在这里并不划算。
    .why = 没有提前预测，因此每次前向计算写一个词（词元）。
chat-story-wasted = 预测在这里几乎没有减少前向计算的次数。
    .why = 几乎所有草稿都是错的，因此每次前向计算大约只写一个词（词元）。
chat-story-unmeasured = 每次前向计算写了 { $words } 个词（词元）。
    .why = 普通解码只写一个。对于这类回复，{ -here }尚未测量由此带来的加速。
chat-story-measured =
    { $source ->
        [tune] 测量模型时
       *[replies] 在没有草稿的回复中
    }，普通解码在{ -here }上的速度为 { $rate } tok/s。
chat-story-gain = 速度是不预测时的 { $times } 倍。
    .why = 模型每次前向计算写了 { $words } 个词（词元），而不只是一个：它自己的词，以及猜对的草稿。{ $measured }
chat-story-loss = 预测在这里反而更慢：速度是普通解码的 { $times } 倍。
    .none = 预测在这里没有影响速度。
    .why = 每次前向计算写了 { $words } 个词（词元），但用时更长：需要生成并检查草稿。{ $measured }

chat-pass = 平均每次前向计算：自己的词 1 个，{ $guesses }；共 { $all } 个。
    .part = 第 { $place } 个草稿 { $figure } 个
    .own = 自己的词
    .place = 第 { $place } 个
    .guess = 第 { $place } 个草稿
    .unit = 词<line>每次前向计算</line>
    .caption = 未填满的部分：猜错的草稿。模型在那里写了别的词。

chat-thinking =
    .off = 关闭
    .brief = 简短
    .normal = 正常
    .long = 较长
    .limit = 限制
chat-thinking-reason =
    .no-switch = 此模型的对话模板没有思考开关。
    .always = 此模型的对话模板没有思考开关：它总会思考，只能让它想得短一些。
    .no-more = 此模型会自行决定思考多久，无法要求它思考更多。
chat-thinks =
    .off = 立即回答。
    .little = 要求它少思考。
    .brief = 思考最多 { $tokens } 个词元后开始回答，上下文较短时会更早。
    .normal = 由它自行决定思考多久。
    .much = 要求它多思考。
    .long = 由它自行决定思考多久，与“正常”相同。
    .limit = 思考达到这么多词元后，最迟开始回答。
chat-thinking-label =
    .off = 不思考
    .brief = 简短思考
    .long = 较长思考
    .limit = 思考上限 { $tokens }
