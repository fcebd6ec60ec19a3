// `npm run docs:protocol`: writes the event table of docs/protocol.md.
import { readFileSync, writeFileSync } from "node:fs";
import { PROTOCOL_DOCUMENT, renderProtocolDocument } from "./protocol-docs/render.ts";

const before = readFileSync(PROTOCOL_DOCUMENT, "utf8");
const after = renderProtocolDocument(before);
writeFileSync(PROTOCOL_DOCUMENT, after);
process.stdout.write(`${PROTOCOL_DOCUMENT} ${before === after ? "is up to date" : "was updated"}\n`);
