// Hostile addresses in all their spellings: none of them is ever connected to.
import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type HttpClientError, sendHttpRequest } from "./http-client.ts";
import { createPublicNetwork, isPublicAddress, type PublicNetwork } from "./public-network.ts";
import { createRemoteEndpoint } from "./remote-endpoint.ts";
import { Secret } from "./secret.ts";

let server: Server;
let connections = 0;
let port = 0;

beforeAll(async () => {
  server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  port = (server.address() as AddressInfo).port;
});

afterAll(() => {
  server.close();
});

const request = (url: string, network: PublicNetwork) =>
  sendHttpRequest({
    endpoint: createRemoteEndpoint(new Secret(url)),
    body: "{}",
    network,
    timeoutMs: 2_000,
    responseBytesMax: 100,
  });

const failureOf = (sent: Promise<unknown>) =>
  sent.then(
    () => null,
    (error: HttpClientError) => error,
  );

describe("an address", () => {
  it.each([
    ...["0.0.0.0", "10.0.0.1", "100.64.0.1", "127.0.0.1", "127.255.255.254", "169.254.169.254"],
    ...["172.16.0.1", "172.31.255.255", "192.0.0.8", "192.0.2.1", "192.168.1.1", "198.18.0.1"],
    ...["198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255"],
    ...["::", "::1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::ffff:7f00:1", "64:ff9b::7f00:1"],
    ...[
      "64:ff9b:1::1",
      "100::1",
      "fc00::1",
      "fd00:ec2::254",
      "fe80::1",
      "fe80::1%eth0",
      "fec0::1",
      "ff02::1",
    ],
    ...["2001::1", "2001:db8::1", "2002:7f00:1::", "3fff::1", "5f00::1", "not an address", ""],
  ])("the address %s is not public", (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it.each(["8.8.8.8", "1.1.1.1", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "2a00:1450::1"])(
    "the address %s is public",
    (address) => {
      expect(isPublicAddress(address)).toBe(true);
    },
  );
});

describe("a request to the public internet", () => {
  it.each([
    ...[
      "127.0.0.1",
      "127.1",
      "0x7f.1",
      "0x7f000001",
      "2130706433",
      "017700000001",
      "0177.0.0.1",
      "0",
      "0.0.0.0",
    ],
    ...["127.0.0.1.", "0x7f.0x0.0x0.0x1", "%31%32%37.0.0.1", "127。0。0。1", "0xc0a80001", "0300.0250.0.1"],
    // Compatible, translated, NAT64 with both prefixes, 6to4, Teredo, link-local and unique local.
    ...["[::127.0.0.1]", "[::ffff:0:127.0.0.1]", "[64:ff9b::127.0.0.1]", "[64:ff9b:1::7f00:1]"],
    ...["[2002:7f00:1::]", "[2001:0:7f00:1::]", "[fe80::1]", "[fd00:ec2::254]", "[FEC0::1]"],
    ...["[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:0:0:1]", "①②⑦.⓪.⓪.①"],
  ])("sends no request to the host %s, which needs no name server", async (host) => {
    const network = createPublicNetwork({
      resolve: async () => {
        throw new Error("no name to resolve");
      },
    });
    const before = connections;
    const failure = await failureOf(request(`https://${host}:${port}/`, network));
    expect(failure).toMatchObject({
      reason: "connection",
      message: "ADDRESS_NOT_PUBLIC the address is not a public one",
    });
    expect(connections).toBe(before);
  });

  it.each([
    ["a private address", ["127.0.0.1"]],
    ["a private address together with a public one", ["8.8.8.8", "127.0.0.1"]],
    ["a mapped address", ["::ffff:127.0.0.1"]],
    ["a link-local address", ["fe80::1"]],
    ["an address that carries a private one", ["64:ff9b::7f00:1"]],
    ["the address of a cloud's metadata", ["169.254.169.254"]],
    ["no address", []],
  ])("sends no request to a name with %s", async (_, addresses) => {
    const network = createPublicNetwork({ resolve: async () => addresses });
    const before = connections;
    const failure = await failureOf(request(`https://receiver.example:${port}/`, network));
    expect(failure).toMatchObject({
      reason: "connection",
      message: "ADDRESS_NOT_PUBLIC the address is not a public one",
    });
    expect(connections).toBe(before);
  });

  it("connects to the address that was checked, whatever the name means a moment later", async () => {
    const outside = createServer((socket) => {
      reached += 1;
      socket.destroy();
    });
    let reached = 0;
    outside.listen(port, "127.0.0.2");
    await once(outside, "listening");
    const looked: string[] = [];
    const network = createPublicNetwork({
      resolve: async () => {
        looked.push(looked.length === 0 ? "127.0.0.2" : "127.0.0.1");
        return looked.slice(-1);
      },
      // Stands for a public address.
      isAllowed: (address) => address === "127.0.0.2",
    });
    const before = connections;
    const url = `https://rebinding.example:${port}/`;
    const first = await failureOf(request(url, network));
    expect({ looked, reached }).toEqual({ looked: ["127.0.0.2"], reached: 1 });
    expect(first?.message).not.toContain("ADDRESS_NOT_PUBLIC");
    const second = await failureOf(request(url, network));
    expect({ looked, reached }).toEqual({ looked: ["127.0.0.2", "127.0.0.1"], reached: 1 });
    expect(second?.message).toContain("ADDRESS_NOT_PUBLIC");
    expect(connections).toBe(before);
    outside.close();
  });

  it("sends requests over TLS only", async () => {
    const network = createPublicNetwork({ resolve: async () => ["127.0.0.1"], isAllowed: () => true });
    const failure = await failureOf(request(`http://receiver.example:${port}/`, network));
    expect(failure).toMatchObject({ reason: "connection", message: "only https:// is allowed" });
  });
});
