### Made by a machine; no native speaker has read it yet.

server-question = <strong>{ $server }</strong> 询问：
    .plain = { $server } 有问题要问你。
    .place = 第 { $at } 个，共 { $of } 个
    .message = 它的说明
    .required = 必填
    .none = 未选择
    .no-time = 这还不是带时间的日期。
    .missing = “{ $field }”尚未填写。
    .wrong = “{ $field }”：{ $problem }
    .note = 你填写的内容会原样发送给 { $server }。切勿在此填写密码。
    .not-opened = 此地址包含登录名，可能被误认为网站名。无法从这里打开。
    .send = 发送
    .open = 打开
    .decline = 拒绝
    .sent = 正在提交你的回答。
