### What a server asks in the middle of a call, above the composer.

server-question = <strong>{ $server }</strong> asks:
    .plain = { $server } asks you something.
    .place = { $at } of { $of }
    .message = What it says
    .required = required
    .none = Nothing chosen
    .no-time = This is no date with a time yet.
    .missing = “{ $field }” is still empty.
    .wrong = “{ $field }”: { $problem }
    .note = This goes to { $server } as you write it. Never write a password here.
    .not-opened = This address names somebody to sign in as, which could pass for a site. It is not opened from here.
    .send = Send
    .open = Open it
    .decline = Decline
    .sent = Your answer is on its way.
