### Made by a machine; no native speaker has read it yet.

settings-window = 设置
settings-page =
    .general = 通用
    .appearance = 外观
    .replies = 回复
    .models = 模型与内存
    .local-api = 本地 API
    .data = 隐私与数据
    .keyboard = 键盘
    .diagnostics = 诊断
    .notices = 第三方许可

## General

settings-language = 语言
    .words = 中文为机器翻译，尚未经母语者审阅
    .system = 跟随系统
settings-notifications = 通知
    .words = 当你在看别处时，告知较长的回复、下载和转换已完成
settings-keep-running = 关闭窗口后继续运行
    .words =
        { PLATFORM() ->
            [mac] 回复和下载会继续进行。点按“程序坞”中的图标即可重新打开窗口
           *[other] 回复和下载会继续进行。再次启动 Foretoken 即可重新打开窗口
        }
settings-quick = 快速提问
settings-quick-key = 从任何程序提问的快捷键
    .words = 在你当前的工作之上弹出一个小面板。转去做别的事时它会消失，回复会继续生成直到完成
settings-menu-bar = 在菜单栏中显示
    .words = 在任何程序中都能看到模型在做什么、速度如何
settings-updates = 更新
settings-update-check = 检查新版本
    .words = 向提供新版本的服务器询问哪个是最新版本。安装前会先征求你的同意
    .each-start = 每次启动时
    .weekly = 每周
    .never = 从不
settings-new-versions = 新版本
    .look = 立即检查
    .show = 显示…
    .unchecked = 尚未检查
    .newest = 已是最新版本（截至 { $date }）
    .checking = 正在检查…
    .found = 已有 Foretoken { $version }

## Appearance

settings-light = 浅色或深色
    .words = “自动”会跟随系统
    .auto = 自动
    .light = 浅色
    .dark = 深色
settings-size = 大小
    .words = 文字及其周围的一切。也可按 { $larger } 和 { $smaller }
    .value = 百分之 { $zoom }
settings-width = 文字宽度
    .words = 窗口较宽时
    .column = 标准
    .wide = 宽
settings-guessed = 预测的文字
settings-sample = 码头<one>边</one><two>的</two>灯<one>一盏</one><two>接</two><three>一盏</three>地亮了，<one>最后</one><two>一条</two><three>船</three>掉头<one>回家</one><two>。</two>
    .one = 提前 1 个
    .two = 提前 2 个
    .three = 提前 3 个或更多
settings-wake = 生成回复时着色
    .words = 为最新的几行着色，并随你的阅读逐渐淡去
settings-reveal = 在所有回复中保留着色
    .words = 随时可按 { $keys } 显示或隐藏
settings-hue = 颜色
    .words = 用于所有预测出来的文字
    .label = 预测文字的颜色
    .violet = 紫色
    .teal = 蓝绿色
    .orange = 橙色
    .pink = 粉色
settings-pulse = 数字旁的脉冲图
    .words = 模型每次前向计算对应一根柱子

## Replies

settings-replies-note = 适用于新对话，以及所有没有单独设置的对话。
settings-mtp =
    .words = 模型提前预测多少个词元。“自动”会选择划算的做法
    .label = 每次前向计算的草稿数
settings-thinking = 思考
    .words = 能思考的模型在回答之前可以思考多少。
settings-standing = 每个对话都应知道的事
    .words = 从你的下一条消息起，放在各对话自己的系统提示词之前。某个对话也可以不用它：在面板的“此对话”中设置。
    .example = 例如：我用黑麦烘焙。使用公制单位。回答简短。
settings-sampling = 选词方式
    .words = 采样。每个模型会记住各自的设置。

## Models and memory

settings-hub-token = Hugging Face 令牌
    .set = 已设置，保存在系统的钥匙串中
    .unset = 未设置。只有访问受限的模型才需要
