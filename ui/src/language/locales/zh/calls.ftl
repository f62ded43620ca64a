### Made by a machine; no native speaker has read it yet.

## What is heard

call-announce = Foretoken 询问是否允许运行工具。
    .paused = 回复已暂停。请继续或停止。

## A call, in a line

call-state =
    .checking = 正在检查
    .refused = 未运行
    .asking = 等待你的回答
    .allowed = 已允许，等待你的其他回答
    .denied = 你已拒绝
    .failed = 失败
    .stopped = 已停止
    .timed-out = 用时过长
    .unknown = 结果未知
call-unknown = 运行期间应用退出了。它可能已经执行，也可能没有。
call-runs = 正在运行…
    .seconds = 正在运行… { $seconds } 秒
call-written = 正在写入…
call-works = 工具正在运行…
call-steps = { $count } 个步骤

## All of a call

call-decision =
    .once = 你允许了这一次。
    .chat = 你允许在此对话中使用这个工具。
    .always = 你允许在任何地方使用这个工具。
    .own = 此工具无需询问即可运行。
call-arguments = 参数
    .none = 没有参数。
    .changed = 参数（你修改后的）
    .written = 参数（模型所写的）
call-result = 结果
    .none = 工具没有返回任何内容。
    .model = 模型得到的内容
    .left-out = 省略了 { $tokens } 个词元。
    .picture = 未显示的图片（{ $kind }）
    .picture-name = 来自工具的图片
    .unread = 无法显示结果：{ $why }

## The question before a call runs

call-question = Foretoken 询问：可以运行 <strong>{ $server }</strong> 的 <strong>{ $tool }</strong> 吗？
    .own = Foretoken 询问：可以运行 <strong>{ $tool }</strong> 吗？
    .plain = Foretoken 询问：可以运行 { $server } 的 { $tool } 吗？
    .own-plain = Foretoken 询问：可以运行 { $tool } 吗？
    .shown = { $count ->
        [one] 参数已完整显示，没有隐藏内容。
       *[other] 全部 { $count } 个参数均已完整显示，没有隐藏内容。
    }
    .shown-all = 内容已全部显示，没有隐藏内容。
    .hidden = 有 { $count } 个字符本来看不见，现显示为 ⟨U+…⟩。
    .edit = 修改
    .json = JSON 格式的参数
    .editing = 工具将改为收到这些内容。
    .leave = 保持原样
    .no-object = 这还不是 JSON 对象。
    .unseen = 更改尚未显示。
    .allow = 允许一次
    .deny = 拒绝
    .deny-why = 拒绝并说明原因…
    .why = 要告诉模型的话，然后按回车
    .longer = 始终
    .longer-label = 始终允许
    .in-chat = 此对话中的这个工具
    .always = 任何地方的这个工具（以现在的样子）
    .files-in-chat = 此对话中的这个工具，限所选的所有文件夹
    .files-always = 任何地方的这个工具，限所选的所有文件夹
    .pages-in-chat = 此对话中 { $host } 的网页
    .pages-always = 任何地方的 { $host } 的网页
    .server = 此对话中 { $server } 的所有工具，可能删除内容的除外
    .leak = 此对话读取过只属于你的内容和陌生人写的内容，而这次会向外发送信息。无论之前允许过什么，请仔细确认。
    .sent = 正在提交你的回答。
call-origin =
    .program = 在{ -here }上运行：
    .address = 发送到：
    .claims = 此工具{ $claims }。没有人核实过。
    .gone = 此服务器已不在设置中。
    .folder = 文件夹：
    .no-folder = 你没有选择过这个名称的文件夹。
    .no-address = 没有可以发送到的地址。
call-change =
    .creates = 将新建 <code>{ $path }</code>
    .changes = 将更改 <code>{ $path }</code>
    .waits = 正在查看会更改什么…
    .again = 重试
    .none = 文本将保持原样。
    .line = 从第 { $line } 行起
    .no-end = 末尾没有换行

## A reply that rests

call-waits = 正在等你回答。模型会从这里继续。
call-paused = 已使用工具 { $count } 轮。
    .go-on = 继续
    .stop = 停止
call-rests = 请先回答上面的问题。
    .paused = 请先在上面选择继续或停止。

## Which tools a chat may use

call-tools = 工具
    .title = 此对话中的工具
    .servers = 服务器
    .no-servers = 没有打开任何服务器。
    .untaught = 这个模型没有学过使用工具。
    .anew = 工具与之前不同：发送下一条消息时会重新读取整个对话。
    .cost = 所选工具占用此对话的 { $tokens } 个词元。
    .settings = 设置…
    .gone = 已不在设置中
    .off = 已在设置中关闭
    .count = { $state } · { $count } 个工具

## How it was made

call-rounds = 轮次
    .one = 第 { $number } 轮
    .why = 使用工具的回复不与普通解码比较。
