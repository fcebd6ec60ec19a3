// The settings of VitePress: navigation by subject, local search, and nothing that another site serves.
const START = [
  ["Agent developer", "/start/agent"],
  ["Solver", "/start/solver"],
  ["Merchant", "/start/merchant"],
  ["Operator", "/start/operator"],
  ["Contributor", "/start/contributor"],
] as const;
const GROUPS = {
  Start: [["Sextant", "/"], ["Overview", "/overview"], ["The main calls", "/calls"], ...START],
  "Wallet data": [
    ["Portfolio service", "/portfolio"],
    ["Valuation", "/valuation"],
    ["Positions", "/positions"],
    ["Exposure", "/exposure"],
    ["Check a response", "/checking"],
    ["Payments", "/payments"],
    ["Pages for people", "/pages"],
  ],
  Index: [
    ["Protocol", "/protocol"],
    ["Indexing API", "/api"],
    ["Events", "/events"],
    ["Writing", "/writing"],
    ["Explorer", "/explorer"],
    ["Export", "/export"],
  ],
  Tools: [
    ["Client and command line", "/client"],
    ["MCP", "/mcp"],
  ],
  Operation: [
    ["Operations", "/operations"],
    ["Runbook", "/runbook"],
    ["Configuration", "/configuration"],
    ["Faults", "/faults"],
    ["Scale", "/scale"],
    ["Security", "/security"],
  ],
  Project: [
    ["Architecture", "/architecture"],
    ["Decision records", "/adr/"],
    ["Contributing", "/contributing"],
    ["Glossary", "/glossary"],
    ["Changelog", "/changelog"],
  ],
} as const;

const toItems = (pairs: readonly (readonly [string, string])[]) =>
  pairs.map(([text, link]) => ({ text, link }));

/** `base` is the path of the version's folder on its site. */
export function buildSiteConfig(version: string, base: string) {
  return {
    title: "Sextant",
    description: "Wallet data and a protocol index for AI agents.",
    lang: "en",
    base,
    outDir: "../site",
    cleanUrls: false,
    // The scripts of a page are files, so that a policy can forbid those in the page itself.
    metaChunk: true,
    head: [
      ["meta", { name: "version", content: version }],
      ["link", { rel: "icon", type: "image/svg+xml", href: `${base}icon.svg` }],
    ],
    themeConfig: {
      search: { provider: "local" },
      outline: { level: [2, 3] },
      notFound: {
        title: "Page not found",
        quote: "This version has no such page: search for it, or begin with the first one.",
        linkText: "First page",
      },
      nav: [
        { text: "Start", items: toItems(START) },
        { text: "Calls", link: "/calls" },
        { text: version, link: "/changelog" },
      ],
      sidebar: Object.entries(GROUPS).map(([text, pairs]) => ({ text, items: toItems(pairs) })),
    },
  };
}