settings-unload = 释放模型占用的内存
    .words = 一段时间无人提问之后释放。下次提问时会重新加载模型，所需时间与启动时相同
    .never = 从不
    .after =
        { $minutes ->
            [1] 1 分钟后
           *[other] { $minutes } 分钟后
        }
settings-earlier-turns = 较早的对话内容
    .words = 已读过的对话内容会记在闲置的内存中，内存紧张时便会释放。这里无需设置

## Local API

settings-api = 允许{ -here }上的其他程序使用模型
    .words-on = 与 OpenAI 和 Anthropic 的 API 兼容。关闭窗口后 Foretoken 会继续运行
    .words-off = 与 OpenAI 和 Anthropic 的 API 兼容。在你打开之前保持关闭
settings-api-state =
    .off = 已关闭
    .starting = 正在启动…
    .on = 已开启：{ $address }
    .port-taken = 端口 { $port } 已被其他程序占用
    .port-taken-by = 端口 { $port } 已被 { $name }（进程 { $pid }）占用
    .take-port = 使用端口 { $port }
    .requests = { $count } 个请求
    .rate = { $rate } tok/s
settings-address = 地址
    .words = 使用 Anthropic API 的程序不加 /v1
    .copy = 复制地址
settings-network-address = 从其他设备访问
    .words = 它们必须发送令牌。传输过程没有任何加密
    .copy = 复制供其他设备使用的地址
settings-copy = 复制
    .done = 已复制
settings-api-token = 令牌
    .in-file = 保存在只有你能读取的文件中
    .in-keychain = 保存在系统的钥匙串中
    .hidden = 已隐藏
    .copy = 复制令牌
    .renew = 更换
    .renew-label = 生成新令牌
settings-renew-token = 生成新令牌？
    .words = 原来的令牌将失效，正在处理的请求会终止
    .keep = 保留
    .sure = 生成新的
settings-snippets = 可直接粘贴
    .program = 程序
    .copy = 复制用于 { $program } 的文本
    .text = 用于 { $program } 的文本
    .note = 无法用于 Cursor：请求由它的服务器发出，而那些服务器无法访问{ -here }。
    .note-token = 复制时会填入令牌。{ settings-snippets.note }
settings-snippet-name =
    .python = { $library }（Python）
    .node = { $library }（Node）
settings-snippet-place =
    .terminal = 在终端中
    .own-terminal = 在启动它的终端中
    .codex = 写入 ~/.codex/config.toml；令牌放入变量 FORETOKEN_TOKEN
    .zed = 写入 settings.json；Zed 会在自己的设置中要求输入令牌
    .continue = 写入 ~/.continue/config.yaml

settings-requests = 请求
    .now = 当前 { $count } 个
    .last = 显示最近 { $count } 个
    .all = 显示全部 { $count } 个
    .none = Foretoken 启动以来还没有收到请求。
    .table = 其他程序的请求
settings-requests-column =
    .time = 时间
    .from = 来源
    .stage = 进度
    .rate = tok/s
    .accepted = 接受
    .accepted-of = 占预测词元的比例
    .stop = 停止
settings-request =
    .now = 现在
    .waiting = 等待中
    .reading = 正在读取 { $percent }
    .writing = 正在生成
    .tokens = { $count } 个词元
    .stop = 停止
    .stop-one = 停止 { $program } 的请求
    .done = 已完成
    .stopped = 已停止
    .left = 程序已断开
    .refused = 被拒绝：{ $reason }
settings-refusal =
    .too-long = 提示词过长
    .queue = 等待的请求过多
    .engine = 引擎已停止
    .no-model = 未加载模型
    .memory = 内存不足
    .tools = 模型不支持调用工具
    .template = 模型的模板不接受

settings-more = 更多
settings-port = 端口
    .same = 当前就是这个端口。
    .range = 端口是 1024 到 65535 之间的数字。
    .use = 使用此端口
settings-needs-token = 要求程序提供令牌
    .words = 如不要求，{ -here }上的所有程序都能使用模型，但浏览器中的网页不能
