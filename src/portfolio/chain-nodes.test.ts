// The nodes of the portfolio service: a chain whose nodes are gone fails at once, because a client waits.
import { expect, it } from "vitest";
import { silentLog } from "../../tests/support/quiet-log.ts";
import { Secret } from "../lib/secret.ts";
import { openPortfolioChains } from "./chain-nodes.ts";

it("fails a chain soon if nothing listens at the addresses of its nodes", async () => {
  const config = { portfolioTokenLists: [] };
  const nodes = new Map([[8453, [new Secret("http://127.0.0.1:1")]]]);
  const signal = AbortSignal.timeout(5_000);
  const context = { log: silentLog, onCall: () => {}, signal };
  const opened = await openPortfolioChains(config as never, nodes, context);
  try {
    const startMs = performance.now();
    await expect(opened.chains[0]?.pin(signal)).rejects.toMatchObject({ code: "NODE_UNAVAILABLE" });
    await expect(opened.chains[0]?.pin(signal, 7)).rejects.toMatchObject({ code: "NODE_UNAVAILABLE" });
    expect(performance.now() - startMs).toBeLessThan(3_000);
  } finally {
    opened.close();
  }
});
