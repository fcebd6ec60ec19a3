// The theme of the site: VitePress's own without fonts, with diagrams drawn by a script of the site itself.
import { useData } from "vitepress";
import base from "vitepress/theme-without-fonts";
import { nextTick, onMounted, watch } from "vue";
import "./theme.css";

let loading = null;

/** Loads the script of 2.5 MB only on a page that has a diagram. */
function loadMermaid() {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = `${import.meta.env.BASE_URL}mermaid.js`;
    script.onload = () => resolve(globalThis.mermaid);
    script.onerror = reject;
    document.head.append(script);
  });
  return loading;
}

async function drawDiagrams(isDark) {
  await nextTick();
  const diagrams = [...document.querySelectorAll("pre.mermaid")];
  if (diagrams.length === 0) return;
  const mermaid = await loadMermaid();
  mermaid.initialize({ startOnLoad: false, theme: isDark ? "dark" : "neutral", fontFamily: "inherit" });
  for (const diagram of diagrams) {
    diagram.dataset.source ??= diagram.textContent;
    diagram.textContent = diagram.dataset.source;
    diagram.removeAttribute("data-processed");
  }
  await mermaid.run({ nodes: diagrams });
}

export const theme = {
  extends: base,
  setup() {
    const { isDark, page } = useData();
    onMounted(() => drawDiagrams(isDark.value));
    watch([isDark, () => page.value.relativePath], () => {
      if (typeof document !== "undefined") setTimeout(() => drawDiagrams(isDark.value));
    });
  },
};
