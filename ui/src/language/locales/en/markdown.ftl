### What stands around the text of a reply: its code, tables and links.

markdown-task = Task
markdown-table = Table
    .copy = Copy table
markdown-formula = Formula
markdown-code = Code
    .copy = Copy
    .preview = Preview
    .no-scripts = Scripts do not run here.
    .plain = Text

## Links

markdown-link = Address of the link
    .copy = Copy address
    .mail = Write a mail
    .open = Open in the browser
markdown-link-other-site = The text of the link names another site, { $site }.
markdown-link-sign-in = A name to sign in with, “{ $name }”, is left out: the site is { $site }.
markdown-link-one-mailbox = More is written in the link. Only one mailbox and the subject are kept.
markdown-link-letters = Written out it is “{ $name }”, with { $scripts } letters. It may imitate another site.
markdown-script = { $script ->
    [latin] Latin
    [cyrillic] Cyrillic
    [greek] Greek
    [armenian] Armenian
    [georgian] Georgian
    [cherokee] Cherokee
    [hebrew] Hebrew
    [arabic] Arabic
    [devanagari] Devanagari
    [bengali] Bengali
    [tamil] Tamil
    [thai] Thai
    [han] Han
    [hiragana] Hiragana
    [katakana] Katakana
    [hangul] Hangul
   *[other] foreign
}
