/** All texts of this language, a file for each part of the page; what is said outside of it is not among them. */
export default Object.values(
  import.meta.glob<string>(["./locales/ja/*.ftl", "!./locales/*/shell.ftl"], {
    eager: true,
    query: "?raw",
    import: "default",
  }),
);
