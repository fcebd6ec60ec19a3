// Links keep the block, and requests are shown as a client sends them.
import { expect, it } from "vitest";
import { formatClientCode, formatCurlCommand, linkHere, linkTo, type PageContext } from "./context.ts";

const page = {
  path: "/intents",
  params: {},
  query: { status: "open", cursor: "abc" },
  block: "12",
  base: "",
} as unknown as PageContext;

it("a link keeps the block, and leaves out what is empty", () => {
  expect(linkTo(page, "/intents/1")).toBe("/explorer/intents/1?block=12");
  expect(linkTo({ block: null, base: "" }, "")).toBe("/explorer");
  expect(linkTo(page, "/search", { q: "a&b=c", x: "", y: null })).toBe(
    "/explorer/search?q=a%26b%3Dc&block=12",
  );
  expect(linkTo(page, "/intents", { block: null })).toBe("/explorer/intents");
});

it("a link to the same page changes only what it names", () => {
  expect(linkHere(page, { cursor: null })).toBe("/explorer/intents?status=open&block=12");
  expect(linkHere(page, { block: "7" })).toBe("/explorer/intents?status=open&cursor=abc&block=7");
});

it("a request is shown for a shell, in which no value ends its quotes", () => {
  const call = { route: "/intents/:id/bids", params: { id: "1'; rm -rf" }, query: { status: "o'pen" } };
  expect(formatCurlCommand("http://127.0.0.1:3001", call)).toBe(
    "curl 'http://127.0.0.1:3001/intents/1%27%3B%20rm%20-rf/bids?status=o%27pen'",
  );
});

it("a request is shown as code of the client", () => {
  const call = { route: "/intents/:id/bids", params: { id: "15" }, query: { limit: "100", block: "327" } };
  expect(formatClientCode("listBids", call, true)).toBe(
    'for await (const record of sextant.at(327n).listBids({ id: "15", limit: 100 })) console.log(record);',
  );
  const one = { route: "/head", params: {}, query: {} };
  expect(formatClientCode("getHead", one, false)).toBe("const record = await sextant.getHead();");
});
