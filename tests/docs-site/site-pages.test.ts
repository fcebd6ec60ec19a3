// The pages of the site: what VitePress would reject or show wrongly, without running it.
import { posix } from "node:path";
import { expect, it } from "vitest";
import { buildSiteConfig } from "../../scripts/docs-site/site-config.ts";
import { buildSitePages } from "../../scripts/docs-site/site-pages.ts";
import { openRepository, repositoryFrom } from "../architecture/repository.ts";

const own = buildSitePages(openRepository("."), { isInstalled: false });
const paths = new Set(own.map(({ path }) => path));

it("links every page of this repository only to pages of the site", () => {
  const missing = own.flatMap(({ path, text }) => {
    const links = text.replace(/^(`{3,})[\s\S]*?^\1/gm, "").matchAll(/[^!]\[[^\]]*\]\((\.[^)#\s]*)/g);
    return [...links]
      .map(([, link = ""]) => posix.join(posix.dirname(path), link))
      .filter((target) => !paths.has(target))
      .map((target) => `${path} → ${target}`);
  });
  expect(missing).toEqual([]);
  expect(paths.size).toBeGreaterThan(60);
});

it("names in its navigation only pages that exist, and every document but specifications and decisions", () => {
  const { sidebar } = buildSiteConfig("1.2.3", "/1.2.3/").themeConfig;
  const named = sidebar.flatMap(({ items }) => items.map(({ link }) => link.slice(1)));
  const files = named.map((link) => `${link}${link === "" || link.endsWith("/") ? "index" : ""}.md`);
  expect(files.filter((file) => !paths.has(file))).toEqual([]);
  const documents = [...paths].filter((path) => !/^(source|specification|adr)\//.test(path));
  expect(documents.filter((path) => !files.includes(path))).toEqual([]);
});

it("shows each main call in three languages", () => {
  const calls = own.find(({ path }) => path === "calls.md")?.text ?? "";
  for (const label of ["```ts [TypeScript]\n", "```sh [curl]\n", "```py [Python]\n"]) {
    expect(calls.split(label)).toHaveLength(9);
  }
});

it("keeps anchors, shows linked sources, and leaves code as it is", () => {
  const pages = buildSitePages(
    repositoryFrom({
      "README.md": "# Top\n\n[a](docs/a.md#its-own-name) [s](examples/x.ts) [f](examples)\n",
      "docs/a.md":
        '# It\'s "own" name\n\n```sh\n# no heading [l](x.md)\n```\n\n```mermaid\na --> b[<i>]\n```\n',
      "examples/x.ts": "const x = 1;\n",
    }),
    { isInstalled: false },
  );
  const text = (path: string) => pages.find((page) => page.path === path)?.text;
  expect(text("overview.md")).toBe(
    "# Top {#top}\n\n[a](./a.md#its-own-name) [s](./source/examples/x.ts.md) f\n",
  );
  const diagram = '<pre class="mermaid" v-pre>a --> b[&lt;i>]</pre>';
  expect(text("a.md")).toBe(
    `# It's "own" name {#its-own-name}\n\n\`\`\`sh\n# no heading [l](x.md)\n\`\`\`\n\n${diagram}\n`,
  );
  expect(text("source/examples/x.ts.md")).toContain("```ts\nconst x = 1;\n");
});

it("writes commands in the package as users of the package start them, and in pages about the clone as it does", () => {
  const commands =
    "# Run\n\nAfter `npm start`:\n\n```sh\nnpm ci && npm start\nnpm start -- --data x\nnode bin/sextant.mjs wallet\n```\n";
  const repository = repositoryFrom({
    "README.md": commands,
    "docs/a.md": commands,
    "docs/adr/0001-a.md": commands,
  });
  const text = (path: string, isInstalled: boolean) =>
    buildSitePages(repository, { isInstalled })
      .find((page) => page.path === path)
      ?.text.split("\n")
      .slice(2);
  expect(text("a.md", true)).toEqual([
    ...[
      "After `sextant local`:",
      "",
      "```sh",
      "sextant local",
      "sextant local --data x",
      "sextant wallet",
      "```",
      "",
    ],
  ]);
  for (const path of ["overview.md", "adr/0001-a.md"]) expect(text(path, true)).toEqual(text(path, false));
  expect(text("a.md", false)).toContain("npm ci && npm start");
});
