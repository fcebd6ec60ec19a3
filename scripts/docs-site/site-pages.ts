// The pages of the site from the Markdown of the repository: links, headings and diagrams in the form that VitePress takes.
import { posix } from "node:path";
import type { Repository } from "../../tests/architecture/repository.ts";
import { listAnchors } from "../../tests/architecture/rules/document-links.ts";

/** Pages of the root, under the names that readers see in an address. */
const ROOT_PAGES: Readonly<Record<string, string>> = {
  "README.md": "overview.md",
  "CONTRIBUTING.md": "contributing.md",
  "SECURITY.md": "security.md",
  "CHANGELOG.md": "changelog.md",
  "docs/README.md": "index.md",
  "docs/adr/README.md": "adr/index.md",
};
const LINK = /(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\((?!https?:|mailto:|#)([^)\s#]+)(#[^)\s]*)?\)/g;
/** Programs by region in a line of their own, and a command below them: one example in several languages. */
const EXAMPLES = /^((?:\[\w+\]\(\S+#\w+\)(?:, )?)+)\n\n```sh\n([\s\S]*?)^```$/gm;
const FENCE = /^ *(`{3,})([^\n]*)\n([\s\S]*?)^ *\1 *$/gm;

type SitePage = {
  /** Below the folder of pages. */
  readonly path: string;
  readonly text: string;
};

/** Pages about the clone, whose commands run only there. */
const OF_CLONE = /^(?!docs\/)|^docs\/(adr\/|architecture\.md|start\/contributor\.md)/;
/** Commands of the clone, as users of the package write them. */
const INSTALLED_COMMANDS: readonly (readonly [RegExp, string])[] = [
  [/(npm ci && )?npm start( --(?= ))?/g, "sextant local"],
  [/node bin\/sextant\.mjs/g, "sextant"],
];

/** Every document, and each file that one of them links to, directly or not; for readers of the package or of the clone. */
export function buildSitePages(
  repository: Repository,
  { isInstalled }: { readonly isInstalled: boolean },
): readonly SitePage[] {
  const first = repository.files.filter((file) => /^docs\/.*\.md$/.test(file));
  const queue = [...Object.keys(ROOT_PAGES), ...first].filter((file) => repository.has(file));
  const pages = new Map<string, SitePage>();
  for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
    if (pages.has(file)) continue;
    const isDocument = file.endsWith(".md");
    const commands = isInstalled && !OF_CLONE.test(file) ? INSTALLED_COMMANDS : [];
    const text = commands.reduce((made, [from, to]) => made.replace(from, to), repository.text(file));
    pages.set(file, {
      path: pathOnSite(file),
      text: isDocument
        ? renderDocument(repository, file, text, (next) => queue.push(next))
        : renderSource(file, text),
    });
  }
  return [...pages.values()];
}

function pathOnSite(file: string): string {
  const known = ROOT_PAGES[file];
  if (known !== undefined) return known;
  if (!file.endsWith(".md")) return `source/${file.replace(/^\./, "")}.md`;
  return file.startsWith("docs/") ? file.slice("docs/".length) : `source/${file}`;
}

function renderDocument(
  repository: Repository,
  file: string,
  text: string,
  onLink: (file: string) => void,
): string {
  const anchors = [...listAnchors(text)];
  const joined = text.replace(EXAMPLES, (_whole, programs: string, command: string) =>
    renderTabs(repository, file, programs, command),
  );
  return mapOutsideFences(
    joined,
    (part) =>
      part
        .replace(LINK, (whole, image, label, path, hash = "") =>
          image === "" ? renderLink(repository, file, { label, path, hash }, onLink) : whole,
        )
        // The anchors that links to headings expect everywhere else.
        .replace(/^(#{1,6} .+)$/gm, (heading) => `${heading} {#${anchors.shift()}}`),
    (fence, language, body) => (language === "mermaid" ? renderDiagram(body) : fence),
  );
}

function renderTabs(repository: Repository, from: string, programs: string, command: string): string {
  const tabs = [...programs.matchAll(/\[(\w+)\]\((\S+?)#(\w+)\)/g)].map(
    ([, label, path = "", region = ""]) => {
      const source = repository.text(posix.join(posix.dirname(from), path));
      const [, body] =
        new RegExp(`#region ${region}\\n([\\s\\S]*?)\\n.*#endregion ${region}\\n`).exec(source) ?? [];
      if (body === undefined) throw new Error(`${path} has no region ${region}, which ${from} shows`);
      return `\`\`\`${posix.extname(path).slice(1)} [${label}]\n${body}\n\`\`\``;
    },
  );
  return ["::: code-group", ...tabs, `\`\`\`sh [curl]\n${command}\`\`\``, ":::"].join("\n\n");
}

function renderLink(
  repository: Repository,
  from: string,
  link: { readonly label: string; readonly path: string; readonly hash: string },
  onLink: (file: string) => void,
): string {
  const target = posix.join(posix.dirname(from), link.path).replace(/\/$/, "");
  // A folder has no page.
  if (!repository.files.includes(target)) return link.label;
  onLink(target);
  const path = posix.relative(posix.dirname(pathOnSite(from)), pathOnSite(target));
  return `[${link.label}](${path.startsWith(".") ? path : `./${path}`}${link.hash})`;
}

function renderSource(file: string, text: string): string {
  const language = /\.(ts|py|json|ya?ml)$/.exec(file)?.[1] ?? "txt";
  return `# ${file}\n\n\`\`\`\`${language}\n${text.trimEnd()}\n\`\`\`\`\n`;
}

/** A diagram's text, which the theme draws; nothing in it may end the element or begin an expression of Vue. */
function renderDiagram(body: string): string {
  const text = body.trim().replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  return `<pre class="mermaid" v-pre>${text.replaceAll("\n", "&#10;")}</pre>`;
}

function mapOutsideFences(
  text: string,
  mapText: (part: string) => string,
  mapFence: (fence: string, language: string, body: string) => string,
): string {
  let mapped = "";
  let at = 0;
  for (const match of text.matchAll(FENCE)) {
    const [fence, , language = "", body = ""] = match;
    mapped += mapText(text.slice(at, match.index)) + mapFence(fence, language.trim(), body);
    at = match.index + fence.length;
  }
  return mapped + mapText(text.slice(at));
}
