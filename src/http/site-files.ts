// Small files that clients request from every site: robots.txt and the icons. They are not part of an API's description.

import { FAVICON_PATH, renderIcoIcon, renderSvgIcon } from "./icon.ts";
import type { StaticDocument } from "./routes/documents.ts";

type SiteFile = { readonly path: string; readonly render: () => StaticDocument };

export const siteFiles: readonly SiteFile[] = [
  {
    path: "/robots.txt",
    // Crawlers may read everything; metrics are of no use to them.
    render: () => ({ content: "User-agent: *\nAllow: /\nDisallow: /metrics\n", contentType: "text/plain" }),
  },
  {
    path: FAVICON_PATH,
    render: () => ({ content: renderSvgIcon(), contentType: "image/svg+xml" }),
  },
  {
    // The path that older clients ask for.
    path: "/favicon.ico",
    render: () => ({ content: renderIcoIcon(), contentType: "image/x-icon" }),
  },
];
