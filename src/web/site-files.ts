// Small files that clients look for at every site: robots.txt and the icons.
import type { StaticDocument } from "../http/routes/documents.ts";
import type { JsonSchema } from "../schema/column.ts";
import { FAVICON_PATH, renderIcoIcon, renderSvgIcon } from "./icon.ts";

export type SiteFile = {
  readonly path: string;
  readonly title: string;
  readonly description: string;
  readonly operationId: string;
  readonly type: string;
  readonly schema: JsonSchema;
  readonly render: () => StaticDocument;
};

const text = { type: "string" };

export const siteFiles: readonly SiteFile[] = [
  {
    path: "/robots.txt",
    title: "robots.txt",
    description: "Crawlers may read everything; metrics are of no use to them.",
    operationId: "getRobots",
    type: "text/plain",
    schema: text,
    render: () => ({ content: "User-agent: *\nAllow: /\nDisallow: /metrics\n", contentType: "text/plain" }),
  },
  {
    path: FAVICON_PATH,
    title: "Icon",
    description: "The icon as SVG.",
    operationId: "getSvgIcon",
    type: "image/svg+xml",
    schema: text,
    render: () => ({ content: renderSvgIcon(), contentType: "image/svg+xml" }),
  },
  {
    path: "/favicon.ico",
    title: "Icon for older clients",
    description: "The same icon as ICO.",
    operationId: "getIcoIcon",
    type: "image/x-icon",
    schema: { ...text, contentMediaType: "image/x-icon" },
    render: () => ({ content: renderIcoIcon(), contentType: "image/x-icon" }),
  },
];
