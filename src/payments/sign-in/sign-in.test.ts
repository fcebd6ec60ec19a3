// A sign-in is good for the request, the origin, the chain and the minutes that its challenge was issued for, and for nothing else.
import { createSIWxPayload, encodeSIWxHeader, validateSIWxMessage } from "@x402/extensions/sign-in-with-x";
import fc from "fast-check";
import { privateKeyToAccount } from "viem/accounts";
import { describe, expect, it } from "vitest";
import { runsOf } from "../../../tests/support/test-depth.ts";
import { Secret } from "../../lib/secret.ts";
import { SignInChallenges } from "./challenges.ts";
import { isSignedByAccount, parseSignIn, type SignInProof } from "./proof.ts";

const OFFER = { network: "eip155:8453", resourceOrigin: "https://sold.example:8443" } as const;
const REQUEST = { path: "/portfolio/snapshot", fingerprint: "f".repeat(64) };
const account = privateKeyToAccount(`0x${"11".repeat(32)}`);
const key = new Secret(Buffer.alloc(32, 7));
const clock = { nowMs: () => Date.now(), sleep: async () => undefined };
const challenges = new SignInChallenges(key, clock);
const TYPE = { chainId: OFFER.network, type: "eip191" } as const;

type Info = Parameters<typeof createSIWxPayload>[0];
const issue = (): Info => ({ ...challenges.issue(OFFER, REQUEST), ...TYPE });
/** As the stock client sends it. */
const sign = (info: Info) => createSIWxPayload(info, account, `${OFFER.resourceOrigin}/x`);

function parse(value: unknown): SignInProof {
  const proof = parseSignIn(encodeSIWxHeader(value as never));
  if (typeof proof === "string") throw new Error(proof);
  return proof;
}

const problemOf = (value: unknown, offer = OFFER, request = REQUEST) =>
  challenges.findProblem(parse(value), offer, request);

/** The challenges of a process whose clock is ahead. */
const ahead = (seconds: number) =>
  new SignInChallenges(key, { ...clock, nowMs: () => Date.now() + 1_000 * seconds });

describe("a challenge", () => {
  it("is signed by the stock client and valid by the rules of the stock server", async () => {
    const info = issue();
    expect(info.nonce).toMatch(/^[0-9a-f]{32}$/);
    const payload = await sign(info);
    await expect(validateSIWxMessage(payload, new URL(OFFER.resourceOrigin))).resolves.toEqual({
      isValid: true,
    });
    const proof = parse(payload);
    expect(challenges.findProblem(proof, OFFER, REQUEST)).toBeNull();
    await expect(isSignedByAccount(proof)).resolves.toBe(true);
    expect(new Set(Array.from({ length: 50 }, () => issue().nonce)).size).toBe(50);
  });

  it("is recognized by each process with its key, and by no other", async () => {
    const payload = await sign(issue());
    expect(new SignInChallenges(key, clock).findProblem(parse(payload), OFFER, REQUEST)).toBeNull();
    const other = new SignInChallenges(new Secret(Buffer.alloc(32, 8)), clock);
    expect(other.findProblem(parse(payload), OFFER, REQUEST)).toMatch("not issued here");
    expect(JSON.stringify([challenges, key])).not.toMatch(/BwcH|0707/);
  });

  it("is good for its request, origin and chain only", async () => {
    const payload = await sign(issue());
    expect(problemOf(payload, OFFER, { ...REQUEST, fingerprint: "e".repeat(64) })).toMatch("not issued here");
    expect(problemOf(payload, OFFER, { ...REQUEST, path: "/portfolio/exposure" })).toMatch("another URI");
    expect(problemOf(payload, { ...OFFER, network: "eip155:1" } as never)).toMatch("must be eip155:1");
    expect(problemOf(payload, { ...OFFER, resourceOrigin: "https://sold.example" } as never)).toMatch(
      "another domain",
    );
    expect(problemOf(payload, { ...OFFER, resourceOrigin: "http://sold.example:8443" } as never)).toMatch(
      "another URI",
    );
  });

  it("is valid for five minutes, with a minute for clocks that differ", async () => {
    const proof = parse(await sign(issue()));
    const at = (seconds: number) => ahead(seconds).findProblem(proof, OFFER, REQUEST);
    for (const seconds of [-55, 0, 355]) expect(at(seconds)).toBeNull();
    expect(at(-65)).toMatch("from the future");
    expect(at(365)).toMatch("challenge has expired");
  });

  it("is not valid outside of the times that the client adds", async () => {
    const time = (seconds: number) => new Date(Date.now() + 1_000 * seconds).toISOString();
    const withTimes = async (times: Partial<Info>) => {
      const proof = parse(await sign({ ...issue(), ...times }));
      await expect(isSignedByAccount(proof)).resolves.toBe(true);
      return challenges.findProblem(proof, OFFER, REQUEST);
    };
    await expect(withTimes({ expirationTime: time(-50), notBefore: time(50) })).resolves.toBeNull();
    await expect(withTimes({ expirationTime: time(-70) })).resolves.toMatch("message has expired");
    await expect(withTimes({ notBefore: time(70) })).resolves.toMatch("not valid yet");
  });

  it("is recognized only as it was issued, whatever is changed in it", async () => {
    const payload = { ...(await sign(issue())) } as Record<string, unknown>;
    const proof = parse(payload);
    const names = ["domain", "uri", "chainId", "nonce", "issuedAt"] as const;
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.string(), fc.nat(60), (name, text, at) => {
        const value = proof[name];
        for (const changed of [text, value.slice(0, at) + text + value.slice(at + 1), `${value}0`]) {
          if (changed === value) continue;
          const read = parseSignIn(encodeSIWxHeader({ ...payload, [name]: changed } as never));
          const problem = typeof read === "string" ? read : challenges.findProblem(read, OFFER, REQUEST);
          expect(problem).toEqual(expect.any(String));
        }
      }),
      { numRuns: runsOf(1_000) },
    );
  });
});

