### Made by a machine; no native speaker has read it yet.

menu-file = 文件
menu-edit = 编辑
menu-view = 显示
menu-chat = 对话
menu-window = 窗口
menu-help = 帮助
menu-about = 关于 Foretoken
menu-services = 服务
menu-hide = 隐藏 Foretoken
menu-hide-others = 隐藏其他
menu-show-all = 全部显示
menu-undo = 撤销
menu-redo = 重做
menu-cut = 剪切
menu-copy = 复制
menu-paste = 粘贴
menu-select-all = 全选
menu-full-screen = 进入全屏幕
menu-minimize = 最小化
menu-zoom = 缩放
menu-bring-all-to-front = 前置全部窗口

bar-open = 打开 Foretoken
bar-writing = { $model }：{ $speed } tok/s
bar-ready = { $model } 已就绪
bar-given-back = { $model }：内存已释放
bar-loading = 正在加载模型
bar-starting = 正在启动
bar-failed = 没有可用的模型

window-settings = 设置
window-progress = Foretoken，{ $percent }%

quit-temporary = 有一个临时对话还开着
    .message = 退出 Foretoken 后，它的内容将全部消失。使用对话菜单中的“保留此对话”可将其存储。
quit-summary = 摘要仍在生成
    .message = 摘要会丢失。对话保持原样，可以再次生成摘要。
quit-reply = 回复仍在生成
    .message = 已写的内容会保留，下次启动时可以继续。
quit-request = 另一个程序正在使用模型
    .message = 它的请求会随 Foretoken 一起结束。
quit-sure = 退出
quit-not = 不退出

told-reply-ended = 回复已完成。
told-reply-stopped = 回复已停止。
told-reply-asks = 回复正在等待你的答复。
told-benchmark = { $name } 已测量
    .message = “基准测试”页面会显示它的速度。
told-probe = { $name } 已测量
    .message = 请为转换选择大小。
told-comparison = { $name } 已与原模型比较
    .message = 详细信息中会显示两者有多接近。
told-move = 模型库已移动
    .message = 现在位于 { $path }。
told-ready = { $name } 已就绪
    .message = 现在可以使用了。
told-failed = { $name } 已停止
told-going-on = Foretoken 继续运行
    .message = { PLATFORM() ->
        [mac] 本地 API 打开时，其他程序可以使用它的模型。可从“程序坞”或按 ⌘Q 退出。
       *[other] 本地 API 打开时，其他程序可以使用它的模型。再次打开 Foretoken 即可恢复窗口。
    }

dialog-attach-files = 添加文件
dialog-attach-pictures = 添加图片
    .kind = 图片
dialog-export = 导出
dialog-export-benchmarks = 导出基准测试
    .file = Foretoken 基准测试
dialog-export-prompts = 导出提示词
    .file = Foretoken 提示词
dialog-import-chats = 导入对话
    .kind = 对话
dialog-import-prompts = 导入提示词
    .kind = 提示词
dialog-library-folder = 选择模型库的文件夹
dialog-model-folder = 打开模型文件夹
dialog-project-files = 将文件添加到项目
dialog-project-folder = 选择项目的文件夹
dialog-tool-folder = 选择模型可以使用其中文件的文件夹
dialog-save-picture = 存储图片
dialog-measure-text = 选择用于测量的文本

tool-server = 启用“{ $name }”？
    .program = 每当对话使用它时，此程序将以您在这台电脑上的全部权限运行：
    .arguments = 参数：
    .variables = 环境变量：
    .folder = 文件夹：
    .address = 模型为其工具所写的内容将发送到此地址：
    .headers = 请求头：
    .agree = 启用
    .disagree = 保持关闭

tool-sign-in = 登录“{ $name }”？
    .address = 您的浏览器将打开此页面。服务器授予的凭据保存在系统的钥匙串中。
    .tokens = 浏览器带回的内容将发送到：
    .lang = zh
    .agree = 打开浏览器
    .disagree = 暂不
    .done = 您已登录。可以关闭此窗口并返回 Foretoken。
    .not-done = 登录未成功。Foretoken 会说明原因。

chat-temporary = 临时对话
chat-file = 对话
project-new = 新建项目

job-measured = 请在模型菜单的“转换…”中选择大小。
job-compared = 模型的详细信息会显示它与原模型有多接近。
job-source-stays = 原模型正在使用，已保留。不再需要时，可在下方删除。
job-name-taken = 未转换：正在用另一个模型生成同名的模型。

summary-converted-with-head = 由他人转换，带 MTP 头
summary-converted-without-head = 由他人转换，不带 MTP 头
summary-experts = 知识如大模型，速度如小模型
summary-small = 简短问题、摘要、小任务
summary-middle = 日常问题与写作
summary-large = 回答最细致，但较慢

folder-first-files = 只读取文件夹中的前 { $count } 个文件。
folder-closed = { $others ->
    [0] 无法查看 { $path }。之前在那里读取的内容会保留。
   *[other] 无法查看 { $path } 和另外 { $others } 处。之前在那里读取的内容会保留。
}
