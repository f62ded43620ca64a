/** All texts of this language, a file for each part of the page. */
export default Object.values(
  import.meta.glob<string>("./locales/zh/*.ftl", { eager: true, query: "?raw", import: "default" }),
);