describe("a header", () => {
  it("is read or rejected with a sentence, and nothing else happens, whatever it is", async () => {
    const payload = (await sign(issue())) as Record<string, unknown>;
    const valid = encodeSIWxHeader(payload as never);
    const expectSentence = (header: string) => {
      const read = parseSignIn(header);
      if (typeof read === "string") expect(read).toMatch(/^The .*\.$/s);
      else expect(read.nonce).toMatch(/^[0-9a-f]{32}$/);
    };
    fc.assert(
      fc.property(
        fc.constantFrom(...Object.keys(payload), "statement", "resources", "notBefore"),
        fc.jsonValue(),
        fc.string(),
        fc.nat(600),
        (name, value, text, at) => {
          expectSentence(text);
          expectSentence(valid.slice(0, at) + text + valid.slice(at + 1));
          expectSentence(Buffer.from(JSON.stringify(value)).toString("base64"));
          expectSentence(encodeSIWxHeader({ ...payload, [name]: value } as never));
        },
      ),
      { numRuns: runsOf(2_000) },
    );
  });

  it("is rejected for fields that no challenge has", async () => {
    const payload = await sign(issue());
    for (const added of [
      { statement: "I owe you a dollar." },
      { requestId: "1" },
      { resources: ["https://evil.example"] },
    ]) {
      expect(parseSignIn(encodeSIWxHeader({ ...payload, ...added }))).toMatch("must have no");
    }
    const twoLines = { ...payload, domain: `${payload.domain}\n` };
    expect(parseSignIn(encodeSIWxHeader(twoLines))).toMatch("must have domain");
  });

  it("is rejected if it is long, or signed by an account with code", async () => {
    const payload = await sign(issue());
    expect(parseSignIn("A".repeat(4_097))).toMatch("more than 4096");
    expect(parseSignIn(encodeSIWxHeader({ ...payload, signature: `0x${"00".repeat(300)}` }))).toMatch(
      "accounts with code cannot sign in",
    );
  });

  it("is signed by its account only if every field is as it was signed", async () => {
    const proof = parse(await sign(issue()));
    const other = privateKeyToAccount(`0x${"12".repeat(32)}`).address.toLowerCase() as `0x${string}`;
    for (const changed of [
      { address: other },
      { domain: "sold.example" },
      { uri: `${proof.uri}/` },
      { chainId: "eip155:1" },
      { nonce: "0".repeat(32) },
      { issuedAt: "2026-01-01T00:00:00Z" },
      { expirationTime: "2027-01-01T00:00:00Z" },
      { notBefore: "2026-01-01T00:00:00Z" },
      { signature: `0x${"00".repeat(65)}` as const },
    ]) {
      await expect(isSignedByAccount({ ...proof, ...changed })).resolves.toBe(false);
    }
  });
});
