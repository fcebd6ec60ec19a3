// Clients count for the networks around them, and a network never has more than its share.
import { describe, expect, it } from "vitest";
import { ClientCounts, listClientNetworks, widestNetworkOf } from "./concurrency-limit.ts";

describe("the networks of a client", () => {
  it.each([
    ["203.0.113.7", ["203.0.113.7"]],
    ["unknown", ["unknown"]],
    ["2001:db8:1:42ab", ["2001:db8:1:42ab", "2001:db8:1:4200/56", "2001:db8:1/48"]],
    ["2001:db8:0:0", ["2001:db8:0:0", "2001:db8:0:0/56", "2001:db8:0/48"]],
    ["fe80:0:0:7", ["fe80:0:0:7", "fe80:0:0:0/56", "fe80:0:0/48"]],
    // A payer's key has colons, too.
    ["eip155:8453:0xab:0xcd", ["eip155:8453:0xab:0xcd"]],
  ])("counts %s for %j", (client, networks) => {
    expect(listClientNetworks(client).map(({ id }) => id)).toEqual(networks);
    expect(widestNetworkOf(client)).toBe(networks.at(-1));
  });
});

describe("counts of clients", () => {
  it("a client fills the counts of its address, its /56 and its /48, and no others", () => {
    const counts = new ClientCounts();
    const open = (client: string) => {
      const full = counts.findFull(client, 2);
      if (full === null) counts.add(client);
      return full?.id ?? null;
    };
    const clients = [..."aabbcd"].map((each) => `2001:db8:1:4${each}`);
    expect(clients.map(open)).toEqual([null, null, null, null, ...Array(2).fill("2001:db8:1:0/56")]);
    expect([open("2001:db8:1:4a"), open("2001:db8:1:100")]).toEqual(["2001:db8:1:4a", null]);
    expect([open("2001:db8:1:200"), open("2001:db8:1:300")]).toEqual([null, "2001:db8:1/48"]);
    expect([open("2001:db8:2:300"), open("203.0.113.7")]).toEqual([null, null]);
    counts.remove("2001:db8:1:4a");
    expect([open("2001:db8:1:300"), open("2001:db8:1:4b")]).toEqual([null, "2001:db8:1:4b"]);
  });
});
