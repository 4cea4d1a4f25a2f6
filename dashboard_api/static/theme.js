// Dark or light, before the first paint: what was chosen here, else what the system prefers.
(() => {
  const system = matchMedia("(prefers-color-scheme: light)");
  const root = document.documentElement;
  const show = () => {
    root.dataset.theme = localStorage.getItem("theme") ?? (system.matches ? "light" : "dark");
    dispatchEvent(new Event("theme"));
  };
  system.addEventListener("change", show);
  addEventListener("theme-toggle", () => {
    const other = root.dataset.theme === "light" ? "dark" : "light";
    // Back at what the system prefers, the page follows it again.
    if ((other === "light") === system.matches) localStorage.removeItem("theme");
    else localStorage.setItem("theme", other);
    show();
  });
  show();
})();