settings-network = 此网络中的其他设备
    .words = 持有令牌的手机和电脑可以使用模型。它们发送的内容没有加密。根据回答多快开始、有多少词元来自缓存，它们可以判断{ -here }以前是否读过某段提示词，包括你对话中的内容。只有保持此项关闭才能避免
settings-may-load = 允许程序加载模型
    .words = 仅在窗口关闭期间。你回来时会重新加载你的模型
settings-rows = 同时生成的回复数
    .words = 超出的请求会排队。同时进行时，每个回复会变慢，但总体更快
settings-api-sampling = 采样
    .words = 用于程序没有指定温度等参数时
    .app = 按 App 中的选择
    .model = 按模型作者的推荐
settings-origins = 允许连接的网页
    .words = 浏览器中的网页以及基于网页的 App，只有列在这里才能使用模型
    .add = 网页的来源
settings-aliases = 名称
    .words = 程序请求这些名称时，会得到这里的某个模型。以 * 结尾的名称代表所有以此开头的名称
    .model = { $name } 对应的模型
    .loaded = 已加载的模型
    .add = 程序请求的名称
    .taken = 已有模型使用此名称。
settings-list =
    .add = 添加
    .empty = 尚未输入内容。
    .there = 已在列表中。
    .remove = 移除
    .remove-one = 移除 { $what }

## Privacy and data

settings-data-note = 一切都留在{ -here }上。只有搜索和下载模型时会访问 Hugging Face。
    .updates = 一切都留在{ -here }上。只有搜索和下载模型时会访问 Hugging Face，检查新版本时会访问其发布处。
settings-all-chats = 所有对话
    .words = 一个 JSON 文件包含全部内容，可以重新导入
    .import = 导入…
    .export = 导出…
settings-keep-read = 保留模型已读过的对话内容
    .words = 重新启动后，对话可以立即继续。最多占用{ -here }上的 10 GB 空间，并随对话一起删除；关闭后会全部移除
settings-files = 文件
    .reveal = { word-show-folder }：{ $place }
settings-place-settings = 设置
    .words = 你所做的选择
settings-place-chats = 对话
    .words = 对话、其中未发送的文字及每日副本
settings-place-models = 模型
    .words = 下载或转换得到的模型
settings-place-cache = 缓存
    .words = 可以重新生成的内容，随时可以删除
settings-place-log = 日志
    .words = App 和引擎的输出，包括本次和上次启动
settings-leaving = 移除数据
settings-remove = 移除 Foretoken 存储的一切
    .words = 对话、设置、缓存和模型。之后 Foretoken 会退出
    .sizes = { $size } 的对话、设置和缓存，以及 { $models } 的模型。之后 Foretoken 会退出
    .ask = 移除…
settings-remove-sheet = 移除一切？
    .words = 对话及其副本、设置、模型已读过的内容、测量结果、日志以及钥匙串中的令牌都会永久删除。如果以后还想要这些对话，请先导出。
    .models = 同时移除模型（{ $folder } 中的 { $size }）
    .cancel = 取消
    .remove = 移除并退出
    .remove-all = 移除一切（包括模型）并退出

## Diagnostics

settings-log = 日志
    .copy = 复制日志
    .note = 报告和日志不包含任何对话内容。
    .empty = 没有可显示的内容。
settings-log-level =
    .label = 要显示的行
    .error = 错误
    .warn = 错误和警告
    .info = 所有重要内容
    .debug = 全部
settings-report =
    .copy = 复制报告
    .unready = 报告尚未就绪。
settings-crashes = 崩溃
    .words = 系统为它们生成了报告。这些报告不会发送到任何地方；此处的报告会提及最新的一份

## Third-party notices

settings-notices-note = Foretoken 包含他人的成果，依照以下许可证使用。
settings-bill = 物料清单
    .words = 同样的内容，供程序读取的 CycloneDX 列表，含版本和哈希值
settings-licence = 许可证
    .of = { $name } 的许可证
    .text = { $name } 的许可证文本
