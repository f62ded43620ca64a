### Made by a machine; no native speaker has read it yet.

## What screen readers are told of a reply

frame-reply-begun = 正在生成回复。
frame-reply-interrupted = 回复已中断。
frame-reply-stopped = 回复已停止。
frame-reply-cut = 回复因达到词元上限而被截断。
frame-reply-failed = 回复失败。
frame-reply-finished = 回复已完成。
    .speed = 回复已完成，每秒 { $speed } 个词元。
    .gain = 回复已完成，速度为普通的 { $factor } 倍。

## The window

frame-to-project = 前往项目“{ $name }”
frame-more-for-chat = 此对话的更多操作
frame-more-for-project = 此项目的更多操作
frame-more-for-chats = 所有对话的更多操作
frame-add-files = 添加文件
frame-drop = 拖放图片、文本文件或文稿可将其作为附件添加，拖放模型文件夹可添加模型，拖放 JSON 文件可导入其中的对话。
frame-drop-project = 拖放文件可将其添加到“{ $name }”，拖放文件夹可将其作为项目的文件夹。
frame-undo = 撤销
frame-dismiss = 关闭
frame-settings = 设置
frame-sidebar = 对话与界面
frame-sidebar-width = 边栏宽度
    .now = { $pixels } 像素
    .hint = 拖移可更改宽度；连按两次可还原
frame-minutes-left = { $minutes } 分钟
frame-hours-left = { $hours } 小时
frame-progress = { $stage }：{ $name }
frame-new-chat-keys = 新建对话（{ $keys }）

## An empty chat

frame-temporary = 临时对话
    .words = 此对话的任何内容都不会存储。除非你保留它，否则离开后即会消失。
frame-new-chat = 新对话
frame-stays-here = 你写的内容绝不会离开{ -here }。
    .first = 你写的内容绝不会离开{ -here }。无需账户。

## Why nothing can be sent

frame-engine-starting = 引擎正在启动。
frame-loading = 正在加载 { $model }
    .progress = 已读取的权重
    .words = 现在就可以开始写。模型就绪后，消息会自动发送。
frame-try-again = 重试
frame-load-again = 重新加载
frame-choose-model = 选择模型

## The first start

# The words in <one> are tinted as a first guess, those in <two> as a second one.
frame-first = <one>Qwen</one><two> 在</two>{ PLATFORM() ->
    [mac] 你的<one> Mac</one>{ " " }
   *[other] 这台<one>电脑</one>
}上<one>提前</one><two>预测</two>。
    .words = 模型先预测接下来的几个词，再一次性检查，保留正确的部分。文字完全相同，只是来得更快。带底色的词是预测正确的词；颜色越深，预测得越远。
frame-try = 立即试用
    .words = 演示模型很小，能立即回答，但只会英文。
frame-example-story = 讲一个猫头鹰和铃铛的故事
frame-example-table = 制作一张四个国家的表格
frame-example-prediction = 什么是多词元预测？

## The model to work with

frame-offer = 适合日常使用的模型
    .get = 获取适合日常使用的模型
frame-other-models = 其他模型
frame-download = 下载
    .prepared = 正在准备下载。
    .open = 前往下载项
frame-coming = 就绪后即可使用。
    .demo = 你可以继续使用演示模型。
frame-is-here = 它就在{ -here }上：
frame-use = 使用
    .label = 使用：{ $name }
frame-use-elsewhere = 使用
    .several = 使用
frame-anything = 获取一个模型，或打开{ -here }上已有的模型。
    .demo = 演示模型会讲小故事，知道一些常识和算术，也了解这个 App。要真正对话，请获取更大的模型，或打开{ -here }上已有的模型。
    .get = 获取模型
frame-error-details = 详细信息（英文）
