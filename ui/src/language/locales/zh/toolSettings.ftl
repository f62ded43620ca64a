### Made by a machine; no native speaker has read it yet.

settings-tools = 工具
    .note = 模型除了书写之外还可以使用什么。在你于对话中通过消息下方的“工具”打开之前，全部保持关闭。
settings-sure =
    .cancel = 取消

## The app’s own

settings-built-in = 内置
    .words = 计算和日期只在{ -here }上运行，无需询问。其他工具在读取、发送或更改任何内容之前都会先询问你。
settings-tool-calculator = 计算
    .words = 精确计算
settings-tool-date = 日期和时间
    .words = 告知当前日期和时间，并计算天数
settings-tool-pages = 网页
    .words = 读取所有人都能访问的网页，每个网站都会询问你
settings-tool-search = 网络搜索
    .words = 使用你在设置中指定的搜索服务
settings-tool-read-files = 读取文件
    .words = 列出、读取和搜索你所选文件夹中的文件
settings-tool-write-files = 更改文件
    .words = 在其中写入文本文件。每次更改都会先显示并询问你
settings-own-tool =
    .read-page = 读取网页
    .search-web = 搜索网络
    .list-files = 列出文件
    .read-file = 读取文件
    .search-files = 搜索文件
    .write-file = 写入文件
    .edit-file = 编辑文件
settings-own-lack =
    .search = 尚未设置搜索服务。
    .folder = 尚未选择文件夹。

## What the app’s own reach

settings-web = 网络
    .words = 模型通过你选择的 SearXNG 服务进行搜索：你自己的，或你信任的。
    .search = 搜索服务的地址
    .search-words = 模型搜索的内容只会发送到那里。留空则不搜索。
settings-folders = 文件
    .words = 模型只读取这些文件夹中的内容。每次更改都会先显示并询问你。
    .none = 尚未选择文件夹。
    .add = 添加文件夹…
    .remove = 移除
    .remove-label = 移除文件夹 { $name }

## Servers

settings-servers = 服务器
    .words = 提供工具的程序和地址（MCP）。运行其中的工具之前会先询问你。
    .none = 还没有服务器。
    .add = 添加服务器
settings-server-state =
    .off = 已关闭
    .stopped = 未运行。使用它的对话会启动它
    .starting = 正在启动…
    .running = 正在运行，有 { $count } 个工具
    .failed = 失败
    .signing-in = 正在等待你的浏览器…
    .signed-in = 已登录
settings-server-switch = 使用 { $name }
settings-server-busy = 请稍候：上一步尚未完成。
settings-server-start = 启动
settings-server-try = 重试
settings-server-sign-in = 登录…
    .label = 登录 { $name }
settings-server-give-up = 放弃
    .label = 放弃登录 { $name }
settings-server-sign-out = 退出登录
    .label = 退出登录 { $name }
settings-server-edit = 编辑
    .label = 编辑 { $name }
settings-server-remove = 移除…
    .label = 移除 { $name }
settings-server-remove-sheet = 移除 { $name }？
    .words = 你给它的许可以及钥匙串中的值也会一并移除。
    .sure = 移除
settings-server-fact =
    .command = 命令
    .arguments = 参数
    .program = 程序
    .not-found = 在{ -here }上未找到
    .address = 地址
    .variables = 变量
    .headers = 标头
    .values-kept = 值保存在系统的钥匙串中，不会显示
    .folder = 文件夹
    .own-folder = 专用文件夹
    .none = 无
settings-server-tools = 工具
    .words = 服务器对其工具的说明未经任何人核实。
    .unknown = 运行过一次之后才能知道。
    .list = { $name } 的工具
settings-tool-claims =
    .reads = 自称只读取
    .destroys = 可能删除或替换
    .keeps = 自称不会删除或替换
    .changes = 自称会作出更改
    .reaches = 会访问{ -here }以外
    .stays = 自称不离开{ -here }
    .nothing = 没有说明会做什么
settings-server-lines = 它最近输出的内容
    .show = 显示它最近输出的内容
    .again = 重新读取最近的内容
    .none = 它没有输出任何内容。

## A server that is written down

settings-server-form =
    .name = 名称
    .kind = 访问方式
    .program = 程序
    .http = 地址
    .command = 命令
    .arguments = 参数
    .arguments-words = 每行一个，不加引号
    .folder = 文件夹
    .folder-placeholder = 专用文件夹
    .address = 地址
    .words = 在你打开之前它保持关闭。打开前，系统会完整显示它运行或访问什么。
    .cancel = 取消
    .add = 添加
    .save = 存储
    .no-name = 服务器还没有名称。
    .no-command = 还没有指定程序。
    .no-address = 还没有地址。
    .no-value-name = 有一个值还没有名称。
settings-server-values =
    .variables = 变量
    .headers = 标头
    .name = 名称
    .value = { $name } 的值
    .kept = 保持不变
    .add-variable = 添加变量
    .add-header = 添加标头
    .words = 值会存入系统的钥匙串，之后不再显示。

## From other programs

settings-servers-import = 从其他程序导入
    .words = 只有在你要求时才会读取它们的文件，并且绝不更改。
    .from = 从 { $program } 导入
    .take = 导入
    .take-text = 从这段文本导入
    .text = 或粘贴 JSON
    .added = 已添加，全部处于关闭状态：{ $names }。
    .none = 没有添加任何内容。
    .left-out = { $name } 未导入。{ $why }

## What is allowed

settings-permissions = 已允许
    .words = 你允许了不止一次调用的内容。新的或此后有变化的工具会再次询问。
    .none = 无。
settings-permission =
    .one = { $server } 的 { $tool }
    .every = { $server } 的所有工具
    .chat = 在对话“{ $chat }”中，自 { $date } 起
    .untitled = 在一个对话中，自 { $date } 起
    .everywhere = 在所有对话中，自 { $date } 起
    .revoke = 收回
    .revoke-label = 收回：{ $what }
settings-stop-tools = 停止所有工具
    .words = 终止正在运行的调用，停止所有服务器，并收回你给的全部许可
    .ask = 全部停止…
settings-stop-tools-sheet = 停止所有工具？
    .words = 正在运行的调用会被终止，它们要做的事可能已经发生，也可能没有。所有服务器都会停止，你给的全部许可都会收回。
